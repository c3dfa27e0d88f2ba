#pragma once

#include <memory>
#include <string>

#include "nn/module.h"
#include "nn/text/batch.h"
#include "nn/text/search.h"

/// Models that translate: an encoder reads the source, a decoder writes the target token by token.
namespace program {

struct TranslatorOptions {
  std::string model;      // rnn, attention, or transformer
  std::string attention;  // of `attention`: the score, one of score_names()
  int64_t source_words, target_words;
};

/// A model as programs see it. `source` are the sentences to translate, `input` the tokens given to the
/// decoder.
class Translator {
 public:
  virtual ~Translator() = default;
  virtual heed::Module& module() = 0;
  /// Teacher forcing: what may follow each token of `input`, [B, T, target words] before the softmax.
  virtual heed::Tensor logits(const heed::PaddedBatch& source, const heed::Tensor& input) = 0;
  /// Decoding step by step, for beam_search.
  virtual heed::DecodeStep decoder(const heed::PaddedBatch& source) = 0;
  /// The module whose weights tell which source token a target token was made from; "" without attention.
  virtual std::string alignment_module() const = 0;
};

std::unique_ptr<Translator> make_translator(const TranslatorOptions& options);

}  // namespace program
