#pragma once

#include "examples/g2p/learning.h"

/// The conversion of words that g2p convert is asked for.
namespace program {

/// Loads the models of --ensemble, or the one in --out. Throws if one is missing or is not a model of words.
std::vector<Translation> load_word_models(const Program& self, const G2pOptions& options);

/// Prints the pronunciations of words, and with --alignment what they were made from.
class Converter {
 public:
  Converter(Program& self, const G2pOptions& options);
  /// Converts words together. For a word that the model cannot read, prints why, and the program will end
  /// with an error.
  void convert(const std::vector<std::string>& words);
  /// Writes attention.html, the page of all alignments.
  void write_page() const;

 private:
  void show_alignment(const std::string& row, const std::string& word, const heed::Tokens& letters,
                      const heed::Tokens& phones);

  Program& self_;
  const G2pOptions& options_;
  std::vector<Translation> models_;
  int64_t converted_ = 0;
  size_t drawn_ = 0;
  std::vector<heed::AttentionMap> maps_;
};

/// Removes the pictures of other words, or of an earlier model.
void remove_pictures(Program& self);

}  // namespace program
