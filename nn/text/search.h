#pragma once

#include "nn/text/vocabulary.h"
#include "tensor/tensor.h"

/// Decoding: sentences from a model, token by token.
namespace heed {

/// One step of a decoder with its own state (a hidden state, a cache of keys and values). Each unfinished
/// sentence has one or more rows.
///
///   tokens   [N] int64   the last token of each row; <bos> in the first step
///   parents  [N] int64   the row of the previous step that each row continues: reorder the state with
///                        index_select(state, 0, parents). In the first step: the sentences 0 to B - 1
///   returns  [N, V]      log-probabilities of the next token; -inf for tokens that must not follow
using DecodeStep = std::function<Tensor(const Tensor& tokens, const Tensor& parents)>;

/// A sentence found by a search.
struct Hypothesis {
  Ids tokens;              ///< without `<bos>` and the end token
  double log_probability;  ///< of the tokens, and of the end token if there is one
  double score;            ///< log_probability / length^alpha; the length includes the end token
  bool ended;              ///< false if it was cut off at max_length
};

/// Options of beam_search.
struct SearchOptions {
  int64_t max_length = 100;  ///< in tokens, including the end token
  int64_t width = 1;         ///< number of beams
  double alpha = 1;          ///< length normalization: 0 prefers short sentences, 1 is the mean over tokens
  std::optional<int64_t> end = Vocabulary::eos;  ///< std::nullopt: all sentences have max_length tokens
};

/// Beam search for a batch of sentences. Each step keeps the `width` most probable continuations of each
/// sentence; of equal ones, the lower row and token. A continuation that ends reduces the width of its
/// sentence by one. Finished sentences are not computed any more.
///
/// Returns up to `width` hypotheses for each sentence, the best score first. Nothing is recorded for
/// gradients. Throws if width or max_length is below 1, or a step returns another shape than [N, V], NaN, or
/// only -inf.
std::vector<std::vector<Hypothesis>> beam_search(const DecodeStep& step, int64_t batch,
                                                 const SearchOptions& options = {});

/// The most probable token in every step, for each sentence: beam search of width 1. With end = std::nullopt
/// all sentences have max_length tokens.
std::vector<Ids> greedy_search(const DecodeStep& step, int64_t batch, int64_t max_length = 100,
                               std::optional<int64_t> end = Vocabulary::eos);

}  // namespace heed
