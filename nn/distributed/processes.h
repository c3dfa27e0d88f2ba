#pragma once

#include <numeric>

#include "nn/distributed/messages.h"
#include "nn/module.h"

/// Training on several processes, on one machine or many.
namespace heed {

/// Options of Processes.
struct ProcessesOptions {
  /// Parts of a batch. Whatever the number of processes, the same number of shards gives the same bits. There
  /// may be more shards than processes, not fewer. 0: one for each process.
  int64_t shards = 0;
  /// Seconds without a sign of life after which a process counts as lost, and all end. INFINITY: never, for a
  /// debugger.
  double silence = 5;
  double deadline = 1800;  ///< seconds that a process waits for another one that is alive
};

/// The loss of a part of a batch.
struct ShardLoss {
  Tensor loss;     ///< mean over the rows or tokens of the part
  int64_t weight;  ///< number of these rows or tokens
};

/// The processes that mpirun started together (mpirun -np 4 ./train). A program that was started alone, or
/// built without MPI, is a world of one process, with the same functions and the same bits.
///
///   Processes all({.shards = 8});
///   manual_seed(1);                  // every process makes the same model and the same batches
///   all.share(model);
///   for (...) {
///     const Tensor rows = batches.next();
///     all.backward(rows.numel(), model.parameters(), [&](int64_t from, int64_t to) {
///       const Tensor part = narrow(rows, 0, from, to - from);
///       return ShardLoss{F::mse_loss(model(x[part]), y[part]), to - from};
///     });
///     adam.step();
///     if (all.first()) checkpoint.save(step);
///   }
///
/// All processes call the same functions in the same order; each function waits for the others. If a process
/// is lost or throws, all end: the destructor ends them if an exception is passing, and a process that is
/// silent for longer than ProcessesOptions::silence is named on standard error (exit code 70). A program
/// connects once: only one object may exist, and none after it. See docs/processes.md.
class Processes {
 public:
  /// Throws if there are fewer shards than processes, or if mpirun started several processes of a heed that
  /// was built without MPI.
  explicit Processes(const ProcessesOptions& options = {});

  int64_t rank() const { return messages_.rank(); }  ///< number of this process, from 0
  int64_t size() const { return messages_.size(); }  ///< number of processes
  /// Whether this is process 0, which writes the files.
  bool first() const { return rank() == 0; }
  int64_t shards() const { return shards_; }
  /// The rows of a batch, from `from` to below `to`.
  struct Rows {
    int64_t from, to;
  };
  /// The rows of this process, of a batch of so many rows.
  Rows part(int64_t rows) const;

  /// Replaces all parameters and buffers with those of process 0. Throws if another process has a model with
  /// other sizes.
  void share(Module& model);

  /// Replaces the gradients of the parameters with those of the mean loss over all rows, and returns that
  /// loss; both are the same in all processes.
  ///
  ///   loss(from, to)   is called for each shard of this process that has rows
  ///   returns          sum_s weight_s loss_s / sum_s weight_s
  ///
  /// While `loss` runs for a shard, the thread's default generator is one of the shard's own, which depends
  /// on the shard and on the state of the default generator before: dropout gives the same bits for any
  /// number of processes. With one shard in all this is loss.backward(), with its bits.
  ///
  /// A parameter without a gradient in a shard counts as zero there; if it has none in any shard, its
  /// gradient is undefined. The first calls measure whether it is faster to send gradients while the backward
  /// pass still runs; this does not change the bits. Buffers that a forward pass changes, such as those of
  /// BatchNorm, are not combined. Clip gradients afterwards. Throws if no shard has rows.
  double backward(int64_t rows, const std::vector<Tensor>& parameters,
                  const std::function<ShardLoss(int64_t from, int64_t to)>& loss);
  /// The same for a loss of the rows of part(), computed before, of which there are `weight`, 0 if there are
  /// none: then `loss` may be undefined. Throws unless there is one shard for each process. The random
  /// numbers of all processes are equal; for dropout use the form with a function.
  double backward(const Tensor& loss, const std::vector<Tensor>& parameters, int64_t weight);

  /// The numbers of all processes, in their order.
  std::vector<double> gather(double x) { return messages_.gather(x); }
  /// The sum over all processes.
  double sum(double x) {
    const std::vector<double> all = gather(x);
    return std::accumulate(all.begin(), all.end(), 0.0);
  }
  /// Whether x is true in any process.
  bool any(bool x) { return sum(x) > 0; }
  /// The number, or the text, of process 0.
  double broadcast(double x) { return gather(x)[0]; }
  std::string broadcast(std::string text);
  /// Waits until all processes are here.
  void barrier() { gather(0); }
  /// Throws, and names the processes, unless the parameters are the same bits in all processes. Processors of
  /// different kinds may round differently.
  void check_same(const std::vector<Tensor>& parameters);
  /// Waits for the others and leaves them. Afterwards each process is a world of one.
  void end() { messages_.end(); }

 private:
  void broadcast(detail::Bytes bytes);

  detail::Messages messages_;
  int64_t shards_;
  int calls_ = 0;                             // of backward(), while it measures
  double seconds_[2] = {INFINITY, INFINITY};  // of a call, without overlap and with it
};

}  // namespace heed
