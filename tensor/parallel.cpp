#include "tensor/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <exception>
#include <utility>

#include "tensor/error.h"

extern "C" void openblas_set_num_threads(int threads);

namespace heed {
namespace {

// OpenMP keeps its own number for every thread that calls it; this one is the whole process's.
std::atomic<int>& threads_in_use() {
  static std::atomic<int> threads = omp_get_max_threads();
  return threads;
}

// OpenBLAS starts with as many threads as the machine has cores; see Note [Same bits] in tensor/parallel.h.
// It hands what it is told on to OpenMP, so OpenMP's own number has to be read before.
const bool blas_is_told = (threads_in_use(), openblas_set_num_threads(1), true);

// A forked child has the calling thread alone, and GCC's OpenMP would wait there for the others for ever. So
// they end before a fork, and start anew in either process when they are needed; where they cannot, inside a
// parallel loop, the child has one.
bool pool_ended = false;
const bool forks_are_told =
    pthread_atfork([] { pool_ended = omp_pause_resource_all(omp_pause_soft) == 0; }, nullptr,
                   [] {
                     if (!pool_ended) threads_in_use() = 1;
                   }) == 0;

}  // namespace

int num_threads() { return threads_in_use().load(std::memory_order_relaxed); }

void set_num_threads(int threads) {
  check(threads >= 1 && threads <= 1024, "set_num_threads: ", threads,
        " is not a number of threads from 1 to 1024");
  threads_in_use() = threads;
}

namespace detail {

void run_blocks(int64_t blocks, void (*body)(void*, int64_t), void* context) {
  if (omp_in_parallel() || num_threads() == 1) {
    for (int64_t i = 0; i < blocks; ++i) body(context, i);
    return;
  }
  std::exception_ptr error;  // of the lowest block that fails, as without threads
  int64_t failed = blocks;
  const OpScope* const calling = detail::current_scope;
#pragma omp parallel for schedule(static) num_threads(num_threads())
  for (int64_t i = 0; i < blocks; ++i) {
    const OpScope* const own = std::exchange(detail::current_scope, calling);  // for messages
    try {
      body(context, i);
    } catch (...) {
#pragma omp critical(heed_parallel_error)
      if (i < failed) {
        failed = i;
        error = std::current_exception();
      }
    }
    detail::current_scope = own;
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace heed
