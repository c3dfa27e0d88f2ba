#include "nn/distributed/reduction.h"

#include <utility>

#include "autograd/grad_mode.h"
#include "autograd/ops/shape.h"
#include "tensor/kernels/elementwise.h"

namespace heed::detail {
namespace {

constexpr int kFirstTag = 16;

void add_subtrees(int64_t from, int64_t to, int64_t shards, int processes, std::vector<Subtree>& all) {
  const int owner = owner_of(from, shards, processes);
  if (owner == owner_of(to - 1, shards, processes)) return all.push_back({from, to, owner});
  const int64_t mid = (from + to) / 2;
  add_subtrees(from, mid, shards, processes, all);
  add_subtrees(mid, to, shards, processes, all);
}

char* bytes_of(const Tensor& x) {
  return visit_floating(x.dtype(),
                        [&]<class T>(Type<T>) { return reinterpret_cast<char*>(x.mutable_data<T>()); });
}
size_t size_of(const Tensor& x) { return static_cast<size_t>(x.numel() * heed::size_of(x.dtype())); }

}  // namespace

std::vector<Subtree> subtrees(int64_t shards, int processes) {
  std::vector<Subtree> all;
  add_subtrees(0, shards, shards, processes, all);
  return all;
}

int64_t sums_after(int64_t shard, int64_t from, int64_t to) {
  if (to - from == 1) return 0;
  const int64_t mid = (from + to) / 2;
  return shard < mid ? sums_after(shard, from, mid) : sums_after(shard, mid, to) + (shard == to - 1);
}

// After an exception MPI may still write to the memory of these transfers, so it is not freed.
Reduction::~Reduction() {
  if (!sums_.empty()) new std::vector<Sum>(std::move(sums_));
}

Tensor Reduction::slice(const Tensor& x, int process) const {
  const int64_t n = x.numel(), processes = messages_.size();
  const int64_t from = n * process / processes;
  return narrow(x, 0, from, n * (process + 1) / processes - from);
}

// The sum of a range of shards in the order of the tree; `next` is the first of its subtrees.
Tensor Reduction::fold(int64_t from, int64_t to, const Sum& sum, size_t& next) const {
  if (trees_[next].from == from && trees_[next].to == to) return sum.slices[next++];
  const int64_t mid = (from + to) / 2;
  const Tensor left = fold(from, mid, sum, next), right = fold(mid, to, sum, next);
  kernel::add_into(left, right);
  return left;
}

void Reduction::start(int number, std::vector<Tensor> own) {
  const NoGrad guard;
  const int me = messages_.rank(), tag = kFirstTag + 2 * number;
  Sum& sum = sums_.emplace_back(Sum{number, own[0], std::move(own)});
  auto mine = sum.own.begin();
  for (const Subtree& tree : trees_) {
    if (tree.owner == me) {
      const Tensor& x = *mine++;
      sum.slices.push_back(slice(x, me));
      for (int to = 0; to < messages_.size(); ++to) {
        if (to == me) continue;
        const Tensor part = slice(x, to);
        sum.transfers.push_back(messages_.send(to, tag, bytes_of(part), size_of(part)));
      }
    } else {
      const Tensor& received =
          sum.slices.emplace_back(Tensor::empty(slice(sum.result, me).shape(), sum.result.dtype()));
      sum.transfers.push_back(messages_.receive(tree.owner, tag, bytes_of(received), size_of(received)));
    }
  }
}

bool Reduction::advance(Sum& sum) {
  if (!messages_.advance(sum.transfers)) return false;
  if (std::exchange(sum.shares, true)) return true;
  size_t first = 0;
  const int me = messages_.rank(), tag = kFirstTag + 2 * sum.number + 1;
  const Tensor mine = slice(sum.result, me), value = fold(0, trees_.back().to, sum, first);
  if (bytes_of(value) != bytes_of(mine)) kernel::copy_into(mine, value);
  sum.slices.clear();
  for (int other = 0; other < messages_.size(); ++other) {
    if (other == me) continue;
    const Tensor part = slice(sum.result, other);
    sum.transfers.push_back(messages_.receive(other, tag, bytes_of(part), size_of(part)));
    sum.transfers.push_back(messages_.send(other, tag, bytes_of(mine), size_of(mine)));
  }
  return sum.transfers.empty();
}

bool Reduction::advance() {
  const NoGrad guard;
  std::erase_if(sums_, [&](Sum& sum) { return advance(sum); });
  return sums_.empty();
}

void Reduction::finish() {
  messages_.wait([&] { return advance(); }, [&] { return sums_.front().transfers.front().peer; });
}

}  // namespace heed::detail
