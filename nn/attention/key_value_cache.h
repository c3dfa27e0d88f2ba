#pragma once

#include "tensor/tensor.h"

/// The cache of attention for decoding step by step.
namespace heed {

/// Projected keys and values of earlier positions, so that decoding does not compute them again. A copy is
/// cheap, and appending to it does not change the original. Keeps autograd history, so gradients flow through
/// the cache where recording is on.
class KeyValueCache {
 public:
  /// Appends positions: keys [B, H, t, D], values [B, H, t, Dv]. Errors: B or H differ from the cached
  /// positions; the cache is then unchanged.
  void append(const Tensor& keys, const Tensor& values);
  /// For attention that keeps a state in place of keys and values: the state after `steps` more positions,
  /// tensors [B, ...].
  void advance(std::vector<Tensor> state, int64_t steps) {
    state_ = std::move(state);
    steps_ += steps;
  }
  /// Keeps only the first `length` positions. Throws if there are fewer, and for a state, which has no way
  /// back but to its beginning.
  void roll_back(int64_t length);
  /// Replaces row i of the batch by row rows[i]: int64 [B']. Rows may repeat, as in beam search.
  void select(const Tensor& rows);

  /// Number of cached positions.
  int64_t length() const { return keys_.view.defined() ? keys_.view.size(2) : steps_; }
  Tensor keys() const { return keys_.view; }      ///< [B, H, length, D]; undefined before the first append
  Tensor values() const { return values_.view; }  ///< [B, H, length, Dv]
  const std::vector<Tensor>& state() const { return state_; }  ///< the last one; empty before the first

 private:
  struct Buffer;
  // Cached keys or values, as a view of the buffer if there is one: see Note [Growing in place].
  struct Positions {
    Positions appended(const Tensor& more) const;
    Positions selected(const Tensor& rows) const;

    Tensor view = {};
    std::shared_ptr<Buffer> buffer = {};
  };
  Positions keys_, values_;
  std::vector<Tensor> state_;
  int64_t steps_ = 0;  // that the state has seen
};

}  // namespace heed
