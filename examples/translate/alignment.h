#pragma once

#include "examples/shared/program.h"
#include "examples/translate/translation.h"

/// What a translator attended to, as text and pictures.
namespace program {

/// Prints which source words each word of a translation was made from, unless that is too wide for a
/// terminal, and draws it in alignment.svg. Adds the weights to the results.
void show_alignment(Program& self, const Translation& translation, const heed::Tokens& source,
                    const heed::Tokens& target);
/// Writes attention.html, and a heat map of the alignment of each sentence, at most kMaxAlignments of them.
void draw_attention(Program& self, const Translation& translation, const std::vector<heed::Tokens>& sources,
                    const std::vector<heed::Tokens>& translations);
constexpr size_t kMaxAlignments = 4;
/// Removes all of these files: they show what an earlier model attended to.
void remove_attention(Program& self);

}  // namespace program
