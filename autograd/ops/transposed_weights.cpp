#include "autograd/ops/transposed_weights.h"

#include <mutex>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"

namespace heed {

Tensor TransposedWeightCache::transposed(const Tensor& weight) {
  const TensorImpl& w = TensorImpl::of(weight);
  const auto view = [&] {
    return TensorImpl::view(weight, {w.shape[1], w.shape[0]}, {w.strides[1], w.strides[0]});
  };
  if (!current_ || !kernel::has_own_product(w.dtype)) return view();
  static std::mutex mutex;  // of all caches, since each is locked for less than a microsecond
  const std::lock_guard lock(mutex);
  std::vector<Entry>& entries = current_->entries_;
  const auto matches = [&](const Entry& entry) {
    const TensorImpl& cached = TensorImpl::of(entry.weight);
    return cached.storage.get() == w.storage.get() && cached.offset == w.offset && cached.shape == w.shape &&
           cached.strides == w.strides;
  };
  size_t& at = current_->next_;
  if (at >= entries.size() || !matches(entries[at]))
    at = static_cast<size_t>(std::ranges::find_if(entries, matches) - entries.begin());
  if (at == entries.size()) {
    // Drops the entries of weights that no longer exist.
    std::erase_if(entries, [](const Entry& entry) { return TensorImpl::of(entry.weight).storage.unique(); });
    at = entries.size();
    entries.push_back({weight.detach(), -1, {}});
  }
  Entry& entry = entries[at++];
  if (entry.version != w.storage->version) entry.transposed = kernel::clone(view());
  entry.version = w.storage->version;
  return entry.transposed;
}

}  // namespace heed
