#pragma once

#include <atomic>
#include <span>
#include <thread>

#include "tensor/lists.h"

/// Messages between the processes of a run. Only messages.cpp calls MPI.
namespace heed::detail {

using Bytes = std::span<std::byte>;  ///< Memory that is sent or received.
/// Returns the messages from one process to another one, in order.
using MessagesBetween = std::function<std::vector<Bytes>(int from, int to)>;

/// A message on its way.
struct Transfer {
  bool sends;     ///< Whether this process is the sender.
  int peer;       ///< The other process.
  Bytes bytes;    ///< What is sent, or where it is received.
  void* request;  ///< MPI's name of it.
};
using Transfers = std::vector<Transfer>;  ///< Messages on their way.

/// The processes that mpirun started, or this one alone. A program connects once.
///
/// Note [Signs of life]: a thread of each process sends a message to the next process four times a second, in
/// a ring, and counts how often it found none from the process before. A process that is stopped, or behind a
/// cable that was pulled, is silent; one that computes or waits for a disk is not. The counter counts
/// wake-ups and not seconds, so nothing happens when a whole run is stopped and continued. A process that
/// finds the one before it silent for too long names it and ends all processes with exit code 70.
class Messages {
 public:
  /// Connects. Throws if mpirun started several processes and heed was built without MPI. The numbers are
  /// those of ProcessesOptions.
  Messages(double silence, double deadline);
  /// The same as end(), unless an exception is passing: then the others end when this process does.
  ~Messages();
  /// Waits for the other processes and leaves them. Afterwards this is a world of one.
  void end();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// "process 1 of 4 (host)".
  std::string name(int rank) const;

  /// Begins to send and receive the messages between this process and all others. The memory must exist until
  /// they are complete. Messages of one tag between two processes arrive in order.
  Transfers start(int tag, const MessagesBetween& messages);
  /// Removes what is complete; returns whether nothing is left. Throws if a transfer has failed, or if a
  /// message has another size than expected.
  bool advance(Transfers& transfers);
  /// Calls `advance` until it returns true. Throws after the deadline.
  void wait(const std::function<bool()>& advance) const;
  void wait(Transfers transfers) {
    wait([&] { return advance(transfers); });
  }
  /// The values of all processes, in the order of the processes.
  template <class T>
  std::vector<T> gather(const T& x) {
    std::vector<T> all(size_t(size_), x);
    wait(start(1, [&](int from, int) {
      return std::vector{std::as_writable_bytes(std::span(all).subspan(size_t(from), 1))};
    }));
    return all;
  }

 private:
  enum class Phase { running, ending, failed };
  void connect();
  void watch();

  int rank_ = 0, size_ = 1;
  const int exceptions_;
  const double silence_, deadline_;
  std::vector<std::string> hosts_;
  std::atomic<Phase> phase_ = Phase::running;
  std::atomic<double> silent_ = 0;  // seconds without a sign of life or a complete transfer
  std::thread watcher_;
};

}  // namespace heed::detail
