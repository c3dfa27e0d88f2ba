#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "examples/language_model/text_tokens.h"
#include "examples/shared/onnx_files.h"
#include "nn/layers/embedding.h"
#include "nn/text/sample.h"
#include "nn/transformer/transformer.h"
#include "nn/view/text.h"

/// A language model: which token comes next.
namespace program {

/// The sizes of a language model.
struct LanguageOptions {
  int64_t width = 128, layers = 2, heads = 4;
  int64_t context = 128;  // tokens that it sees
  double dropout = 0;     // while training; not kept in its file

  /// Errors name the options as programs have them: --width 100.
  void check() const;
};

/// A decoder-only transformer: each position attends to those before it and tells which token comes next.
///
///   x = embedding(ids),  y = encoder(x), causal and rotary,  logits = y embedding^T
///
///   ids        [B, T]
///   returns    [B, T, V]
struct LanguageNet : heed::Layer<LanguageNet> {
  LanguageNet(int64_t tokens, const LanguageOptions& options);
  /// Of the positions behind those that the cache holds.
  heed::Tensor forward(const heed::Tensor& ids, heed::EncoderCache* cache = nullptr) const;
  void visit(heed::Visitor& v) override;

  double dropout;
  heed::Embedding embedding;  // [V, E], of input and output
  heed::TransformerEncoder encoder;
};

/// A language model with its tokens: what is trained, asked and kept in a file.
class Language {
 public:
  /// Without training.
  Language(TextTokens tokens, const LanguageOptions& options);
  /// From a file that save() wrote. Errors name the file, and `program` as what makes another.
  static Language load(const std::string& path, const std::string& program);
  void save(const std::string& path) const;
  /// As an ONNX file: one step, whose caches [B, heads, length, width / heads] have a length of 0 at first.
  /// Metadata: `tokens` and `context`; `pairs` and `pieces` of byte pairs, or `characters`.
  ///
  ///   tokens [B, T] int64; key_0, value_0, ...  ->  log_probabilities [B, V] of the next token; next_key_0,
  ///   ...
  void write_onnx(const OnnxFiles& files) const;

  /// The mean cross entropy of each token after those before it, in windows [B, T + 1].
  heed::Tensor loss(const heed::Tensor& windows) const;
  /// -log2 of the probability of a text, each token after at least half a context of those before it, where
  /// there are so many. The first is one of all tokens, and unknown characters count as
  /// TextTokens::unknown_bits() says.
  double bits(const heed::Ids& ids) const;

  LanguageNet& net() const& { return *net_; }
  LanguageNet& net() && = delete;  // it would die with the temporary
  const TextTokens& tokens() const { return tokens_; }
  const LanguageOptions& options() const { return options_; }

 private:
  TextTokens tokens_;
  LanguageOptions options_;
  std::unique_ptr<LanguageNet> net_;
};

/// Writes on from a text, token by token. When the context is full, the older half of it is forgotten.
class Writer {
 public:
  static constexpr int64_t kRemembered = 64;  // tokens that attention() tells of

  /// `cached`: go on from the keys and values of the tokens before instead of computing them again. The text
  /// is the same, bit for bit where products are heed's own (kernel::has_own_product). `attends`: remember
  /// what was attended to. Errors: the prompt has no tokens.
  Writer(const Language& language, const heed::Ids& prompt, bool cached = true, bool attends = false);

  /// The next token.
  int64_t next(heed::Generator& generator, const heed::SampleOptions& options);
  /// What each of the last tokens that were written attended to among the last before it: a map of each
  /// layer.
  std::vector<heed::AttentionMap> attention() const;

 private:
  struct Step {
    std::vector<heed::Tensor> weights;  // of each layer, [H, tokens in the context]
    int64_t first;                      // which token of all was the first in the context
  };
  // Logits of what follows the context.
  heed::Tensor logits(heed::Tensor ids);

  const Language& language_;
  bool cached_, attends_;
  heed::Ids all_;
  int64_t first_ = 0;  // in the context
  heed::EncoderCache cache_;
  std::deque<Step> steps_;  // of the last tokens
};

}  // namespace program
