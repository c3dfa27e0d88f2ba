#include "tensor/parallel.h"

#include <atomic>
#include <exception>
#include <utility>

#include "tensor/error.h"

#if defined(_OPENMP)
#include <omp.h>
#include <pthread.h>
#define HEED_OMP(directive) _Pragma(#directive)
#else  // one thread
#define HEED_OMP(directive)
static int omp_get_max_threads() { return 1; }
static bool omp_in_parallel() { return true; }
#endif

namespace heed {

// OpenMP has one such number for each thread that calls it; this one is for the whole process.
static std::atomic<int>& threads_in_use() {
  static std::atomic<int> threads = omp_get_max_threads();
  return threads;
}

#if defined(_OPENMP)
// A child process made by fork() has only the thread that called it, and GCC's OpenMP would wait forever for
// the other threads of its pool. The pool therefore ends before the fork; OpenMP starts a new one in each
// process when needed. It cannot end inside a parallel loop: then the child uses one thread.
const bool forks_are_handled = [] {
  static std::atomic<int>& threads = threads_in_use();
  static bool pool_ended = false;
  const auto before_fork = [] { pool_ended = omp_pause_resource_all(omp_pause_soft) == 0; };
  const auto in_child = [] {
    if (!pool_ended) threads = 1;
  };
  return pthread_atfork(before_fork, nullptr, in_child) == 0;
}();
#endif

int num_threads() { return threads_in_use().load(std::memory_order_relaxed); }

void set_num_threads(int threads) {
  check(threads >= 1 && threads <= 1024, "set_num_threads: ", threads,
        " is not a number of threads from 1 to 1024");
  threads_in_use() = threads;
}

void detail::run_blocks(int64_t blocks, void (*body)(const void*, int64_t), const void* context) {
  if (omp_in_parallel() || num_threads() == 1) {
    for (int64_t i = 0; i < blocks; ++i) body(context, i);
    return;
  }
  std::exception_ptr error;  // of the lowest block that failed, as in a loop without threads
  int64_t failed = blocks;
  const OpScope* const caller = detail::current_scope;
  HEED_OMP(omp parallel for schedule(static) num_threads(num_threads()))
  for (int64_t i = 0; i < blocks; ++i) {
    const OpScope* const own = std::exchange(detail::current_scope, caller);  // for error messages
    try {
      body(context, i);
    } catch (...) {
      HEED_OMP(omp critical(heed_parallel_error))
      if (i < failed) {
        failed = i;
        error = std::current_exception();
      }
    }
    detail::current_scope = own;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace heed
