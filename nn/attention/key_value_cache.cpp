#include "nn/attention/key_value_cache.h"

#include <ranges>

#include "autograd/observer.h"
#include "autograd/ops/index.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/elementwise.h"

namespace heed {

// Note [Growing in place]: Positions without autograd history are written after the cached ones, into a
// buffer of more than twice the capacity, unless an observer must see the operation. Cached positions are
// never overwritten: the first cache that appends at `used` claims the memory after it, and any other cache
// that shares the buffer, such as a copy, then allocates its own. So copying a cache copies no positions.
struct KeyValueCache::Buffer {
  Tensor memory;  // [B, H, capacity, D]: the positions of one head are adjacent
  std::atomic<int64_t> used;

  // Writes x at position `at`. Not counted as a write to existing views, since they do not reach that far.
  void write(int64_t at, const Tensor& x) const { kernel::copy_into(narrow(memory, 2, at, x.size(2)), x); }
};

KeyValueCache::Positions KeyValueCache::Positions::appended(const Tensor& more) const {
  const auto recorded = [](const Tensor& x) {  // by autograd or an observer
    return Observer::any() || (grad_enabled() && x.requires_grad());
  };
  const int64_t length = view.defined() ? view.size(2) : 0, total = length + more.size(2);
  if (length == 0) return {recorded(more) ? more : kernel::contiguous(more)};
  if (more.shape() != view.shape().with(2, more.size(2)) || more.dtype() != view.dtype() || recorded(view) ||
      recorded(more))
    return {cat({view, more}, 2)};  // throws if shapes or dtypes do not fit

  std::shared_ptr<Buffer> target = buffer;
  int64_t end = length;
  if (!target || total > target->memory.size(2) || !target->used.compare_exchange_strong(end, total)) {
    const Shape shape = view.shape().with(2, 2 * total + 16);
    target = std::make_shared<Buffer>(Tensor::empty(shape, view.dtype()), total);
    target->write(0, view);
  }
  target->write(length, more);
  return {narrow(target->memory, 2, 0, total), target};
}

KeyValueCache::Positions KeyValueCache::Positions::selected(const Tensor& rows) const {
  if (!buffer) return {index_select(view, 0, rows)};
  const int64_t length = view.size(2);
  const auto copy = std::make_shared<Buffer>(index_select(buffer->memory, 0, rows), length);
  return {narrow(copy->memory, 2, 0, length), copy};
}

void KeyValueCache::append(const Tensor& keys, const Tensor& values) {
  check_in("KeyValueCache", keys.dim() == 4 && values.dim() == 4 && keys.size(2) == values.size(2),
           "keys are ", keys.shape(), ", values ", values.shape(),
           "; they must be [B, H, T, D] and [B, H, T, Dv]");
  if (const Tensor& cached = keys_.view; length() > 0)
    check_in("KeyValueCache", keys.size(0) == cached.size(0) && keys.size(1) == cached.size(1), "keys ",
             keys.shape(), " do not continue the cached ones, ", cached.shape(),
             " (select the rows of the batch?)");
  std::tie(keys_, values_) = std::pair(keys_.appended(keys), values_.appended(values));
}

void KeyValueCache::roll_back(int64_t length) {
  check_in("KeyValueCache", length >= 0 && length <= this->length(), "cannot roll back to ", length,
           " positions, it holds ", this->length());
  if (length == this->length()) return;
  check_in("KeyValueCache", steps_ == 0 || length == 0, "cannot roll back to ", length,
           " positions, because it holds a state in place of keys and values");
  if (steps_ > 0)
    *this = KeyValueCache();
  else
    for (Tensor* view : {&keys_.view, &values_.view}) *view = narrow(*view, 2, 0, length);
}

void KeyValueCache::select(const Tensor& rows) {
  state_ = detail::mapped(state_, [&](const Tensor& x) { return index_select(x, 0, rows); });
  if (!keys_.view.defined()) return;
  const int64_t batch = keys_.view.size(0);
  if (rows.dtype() == int64 && rows.shape() == Shape{batch} &&
      std::ranges::equal(rows.to_vector<int64_t>(), std::views::iota(int64_t{0}, batch)))
    return;  // the same rows in the same order
  std::tie(keys_, values_) = std::pair(keys_.selected(rows), values_.selected(rows));
}

}  // namespace heed
