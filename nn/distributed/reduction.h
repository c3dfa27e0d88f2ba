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
/// The process that owns a shard: process r of P owns shards S r / P to below S (r + 1) / P, rounded down.
inline int owner_of(int64_t shard, int64_t shards, int processes) {
  return static_cast<int>(((shard + 1) * processes - 1) / shards);
}
/// The largest subtrees that have one owner, in order.
std::vector<Subtree> subtrees(int64_t shards, int processes);
/// The number of sums that are complete once shard `shard` of a subtree is added, from small to large.
int64_t sums_after(int64_t shard, int64_t from, int64_t to);

/// Adds vectors, one for each subtree, over all processes. There are several sums at a time, by number; each
/// process may begin them in another order.
///
/// Every process computes a slice of the sum, and sends it to the others.
class Reduction {
 public:
  Reduction(Messages& messages, std::vector<Subtree> trees) : messages_(messages), trees_(std::move(trees)) {}
  ~Reduction();
  Reduction(const Reduction&) = delete;

  /// Begins sum `number` of the vectors of this process's subtrees, all [n]. The first of them is overwritten
  /// with the sum.
  void start(int number, std::vector<Tensor> own);
  /// Continues all sums without waiting; returns whether they are complete.
  bool advance();
  /// Waits until all are complete.
  void finish();

 private:
  struct Sum {
    int number;
    Tensor result;                    // [n]
    std::vector<Tensor> own;          // of the subtrees of this process, each [n]
    std::vector<Tensor> slices = {};  // of all subtrees, those that this process adds
    std::vector<Transfer> transfers = {};
    bool shares = false;  // the sum of the slice is complete, and the slices are exchanged
  };
  Tensor slice(const Tensor& x, int process) const;
  Tensor fold(int64_t from, int64_t to, const Sum& sum, size_t& next) const;
  bool advance(Sum& sum);

  Messages& messages_;
  const std::vector<Subtree> trees_;
  std::vector<Sum> sums_;
};

}  // namespace heed::detail
