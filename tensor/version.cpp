#include "tensor/version.h"

#include "tensor/parallel.h"

extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
}

namespace heed {

std::string build_info() {
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ..."
  const int threads = num_threads();
  return "heed " HEED_VERSION ", " + config.substr(0, config.find(' ', config.find(' ') + 1)) + " openmp " +
         openblas_get_corename() + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace heed
