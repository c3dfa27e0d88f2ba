#include "tensor/version.h"

#include "tensor/parallel.h"

extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
int openblas_get_parallel();
}

namespace heed {

std::string build_info() {
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  const int kind = openblas_get_parallel();
  const int threads = num_threads();
  return "heed " HEED_VERSION ", " + config.substr(0, config.find(' ', config.find(' ') + 1)) +
         (kind == 0   ? " serial "
          : kind == 1 ? " pthread "
                      : " openmp ") +
         openblas_get_corename() + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace heed
