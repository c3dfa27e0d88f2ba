#pragma once

#include "nn/state_dict.h"
#include "tensor/random.h"

/// Batches of indices, and of the rows of tensors.
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
  int64_t per_epoch() const { return options_.drop_last ? n_ / batch_size_ : (n_ - 1) / batch_size_ + 1; }

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

/// Batches of the rows of several tensors, such as inputs with their targets: row i of each belongs together.
///
///   TensorBatches data({to(load_npy("images.npy"), float32) / 255, load_npy("labels.npy")}, 64);
///   for (int64_t epoch = 0; epoch < 10; ++epoch)
///     for (const std::vector<Tensor>& batch : data.epoch()) learn(batch[0], batch[1]);
///
/// The rows of a CSV file: `const Tensor x = read_csv("data.csv").values;` and x[{whole, Slice(0, 3)}],
/// x[{whole, 3}]. Options, order and state are those of Batches.
class TensorBatches : public Batches {
 public:
  /// Throws if there are no tensors, or their first sizes differ.
  TensorBatches(const std::vector<Tensor>& tensors, int64_t batch_size, const BatchesOptions& options = {});

  /// The batches of an epoch, for a loop, which copies the rows of a batch when it reaches it.
  struct Epoch {
    /// The place of a loop.
    struct Iterator {
      std::vector<Tensor> operator*() const { return rows(epoch->tensors, epoch->batches[place]); }
      Iterator& operator++() { return ++place, *this; }
      bool operator==(const Iterator&) const = default;
      const Epoch* epoch;  ///< what the loop goes through
      size_t place;        ///< number of batches before
    };
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, batches.size()}; }
    size_t size() const { return batches.size(); }
    std::vector<Tensor> tensors, batches;  ///< the tensors; the indices of the rows of each batch
  };

  /// The rows of the next batch, of each tensor.
  std::vector<Tensor> next() { return rows(tensors_, Batches::next()); }
  /// All batches of the next epoch, or the rest of this one if next() was called within it.
  Epoch epoch() { return {tensors_, Batches::epoch()}; }

 private:
  static std::vector<Tensor> rows(const std::vector<Tensor>& tensors, const Tensor& batch);
  std::vector<Tensor> tensors_;
};

}  // namespace heed
