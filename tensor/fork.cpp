#include "tensor/fork.h"

#if defined(_OPENMP)
#include <omp.h>
#include <pthread.h>

namespace heed::detail {

static std::atomic<int>* thread_count = nullptr;
static bool pool_ended = false;

bool handle_forks(std::atomic<int>& threads) {
  thread_count = &threads;
  const auto before_fork = [] { pool_ended = omp_pause_resource_all(omp_pause_soft) == 0; };
  const auto in_child = [] {
    if (!pool_ended) *thread_count = 1;
  };
  return pthread_atfork(before_fork, nullptr, in_child) == 0;
}

}  // namespace heed::detail
#endif
