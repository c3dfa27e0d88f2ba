#include "nn/distributed/reduction.h"

#include "autograd/grad_mode.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/elementwise.h"

namespace heed::detail {

Bytes memory_of(const Tensor& x) {
  return visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    return std::as_writable_bytes(std::span(x.mutable_data<T>(), static_cast<size_t>(x.numel())));
  });
}

std::vector<Addition> additions(int64_t from, int64_t to) {
  if (to - from == 1) return {};
  const int64_t mid = (from + to) / 2;
  std::vector<Addition> all = additions(from, mid);
  std::ranges::copy(additions(mid, to), std::back_inserter(all));
  all.push_back({from, mid, to});
  return all;
}

std::vector<int64_t> subtrees(int64_t shards, int processes) {
  std::vector<int64_t> all;
  for (int64_t shard = 0; shard < shards; ++shard) all.push_back(shard);
  for (const auto& [from, mid, to] : additions(0, shards))
    if (owner_of(from, shards, processes) == owner_of(to - 1, shards, processes)) std::erase(all, mid);
  return all;
}

Reduction::Reduction(Messages& messages, int64_t shards, size_t sums)
    : from(shards * messages.rank() / messages.size()),
      to(shards * (messages.rank() + 1) / messages.size()),
      messages_(messages),
      additions_(additions(0, shards)),
      subtrees_(subtrees(shards, messages.size())),
      sums_(sums, Sum{.parts = std::vector<Tensor>(size_t(shards))}) {}

// After an exception MPI may still write to the memory of transfers, so it is not freed.
Reduction::~Reduction() {
  for (Sum& sum : sums_)
    if (!sum.transfers.empty()) new (std::nothrow) Sum(std::move(sum));
}

// What a process adds of the subtree that begins with this shard.
Tensor Reduction::slice(const Sum& sum, int64_t shard, int process) const {
  const Tensor& x = sum.parts[size_t(shard)];
  if (shard < from || shard >= to) return x;
  const int64_t n = x.numel(), begin = n * process / messages_.size();
  return narrow(reshape(x, {n}), 0, begin, n * (process + 1) / messages_.size() - begin);
}

void Reduction::add(size_t i, int64_t shard, Tensor x) {
  const NoGrad guard;
  Sum& sum = sums_[i];
  std::vector<Tensor>& parts = sum.parts;
  if (!x.is_contiguous() || !TensorImpl::unique(x)) x = kernel::clone(x);
  parts[size_t(shard)] = std::move(x);
  for (const Addition& a : additions_)
    if (a.to == shard + 1 && a.from >= from)
      kernel::add_into(parts[size_t(a.from)], std::exchange(parts[size_t(a.mid)], Tensor()));
  if (shard + 1 < to) return;
  sum.phase = Sum::sends;
  const Tensor mine = slice(sum, from, messages_.rank());
  for (const int64_t first : subtrees_)
    if (Tensor& part = parts[size_t(first)]; !part.defined())
      part = Tensor::empty(mine.shape(), mine.dtype());
  sum.transfers = messages_.start(16 + static_cast<int>(i), [&](int sender, int receiver) {
    std::vector<Bytes> slices;
    for (const int64_t first : subtrees_)
      if (owner_of(first, std::ssize(parts), messages_.size()) == sender)
        slices.push_back(memory_of(slice(sum, first, receiver)));
    return slices;
  });
}

bool Reduction::advance(size_t i) {
  Sum& sum = sums_[i];
  if (sum.phase == Sum::sends && (i == 0 || advance(0)) && messages_.advance(sum.transfers)) {
    const auto mine = [&](int64_t shard) { return slice(sum, shard, messages_.rank()); };
    for (const Addition& a : additions_)
      if (sum.parts[size_t(a.mid)].defined()) kernel::add_into(mine(a.from), mine(a.mid));
    kernel::copy_into(mine(from), mine(0));
    if (i > 0)
      kernel::mul_into(mine(from), kernel::full({}, 1 / *this->sum(0).data<double>(), mine(from).dtype()));
    const auto result = [&](int sender, int) { return std::vector{memory_of(slice(sum, from, sender))}; };
    sum.transfers = messages_.start(16 + static_cast<int>(i), result);
    sum.phase = Sum::shares;
  }
  return sum.phase == Sum::shares && messages_.advance(sum.transfers);
}

bool Reduction::advance() {
  const NoGrad guard;
  bool complete = true;
  for (size_t i = 0; i < sums_.size(); ++i) complete = advance(i) && complete;
  return complete;
}

}  // namespace heed::detail
