#pragma once

#include "nn/text/vocabulary.h"
#include "tensor/random.h"
#include "tensor/tensor.h"

/// Sequences of different lengths in batches.
namespace heed {

/// Sequences of different lengths in one tensor.
struct PaddedBatch {
  Tensor ids;      ///< [B, T] int64, T the greatest length; `<pad>` after the end of the shorter ones
  Tensor lengths;  ///< [B] int64: how many of them are not padding
};
/// One row for each sequence; T is at least `length`. Errors: a negative length.
PaddedBatch pad_batch(const std::vector<Ids>& sequences, int64_t length = 0);

/// A decoder's input and the answer that it should learn to give: each token from the true ones before it,
/// not from its own guesses (teacher forcing). For a target y_1 .. y_n, length n + 1:
struct TeacherForcing {
  Tensor input;    ///< [B, T] int64: `<bos>` y_1 .. y_n
  Tensor labels;   ///< [B, T] int64: y_1 .. y_n `<eos>`
  Tensor lengths;  ///< [B] int64: how many of them are not padding
};
/// One row for each target; T is at least `length`.
TeacherForcing teacher_forcing(const std::vector<Ids>& targets, int64_t length = 0);

/// One epoch of batches that need little padding: the examples 0 to n - 1, each in one batch, sorted by
/// length; examples of one length and the batches come in random order. The last of the longest may be a
/// smaller batch. Errors: batch_size below 1, a negative length.
std::vector<std::vector<int64_t>> bucket_batches(const std::vector<int64_t>& lengths, int64_t batch_size,
                                                 Generator& generator);

}  // namespace heed
