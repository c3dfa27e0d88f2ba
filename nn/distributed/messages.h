#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

/// Messages between the processes of a run. Only messages.cpp calls MPI.
namespace heed::detail {

/// A message that is being sent or received.
struct Transfer {
  int peer;           ///< The other process.
  size_t bytes;       ///< Size of the message.
  bool sends;         ///< Whether this process is the sender.
  uintptr_t request;  ///< MPI's name of it.
  bool complete = false;
};

/// The processes that mpirun started, or this one alone. Connects in the constructor and disconnects in the
/// destructor, once in a program.
///
/// Note [Signs of life]: a thread of each process sends a message to the next process four times a second, in
/// a ring, and counts how often it found none from the process before. A process that is stopped, or behind a
/// cable that was pulled, is silent; one that computes or waits for a disk is not. The counter counts
/// wake-ups and not seconds, so nothing happens when a whole run is stopped and continued. A process that
/// finds the one before it silent for too long names it and ends all processes with exit code 70.
class Messages {
 public:
  /// Throws if mpirun started several processes and heed was built without MPI. See ProcessesOptions.
  Messages(double silence, double deadline);
  /// The same as end(), unless an exception is passing: then the others end when this process does.
  ~Messages();
  Messages(const Messages&) = delete;
  /// Waits for the other processes and leaves them. Afterwards this is a world of one.
  void end();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// "process 1 of 4 (host)".
  std::string name(int rank) const;

  /// Begins to send or to receive a message. The memory must exist until it is complete. Messages of one tag
  /// between two processes arrive in order.
  Transfer send(int to, int tag, const void* data, size_t bytes);
  Transfer receive(int from, int tag, void* data, size_t bytes);
  /// Removes transfers that are complete; returns whether none is left. Throws if one has failed, or if a
  /// message has another size than expected.
  bool advance(std::vector<Transfer>& transfers);
  /// Calls `advance` until it returns true. Throws after the deadline, and names waits_for().
  void wait(const std::function<bool()>& advance, const std::function<int()>& waits_for);
  /// advance() until all transfers are complete.
  void wait(std::vector<Transfer> transfers);
  /// Returns `bytes` bytes of each process, in the order of the processes.
  std::string gather(const void* data, size_t bytes);

 private:
  void watch();

  int rank_ = 0, size_ = 1;
  const int exceptions_;
  const double silence_, deadline_;
  std::vector<std::string> hosts_;
  enum class Phase { running, ending, failed };
  std::atomic<Phase> phase_ = Phase::running;
  std::atomic<uint64_t> completed_ = 0;  // transfers
  std::thread watcher_;
};

}  // namespace heed::detail
