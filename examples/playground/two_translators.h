#pragma once

#include <heed.h>
#include <heed/text.h>

#include <map>
#include <optional>

#include "examples/translate/corpus.h"

/// Two translators from Chinese to English that learn from the same sentences.
namespace program {

/// A recurrent encoder and decoder, with attention or with one context vector for the whole sentence.
///
///   encoder    h_1 .. h_S = a GRU in both directions over the source; c its last states
///   decoder    s_1 .. s_T = a GRU over the target so far, from tanh(B c)
///   context    c_i = sum_j a_ij h_j, a_ij = softmax_j score(s_i, h_j)        without attention c_i = c
///   output     W tanh(U [s_i, c_i])
///
/// The score is additive.
class SmallTranslator : public heed::Layer<SmallTranslator> {
 public:
  /// What a decoder knows of the source.
  struct Source {
    heed::CachedKeys states;  // [B, S, H]: h
    heed::Tensor summary;     // [B, H]: c
    heed::Tensor start;       // [B, H]: the first state of the decoder
    heed::Mask mask;          // [B, 1, S]: not padding
  };
  /// What may follow each token of the input, and how the decoder goes on.
  struct Step {
    heed::Tensor logits;   // [B, T, target words]
    heed::Tensor state;    // [1, B, H]
    heed::Tensor weights;  // [B, T, S], undefined without attention
  };

  SmallTranslator(int64_t source_words, int64_t target_words, bool attends);

  Source encode(const heed::PaddedBatch& batch) const;
  /// Reads tokens [B, T] from a state [1, B, H]. `allowed` is a further mask of the source.
  Step decode(const Source& from, const heed::Tensor& state, const heed::Tensor& tokens,
              const heed::Mask& allowed = {}) const;
  /// Teacher forcing: the logits for each token of `input`.
  heed::Tensor forward(const heed::PaddedBatch& batch, const heed::Tensor& input) const;
  /// Decoding step by step. The model must outlive what is returned.
  heed::DecodeStep decoder(const heed::PaddedBatch& batch) const;
  void visit(heed::Visitor& v) override;

 private:
  heed::Embedding source_, target_;
  heed::GRU encoder_;
  heed::Linear bridge_;
  heed::GRU decoder_;
  std::optional<heed::AttentionPooling<heed::AdditiveScore>> attention_;
  heed::Linear join_, output_;
};

/// A translation, and what each of its words was made from.
struct AlignedTranslation {
  heed::Tokens source, target;  // `<eos>` is the last token of the target if the translation ended
  heed::Tensor weights;         // [target, source]; undefined without attention
};

/// How many sentences of one length are translated without a mistake.
struct LengthScore {
  int64_t length, sentences;
  int64_t exact[2];  // with one context vector, with attention
};

/// A translator with one context vector and one with attention. They learn from the same batches of the
/// grammar of the program translate. In all functions `attends` chooses one of them.
class TwoTranslators {
 public:
  /// Number of states that can be kept.
  static constexpr int64_t kMostKept = 32;
  /// The number of the present state, which goes on learning.
  static constexpr int64_t kPresent = -1;

  /// Two translators without training. All that is random depends on the seed.
  explicit TwoTranslators(uint64_t seed);

  /// One step of Adam for each, with a rate that falls: the mean cross entropy of a batch, with one context
  /// vector and with attention.
  std::array<double, 2> learn();
  /// Keeps a copy of both under a number from 0 to kMostKept - 1.
  void keep(int64_t number);

  /// The most probable word at every step. `forbidden` has pairs of a word of the translation and a word of
  /// the source, which that word may not attend to. `state` is the number of a kept state, or kPresent.
  /// Errors: an unknown token, a source without tokens or longer than kLongestSource, a pair outside the
  /// source, a state that is not kept.
  AlignedTranslation translate(bool attends, const heed::Tokens& source,
                               const std::vector<std::array<int64_t, 2>>& forbidden = {},
                               int64_t state = kPresent) const;
  static constexpr size_t kLongestSource = 40;

  /// How many of the sentences for the test each translates without a mistake, by the length of the source.
  std::vector<LengthScore> score(int64_t state = kPresent) const;

  /// The tokens of a source that did not occur in the training, each once.
  heed::Tokens unknown(const heed::Tokens& source) const;

  /// All parameters of both in about a byte each: for 64 numbers the largest size, float32, then each number
  /// in units of a 127th of it.
  std::string packed() const;
  /// Sets all parameters of the present state to those of packed(). Errors: another number of bytes.
  void unpack(std::string_view bytes);

  int64_t steps() const { return steps_; }
  const Split& sentences() const { return sentences_; }

 private:
  struct Learner {
    Learner(uint64_t seed, int64_t source_words, int64_t target_words, bool attends);
    SmallTranslator model;
    heed::Adam optimizer;
  };
  using Models = std::array<SmallTranslator, 2>;

  const SmallTranslator& model(bool attends, int64_t state) const;
  std::vector<heed::Tensor> parameters() const;  // of both

  Split sentences_;
  heed::Vocabulary source_, target_;
  std::vector<heed::Ids> sources_, targets_;  // of the training
  Learner learners_[2];                       // with one context vector, with attention
  heed::BatchStream batches_;
  std::map<int64_t, Models> kept_;
  int64_t steps_ = 0;
};

}  // namespace program
