#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "examples/shared/onnx_files.h"
#include "examples/translate/corpus.h"
#include "examples/translate/translator.h"
#include "nn/text/sequence_loss.h"
#include "nn/training/training.h"
#include "nn/view/text.h"

namespace program {

/// A translation that a search has found.
struct Answer {
  heed::Tokens tokens;
  double score;  // log-probability / length^alpha
};

/// A translator with the words of both languages: what is trained, asked and kept in a file.
class Translation {
 public:
  /// Without training, for the words of `pairs`. `attention` is for model `attention`: a score.
  Translation(const std::string& model, const std::string& attention, const std::vector<Pair>& pairs);
  /// The same of any options, whose numbers of words are those of the vocabularies.
  Translation(TranslatorOptions options, heed::Vocabulary source, heed::Vocabulary target);
  /// From a file that save() wrote. Errors name the file, and what trains another.
  static Translation load(const std::string& path, const std::string& program = "translate without --text");
  void save(const std::string& path) const;
  /// As two ONNX files, whose metadata are the vocabularies, a token on each line.
  ///
  ///   encoder   source [B, S] int64, <pad> behind the end      ->  the state
  ///   decoder   token [B] int64, at first <bos>; the state     ->  log_probabilities [B, target words]; what
  ///                                                                changes in the state, as next_...
  void write_onnx(const OnnxFiles& files) const;

  /// The tokens of a sentence to translate, --text of the program. Punctuation at the end that the model does
  /// not know is left out; every other unknown word is an Error that names it.
  heed::Tokens source_tokens(const std::string& sentence) const;

  /// Whether a source token occurred in the training.
  bool knows(const std::string& token) const { return source_.contains(token); }

  /// The mean cross entropy of the target's words, each from the true ones before it.
  heed::Tensor loss(const std::vector<Pair>& pairs) const;
  heed::Tensor loss(const std::vector<heed::Tokens>& sources, const std::vector<heed::Tokens>& targets,
                    const heed::CrossEntropyOptions& options = {}) const;
  /// The best translation by beam search of this width; 1 takes the most probable word at every step.
  std::vector<heed::Tokens> translate(const std::vector<heed::Tokens>& sources, int64_t beams = 1) const;

  /// The best answers for each source, the best first; with others the probabilities of the next token are
  /// the mean of all models. No answer is empty or has <pad>, <bos> or <unk> in it. `longest` limits answers
  /// more tightly than options.max_length, by the number of tokens of the longest source that is answered at
  /// the same time. Errors: one of the others knows other tokens.
  std::vector<std::vector<Answer>> search(const std::vector<heed::Tokens>& sources,
                                          const heed::SearchOptions& options,
                                          std::span<const Translation> others = {},
                                          const std::function<int64_t(int64_t)>& longest = {}) const;

  /// Which source token each token of the translation was made from, <eos> last: weights [1, T + 1, S].
  heed::AttentionMap alignment(const heed::Tokens& source, const heed::Tokens& target,
                               const std::string& title = "") const;
  /// Everything that was attended to while this translation was made, layer by layer. The title is the two
  /// sentences without one.
  std::vector<heed::AttentionMap> attention(const heed::Tokens& source, const heed::Tokens& target,
                                            const std::string& title = "") const;
  bool attends() const { return !translator_->alignment_module().empty(); }

  heed::Module& module() const& { return translator_->module(); }
  heed::Module& module() && = delete;  // it would die with the temporary
  const TranslatorOptions& options() const { return options_; }

 private:
  heed::Vocabulary source_, target_;
  TranslatorOptions options_;
  std::unique_ptr<Translator> translator_;
};

/// A step of a training on these examples of a list. Processes share them; each weighs as much as its target
/// has words.
heed::StepRecord descend(heed::Training& training, const Translation& translation,
                         const std::vector<heed::Tokens>& sources, const std::vector<heed::Tokens>& targets,
                         const std::vector<int64_t>& batch, const heed::CrossEntropyOptions& options = {});

}  // namespace program
