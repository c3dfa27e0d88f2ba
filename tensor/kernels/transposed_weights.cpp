#include "tensor/kernels/transposed_weights.h"

#include <mutex>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"

namespace heed::kernel {
namespace {

constexpr int64_t kFewRows = 64;
constexpr size_t kMostLayouts = 16;  // for memory of which a program cuts ever new weights

// A weight in this memory, and its transpose, undefined until the second use.
struct Layout {
  int64_t offset;
  Shape shape;
  Strides strides;
  Tensor transposed;
};
using Layouts = std::vector<Layout>;  // more than one if layers share a weight in parts

}  // namespace

Tensor transposed_weight(const Tensor& weight, const Tensor& x, bool keep) {
  const TensorImpl& w = TensorImpl::of(weight);
  const auto view = [&] { return last_swapped_with(weight, 0); };
  if (!keep || x.numel() > kFewRows * w.shape[1] || !has_own_product(w.dtype)) return view();
  static std::mutex mutex;  // of all weights, since each is locked for less than a microsecond
  const std::lock_guard lock(mutex);
  std::shared_ptr<void>& kept = w.storage->derived;
  if (!kept) kept = std::make_shared<Layouts>();
  Layouts& layouts = *static_cast<Layouts*>(kept.get());
  const auto found = std::ranges::find_if(layouts, [&](const Layout& layout) {
    return layout.offset == w.offset && layout.shape == w.shape && layout.strides == w.strides;
  });
  if (found == layouts.end()) {
    if (layouts.size() == kMostLayouts) layouts.clear();
    layouts.push_back({w.offset, w.shape, w.strides, {}});
    return view();
  }
  if (!found->transposed.defined()) found->transposed = clone(view());
  return found->transposed;
}

}  // namespace heed::kernel
