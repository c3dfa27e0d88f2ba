#pragma once

#include <memory>
#include <string>
#include <vector>

#include "examples/corpus.h"
#include "examples/translator.h"
#include "nn/view/text.h"

namespace program {

/// A translator with the words of both languages: what is trained, asked and kept in a file.
class Translation {
 public:
  /// Without training, for the words of `pairs`. `attention` is for model `attention`: a score.
  Translation(const std::string& model, const std::string& attention, const std::vector<Pair>& pairs);
  /// From a file that save() wrote. Errors name the file.
  static Translation load(const std::string& path);
  void save(const std::string& path) const;

  /// The tokens of a sentence to translate, --text of the program. Punctuation at the end that the model does
  /// not know is left out; every other unknown word is an Error that names it.
  heed::Tokens source_tokens(const std::string& sentence) const;

  /// The mean cross entropy of the target's words, each from the true ones before it.
  heed::Tensor loss(const std::vector<Pair>& pairs) const;
  /// The best translation by beam search of this width; 1 takes the most probable word at every step.
  std::vector<heed::Tokens> translate(const std::vector<heed::Tokens>& sources, int64_t beams = 1) const;

  /// Which source token each token of the translation was made from, <eos> last: weights [1, T + 1, S].
  heed::AttentionMap alignment(const heed::Tokens& source, const heed::Tokens& target) const;
  /// Everything that was attended to while this translation was made, layer by layer.
  std::vector<heed::AttentionMap> attention(const heed::Tokens& source, const heed::Tokens& target) const;
  bool attends() const { return !translator_->alignment_module().empty(); }

  heed::Module& module() const& { return translator_->module(); }
  heed::Module& module() && = delete;  // it would die with the temporary
  TranslatorOptions options() const { return options_; }

 private:
  Translation(TranslatorOptions options, heed::Vocabulary source, heed::Vocabulary target);

  heed::Vocabulary source_, target_;
  TranslatorOptions options_;
  std::unique_ptr<Translator> translator_;
};

}  // namespace program
