#pragma once

#include <cstdint>
#include <string>

/// What the program asks of `new` and what heed's allocate() asks of the system, counted and, on request,
/// refused.
namespace faults {

/// How many there have been in all threads, and how many blocks of `new` are held.
int64_t allocations();
int64_t live_blocks();

/// Until the end of the scope the allocation with this number, from 0, fails, and all after it; or it alone,
/// which allocate() gets over by giving back what it has kept and asking again.
class Refusal {
 public:
  enum Kind { from_then_on, once };
  explicit Refusal(int64_t number, Kind kind = from_then_on);
  ~Refusal();
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;
  /// Whether any was refused.
  static bool refused();
};

}  // namespace faults
