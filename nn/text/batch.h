#pragma once

#include <map>

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

/// Batches without end: epochs of bucket_batches, one after the other. Its place is two numbers, so that a
/// training can be taken up where it stood.
class BatchStream {
 public:
  /// Of examples of these lengths. Errors: there are none; batch_size below 1, a negative length.
  BatchStream(std::vector<int64_t> lengths, int64_t batch_size, Generator generator);

  /// The examples of the next batch.
  std::vector<int64_t> next();
  /// The number of epochs before that of the next batch.
  int64_t epoch() const { return epoch_; }

  /// The place: the epoch, where its random numbers begin, and how many of its batches were taken.
  std::map<std::string, Tensor> state_dict() const;
  /// Goes there. Errors: it is no place among these batches.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 private:
  void shuffle();

  std::vector<int64_t> lengths_;
  int64_t batch_size_, epoch_ = 0;
  Generator generator_;
  uint64_t began_ = 0;                         // the generator's position before this epoch
  std::vector<std::vector<int64_t>> batches_;  // of this epoch, the next one last
  int64_t taken_ = 0;
};

}  // namespace heed
