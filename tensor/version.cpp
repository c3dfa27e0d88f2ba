#include "tensor/version.h"

#include "tensor/kernels/blas.h"
#include "tensor/kernels/level.h"
#include "tensor/parallel.h"

namespace heed {

std::string version_text() {
  std::string info = "heed " HEED_VERSION ", " + kernel::level_info();
  if constexpr (kernel::kHasBlas) info += ", " + kernel::blas_info();
  const int threads = num_threads();
  return info + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace heed
