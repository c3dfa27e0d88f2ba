#pragma once

#include <memory>
#include <string>

#include "nn/module.h"
#include "nn/text/batch.h"
#include "nn/text/search.h"

/// Models that translate: an encoder reads the source, a decoder writes the target token by token.
namespace program {

/// The models that make_translator() knows.
const std::vector<std::string>& translator_names();

struct TranslatorOptions {
  std::string model;           // one of translator_names()
  std::string attention = {};  // of `attention` and `fed`: the score, one of score_names()
  int64_t source_words = 0, target_words = 0;
  int64_t embedding = 64;    // of words; in a transformer they are as wide as all else
  int64_t width = 96;        // of states, a multiple of 4
  int64_t layers = 1;        // of a recurrent encoder; of either side of a transformer
  double dropout = 0.1;      // of embeddings, and of what a recurrent decoder says
  double layer_dropout = 0;  // inside a transformer's layers, between those of a recurrent encoder
};

/// A model as programs see it. `source` are the sentences to translate, `input` the tokens given to the
/// decoder.
class Translator {
 public:
  virtual ~Translator() = default;
  virtual heed::Module& module() = 0;
  /// Teacher forcing: what may follow each token of `input`, [B, T, target words] before the softmax.
  virtual heed::Tensor logits(const heed::PaddedBatch& source, const heed::Tensor& input) = 0;
  /// What the decoder knows before its first step, by name: tensors [B, ...].
  virtual heed::StateDict start(const heed::PaddedBatch& source) = 0;
  /// What may follow these tokens [B], the last ones of the target so far: [B, target words] before the
  /// softmax. What the step changes in `state` is replaced.
  virtual heed::Tensor step(const heed::Tensor& tokens, heed::StateDict& state) = 0;
  /// Decoding step by step, for beam_search.
  virtual heed::DecodeStep decoder(const heed::PaddedBatch& source);
  /// The module whose weights tell which source token a target token was made from; "" without attention.
  virtual std::string alignment_module() const = 0;
};

std::unique_ptr<Translator> make_translator(const TranslatorOptions& options);

}  // namespace program
