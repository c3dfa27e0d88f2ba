#include "tensor/parallel.h"

#include <omp.h>

#include <exception>

#include "tensor/error.h"

extern "C" void openblas_set_num_threads(int threads);

namespace heed {

int num_threads() { return omp_get_max_threads(); }

void set_num_threads(int threads) {
  check(threads >= 1 && threads <= 1024, "set_num_threads: ", threads,
        " is not a number of threads from 1 to 1024");
  omp_set_num_threads(threads);
  openblas_set_num_threads(1);  // see Note [Same bits]
}

namespace {
// OpenBLAS starts with as many threads as the machine has cores; before main it is told to use one.
const bool blas_is_serial = (openblas_set_num_threads(1), true);
}  // namespace

namespace detail {

void run_blocks(int64_t blocks, void (*body)(void*, int64_t), void* context) {
  if (omp_in_parallel() || num_threads() == 1) {
    for (int64_t i = 0; i < blocks; ++i) body(context, i);
    return;
  }
  std::exception_ptr error;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < blocks; ++i) {
    try {
      body(context, i);
    } catch (...) {
#pragma omp critical(heed_parallel_error)
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail
}  // namespace heed
