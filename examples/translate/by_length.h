#pragma once

#include <map>

#include "examples/shared/program.h"
#include "nn/text/tokenise.h"

/// The exact translations by the length of the source.
namespace program {

/// How many translations are exact.
struct Share {
  int64_t exact = 0, of = 0;
  double value() const { return of ? static_cast<double>(exact) / static_cast<double>(of) : 0; }
};

/// The share of each length, and of thirds of about equal size: short, middle, long sources.
struct Lengths {
  std::map<int64_t, Share> each;
  Share thirds[3];

  /// By how much the share of exact translations falls from the shortest third to the longest.
  double lost() const { return thirds[0].value() - thirds[2].value(); }
};
Lengths by_length(const std::vector<heed::Tokens>& sources, const std::vector<heed::Tokens>& translations,
                  const std::vector<heed::Tokens>& references);

/// Prints the table and adds it to the results.
void print_lengths(Program& self, const Lengths& lengths);
/// "falls by 0.3", "rises by 0.1" or "stays": from the shortest third to the longest.
std::string trend(const Lengths& lengths);
/// "These are all 3 mistakes in 600 sentences.", for a table that shows every mistake.
std::string all_mistakes_text(int64_t mistakes, int64_t sentences);
/// Draws by_length.svg: a curve for each model over the lengths of the first one; bars if there is one model.
/// The title says whether the models have learned from these sentences.
void draw_lengths(Program& self, const std::vector<std::pair<std::string, const Lengths*>>& models,
                  bool unseen);

}  // namespace program
