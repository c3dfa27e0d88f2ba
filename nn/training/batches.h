#pragma once

#include "nn/state_dict.h"
#include "tensor/random.h"

/// Batches of indices.
namespace heed {

/// Options of Batches.
struct BatchesOptions {
  bool shuffle = true;     ///< takes the indices in a new random order in each epoch
  bool drop_last = false;  ///< leaves out the last batch of an epoch if it is smaller than the others
  Generator generator = default_generator().split(1);
};

/// The indices 0 to n - 1 in batches, epoch after epoch. Each batch is int64 [batch_size]; the last one of an
/// epoch may be smaller.
///
///   Batches batches(images.size(0), 64);
///   for (int64_t epoch = 0; epoch < 10; ++epoch)
///     for (const Tensor& batch : batches.epoch()) learn(images[batch], labels[batch]);
///
/// batch.to_vector<int64_t>() gives the indices for data that are not in tensors. As a part of a checkpoint
/// the state is nine numbers, and a training resumes within an epoch.
class Batches {
 public:
  /// Throws if n or batch_size is below 1, or if drop_last leaves no batch.
  Batches(int64_t n, int64_t batch_size, const BatchesOptions& options = {});

  /// The next batch. The first batch of the next epoch follows the last one of this epoch.
  Tensor next();
  /// All batches of the next epoch, or the rest of this one if next() was called within it.
  std::vector<Tensor> epoch();
  /// The number of batches in an epoch.
  int64_t per_epoch() const;

  /// The arguments, the generator before this epoch, the number of the epoch, and the number of batches taken
  /// from it.
  StateDict state_dict() const;
  /// Continues from a state. Throws if it is not the state of batches with the same n, batch_size, shuffle
  /// and drop_last.
  void load_state_dict(const StateDict& state);

 private:
  void begin_epoch();

  int64_t n_, batch_size_;
  BatchesOptions options_;
  int64_t epoch_ = -1, taken_ = 0;
  uint64_t epoch_position_ = 0;  // of the generator before this epoch
  Tensor order_;                 // [n]
};

}  // namespace heed
