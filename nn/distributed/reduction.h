#pragma once

#include "nn/distributed/messages.h"
#include "tensor/tensor.h"

/// Sums over shards in one fixed order, whatever the number of processes.
namespace heed::detail {

/// The sum of the shards from `from` to below `to`, which one process owns.
///
/// Note [One tree]: floating-point sums depend on the order. The sum over shards 0 to n - 1 is always
///
///   sum(from, to) = sum(from, mid) + sum(mid, to),   mid = (from + to) / 2
///
/// A process computes the largest subtrees of which it owns all shards, and sends them. The rest of the tree
/// has the same shape in every process.
struct Subtree {
  int64_t from, to;
  int owner;
};
/// The memory of a contiguous tensor.
Bytes memory_of(const Tensor& x);
/// The process that owns a shard: process r of P owns shards S r / P to below S (r + 1) / P, rounded down.
inline int owner_of(int64_t shard, int64_t shards, int processes) {
  return static_cast<int>(((shard + 1) * processes - 1) / shards);
}
/// The largest subtrees of shards `from` to below `to` that have one owner, in order.
std::vector<Subtree> subtrees(int64_t shards, int processes, int64_t from, int64_t to);
/// The number of sums in the tree from `from` to `to` that are complete with this shard, and begin at or
/// after shard `own`.
int64_t sums_after(int64_t shard, int64_t own, int64_t from, int64_t to);

/// Several sums of tensors, one for each shard, over all processes. The first number of sum 0, which is
/// float64, is the weight of a shard; the other sums are divided by the sum of all weights. A sum is sent
/// when the process has added its last shard to it; the order of the sums may differ between processes. Each
/// process adds a slice of a sum, and sends it to the others.
class Reduction {
 public:
  Reduction(Messages& messages, int64_t shards, size_t sums);
  ~Reduction();
  Reduction(const Reduction&) = delete;

  /// Adds the tensor of a shard to a sum. The process adds its shards in order.
  void add(size_t sum, int64_t shard, Tensor x);
  /// Continues all sums without waiting; returns whether they are complete.
  bool advance();
  const Tensor& sum(size_t i) const { return sums_[i].own[0]; }

  const int64_t from, to;  ///< The shards of this process.

 private:
  struct Sum {
    std::vector<Tensor> own = {}, slices = {};  // subtrees of this process; of all, what this process adds
    Transfers transfers = {};
    enum { adds, sends, shares, complete } phase = adds;
  };
  Tensor slice(const Tensor& x, int process) const;
  void start(Sum& sum, bool sends, int peer, const Tensor& x);
  void send(Sum& sum);
  Tensor fold(int64_t begin, int64_t end, const Sum& sum, size_t& next) const;
  bool advance(Sum& sum);

  Messages& messages_;
  const std::vector<Subtree> trees_;
  std::vector<Sum> sums_;
};

}  // namespace heed::detail
