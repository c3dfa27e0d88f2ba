#pragma once

#include "nn/distributed/messages.h"
#include "tensor/tensor.h"

/// Sums over shards in one fixed order, whatever the number of processes.
namespace heed::detail {

/// An addition: the sum of shards `from` to below `to` is that of the shards below `mid`, plus the others.
///
/// Note [One tree]: floating-point sums depend on the order. The sum over shards 0 to n - 1 is always
///
///   sum(from, to) = sum(from, mid) + sum(mid, to),   mid = (from + to) / 2
///
/// A process computes the largest subtrees of which it owns all shards, and sends them. The rest of the tree
/// has the same shape in every process.
struct Addition {
  int64_t from, mid, to;
};
/// The additions of the tree over shards `from` to below `to`, in an order in which they can be done.
std::vector<Addition> additions(int64_t from, int64_t to);
/// The process that owns a shard: process r of P owns shards S r / P to below S (r + 1) / P, rounded down.
inline int owner_of(int64_t shard, int64_t shards, int processes) {
  return static_cast<int>(((shard + 1) * processes - 1) / shards);
}
/// The first shards of the largest subtrees that have one owner, in order.
std::vector<int64_t> subtrees(int64_t shards, int processes);
/// The memory of a contiguous tensor.
Bytes memory_of(const Tensor& x);

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
  const Tensor& sum(size_t i) const { return sums_[i].parts[size_t(from)]; }

  const int64_t from, to;  ///< The shards of this process.

 private:
  // A part is the sum of the subtree that begins with a shard; of those of others only a slice is here.
  struct Sum {
    std::vector<Tensor> parts;
    Transfers transfers = {};
    enum { adds, sends, shares } phase = adds;
  };
  Tensor slice(const Sum& sum, int64_t shard, int process) const;
  bool advance(size_t sum);

  Messages& messages_;
  const std::vector<Addition> additions_;
  const std::vector<int64_t> subtrees_;
  std::vector<Sum> sums_;
};

}  // namespace heed::detail
