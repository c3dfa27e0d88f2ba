#pragma once

#include "nn/text/vocabulary.h"
#include "tensor/random.h"
#include "tensor/tensor.h"

/// Batches of sequences of different lengths.
namespace heed {

/// Sequences of different lengths in one tensor.
struct PaddedBatch {
  Tensor ids;      ///< [B, T] int64, T the greatest length; `<pad>` after the end of shorter ones
  Tensor lengths;  ///< [B] int64: the lengths without padding
};
/// A batch with one row for each sequence; T is at least `length`. Throws if `length` is negative.
PaddedBatch pad_batch(const std::vector<Ids>& sequences, int64_t length = 0);

/// The input of a decoder and the labels that it should predict: each token from the true ones before it, not
/// from its own predictions. For a target y_1 .. y_n the length is n + 1:
struct TeacherForcing {
  Tensor input;    ///< [B, T] int64: `<bos>` y_1 .. y_n
  Tensor labels;   ///< [B, T] int64: y_1 .. y_n `<eos>`
  Tensor lengths;  ///< [B] int64: the lengths without padding
};
/// One row for each target; T is at least `length`.
TeacherForcing teacher_forcing(const std::vector<Ids>& targets, int64_t length = 0);

/// The batches of one epoch, with little padding: examples 0 to n - 1 sorted by length, each in one batch.
/// Examples of equal length and the batches are in random order. The batch of the longest examples may be
/// smaller. Throws if batch_size is below 1 or a length is negative.
std::vector<std::vector<int64_t>> bucket_batches(const std::vector<int64_t>& lengths, int64_t batch_size,
                                                 Generator& generator);

/// An endless stream of batches: one epoch of bucket_batches after the other. Its state is small, so that
/// training can resume inside an epoch.
class BatchStream {
 public:
  /// A stream of examples of these lengths. Throws if there are none, if batch_size is below 1 or a length is
  /// negative.
  BatchStream(std::vector<int64_t> lengths, int64_t batch_size, Generator generator);

  /// The examples of the next batch.
  std::vector<int64_t> next();
  /// The epoch of the next batch, from 0.
  int64_t epoch() const { return epoch_; }

  /// The epoch, the position of the generator before it, and the number of batches taken from it.
  std::map<std::string, Tensor> state_dict() const;
  /// Continues from a state. Throws if it is not a state of a stream with these batches.
  void load_state_dict(const std::map<std::string, Tensor>& state);

 private:
  void begin_epoch();

  std::vector<int64_t> lengths_;
  int64_t batch_size_, epoch_ = -1;
  Generator generator_;
  uint64_t epoch_position_ = 0;                // of the generator before this epoch
  std::vector<std::vector<int64_t>> batches_;  // of this epoch, in reverse order
  int64_t taken_ = 0;                          // of these
};

}  // namespace heed
