#pragma once

#include <utility>
#include <vector>

#include "tensor/tensor.h"

/// Transposed weights, kept between the steps of a decoder and from one sequence to the next.
namespace heed {

/// Contiguous transposes [in, out] of the weights [out, in] that linear() reads. Products of few rows read
/// them 1.7 times as fast. An entry is computed again after a write to its weight, see Note [Versions].
/// Thread-safe. A copy is empty.
class TransposedWeightCache {
 public:
  TransposedWeightCache() = default;
  TransposedWeightCache(const TransposedWeightCache&) {}
  TransposedWeightCache& operator=(const TransposedWeightCache&) { return *this; }

  /// During its lifetime, linear() in this thread reads the transposes of float32 weights from a cache.
  class Use {
   public:
    /// Null: linear() uses no cache.
    explicit Use(TransposedWeightCache* cache) : outer_(std::exchange(current_, cache)) {}
    ~Use() { current_ = outer_; }
    Use(const Use&) = delete;

   private:
    TransposedWeightCache* outer_;
  };
  /// The transpose of `weight`: from the cache in use, or else a view.
  static Tensor transposed(const Tensor& weight);

 private:
  struct Entry {
    Tensor weight;
    int64_t version;  // of the weight when it was transposed
    Tensor transposed;
  };
  inline static thread_local constinit TransposedWeightCache* current_ = nullptr;
  std::vector<Entry> entries_;
  size_t next_ = 0;  // where the next weight probably is: every step reads them in the same order
};

}  // namespace heed
