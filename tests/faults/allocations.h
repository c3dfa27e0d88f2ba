#pragma once

#include <cstdint>

/// Counts the allocations by `new` and those of heed's allocate(), and makes them fail on request.
namespace faults {

/// Number of allocations so far in all threads, and of blocks of `new` in use.
int64_t allocations();
int64_t live_blocks();

/// Until the end of the scope, the allocation with this number, counted from 0, fails. With from_then_on all
/// later ones fail too; with `once`, allocate() frees its cache and tries again.
class AllocationFailure {
 public:
  enum Kind { from_then_on, once };
  explicit AllocationFailure(int64_t number, Kind kind = from_then_on);
  ~AllocationFailure();
  AllocationFailure(const AllocationFailure&) = delete;
  AllocationFailure& operator=(const AllocationFailure&) = delete;
  /// Whether any allocation has failed.
  static bool happened();
};

}  // namespace faults
