#include "nn/distributed/reduction.h"

#include <new>

#include "autograd/grad_mode.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/elementwise.h"

namespace heed::detail {

Bytes memory_of(const Tensor& x) {
  return visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    return std::as_writable_bytes(std::span(x.mutable_data<T>(), static_cast<size_t>(x.numel())));
  });
}

std::vector<Subtree> subtrees(int64_t shards, int processes, int64_t from, int64_t to) {
  const int owner = owner_of(from, shards, processes);
  if (owner == owner_of(to - 1, shards, processes)) return {{from, to, owner}};
  std::vector<Subtree> all = subtrees(shards, processes, from, (from + to) / 2);
  std::ranges::copy(subtrees(shards, processes, (from + to) / 2, to), std::back_inserter(all));
  return all;
}

int64_t sums_after(int64_t shard, int64_t own, int64_t from, int64_t to) {
  if (to - from == 1) return 0;
  const int64_t mid = (from + to) / 2;
  if (shard < mid) return sums_after(shard, own, from, mid);
  return sums_after(shard, own, mid, to) + (shard == to - 1 && from >= own);
}

Reduction::Reduction(Messages& messages, int64_t shards, size_t sums)
    : from(shards * messages.rank() / messages.size()),
      to(shards * (messages.rank() + 1) / messages.size()),
      messages_(messages),
      trees_(subtrees(shards, messages.size(), 0, shards)),
      sums_(sums) {}

// After an exception MPI may still write to the memory of transfers, so it is not freed.
Reduction::~Reduction() {
  for (Sum& sum : sums_)
    if (!sum.transfers.empty()) new (std::nothrow) Sum(std::move(sum));
}

void Reduction::add(size_t i, int64_t shard, Tensor x) {
  const NoGrad guard;
  Sum& sum = sums_[i];
  if (!x.is_contiguous() || !TensorImpl::unique(x)) x = kernel::clone(x);
  for (int64_t n = sums_after(shard, from, 0, trees_.back().to); n > 0; --n) {
    kernel::add_into(sum.own.back(), x);
    x = std::move(sum.own.back());
    sum.own.pop_back();
  }
  sum.own.push_back(std::move(x));
  if (shard + 1 == to) send(sum);
}

Tensor Reduction::slice(const Tensor& x, int process) const {
  const int64_t n = x.numel(), begin = n * process / messages_.size();
  return narrow(reshape(x, {n}), 0, begin, n * (process + 1) / messages_.size() - begin);
}

void Reduction::start(Sum& sum, bool sends, int peer, const Tensor& x) {
  const int tag = 16 + 2 * static_cast<int>(&sum - sums_.data()) + (sum.phase == Sum::shares);
  sum.transfers.push_back(messages_.start(sends, peer, tag, memory_of(x)));
}

void Reduction::send(Sum& sum) {
  sum.phase = Sum::sends;
  size_t mine = 0;
  for (const Subtree& tree : trees_) {
    const bool sends = tree.owner == messages_.rank();
    Tensor& part = sum.slices.emplace_back(slice(sum.own[sends ? mine : 0], messages_.rank()));
    if (!sends) {
      part = Tensor::empty(part.shape(), part.dtype());
      start(sum, false, tree.owner, part);
    }
    for (int peer = sends ? 0 : messages_.size(); peer < messages_.size(); ++peer)
      if (peer != tree.owner) start(sum, true, peer, slice(sum.own[mine], peer));
    mine += sends;
  }
}

// The sum of a range of shards in the order of the tree; `next` is the first of its subtrees.
Tensor Reduction::fold(int64_t begin, int64_t end, const Sum& sum, size_t& next) const {
  if (trees_[next].from == begin && trees_[next].to == end) return sum.slices[next++];
  const int64_t mid = (begin + end) / 2;
  Tensor left = fold(begin, mid, sum, next), right = fold(mid, end, sum, next);
  kernel::add_into(left, right);
  return left;
}

bool Reduction::advance(Sum& sum) {
  const bool weighs = &sum == sums_.data();
  if (sum.phase == Sum::sends && (weighs || sums_[0].phase == Sum::complete) &&
      messages_.advance(sum.transfers)) {
    sum.phase = Sum::shares;
    size_t first = 0;
    const Tensor mine = slice(sum.own[0], messages_.rank());
    kernel::copy_into(mine, fold(0, trees_.back().to, sum, first));
    if (!weighs) kernel::mul_into(mine, kernel::full({}, 1 / *sums_[0].own[0].data<double>(), mine.dtype()));
    for (int peer = 0; peer < messages_.size(); ++peer)
      for (const bool sends : {false, true})
        if (peer != messages_.rank()) start(sum, sends, peer, sends ? mine : slice(sum.own[0], peer));
  }
  if (sum.phase == Sum::shares && messages_.advance(sum.transfers)) sum.phase = Sum::complete;
  return sum.phase == Sum::complete;
}

bool Reduction::advance() {
  const NoGrad guard;
  bool complete = true;
  for (Sum& sum : sums_) complete = advance(sum) && complete;
  return complete;
}

}  // namespace heed::detail
