#pragma once

#include <optional>

#include "nn/text/vocabulary.h"
#include "tensor/tensor.h"

/// Sentences from a decoder, token by token.
namespace heed {

/// One step of a decoder that keeps its own state (a hidden state, a cache of keys and values), a row for
/// each unfinished sentence.
///
///   tokens   [N] int64   the last token of each row; <bos> at the first step
///   parents  [N] int64   the row of the step before that each row continues: the state is to be reordered by
///                        index_select(state, 0, parents). At the first step: the sentences 0 to B - 1
///   returns  [N, V]      log-probabilities of the next token; -inf for one that may not come
using DecodeStep = std::function<Tensor(const Tensor& tokens, const Tensor& parents)>;

/// A sentence that a search has found.
struct Hypothesis {
  Ids tokens;              ///< without `<bos>` and the end token
  double log_probability;  ///< of the tokens, and of the end if it ended
  double score;            ///< log_probability / length^alpha; the length counts the end
  bool ended;              ///< false: cut off at max_length
};

/// Choices of beam_search.
struct SearchOptions {
  int64_t max_length = 100;  ///< tokens, the end counted
  int64_t width = 1;         ///< beams
  double alpha = 1;          ///< length normalisation: 0 prefers short sentences, 1 is the mean over tokens
  std::optional<int64_t> end = Vocabulary::eos;  ///< std::nullopt: nothing ends before max_length
};

/// Beam search for a batch of sentences. At every step the `width` most probable continuations of each
/// sentence are kept, the lower row and token first among equals; one that ends gives up its place. Rows
/// whose sentence is finished are not computed any more.
///
/// Returns up to `width` hypotheses for each sentence, the best score first. No step is recorded for
/// gradients. Errors: width or max_length below 1; a step that gives another shape than [N, V], NaN, or
/// nothing but -inf.
std::vector<std::vector<Hypothesis>> beam_search(const DecodeStep& step, int64_t batch,
                                                 const SearchOptions& options = {});

/// The most probable token at every step, for each sentence: beam search of width 1. Without an end token,
/// std::nullopt, every sentence has max_length tokens.
std::vector<Ids> greedy_search(const DecodeStep& step, int64_t batch, int64_t max_length = 100,
                               std::optional<int64_t> end = Vocabulary::eos);

}  // namespace heed
