#pragma once

#include <atomic>

/// Parallel loops in child processes.
namespace heed::detail {

/// Registers handlers so that a child process made by fork() can run parallel loops. A child has only the
/// thread that called fork(), and GCC's OpenMP would wait forever for the other threads of its pool. The
/// handlers therefore end the pool before the fork; OpenMP starts a new one in each process when needed. The
/// pool cannot end inside a parallel loop: then the child's `threads` becomes 1.
bool handle_forks(std::atomic<int>& threads);

}  // namespace heed::detail
