// What starting costs: a layer, run once. Prints a number, and the largest memory that the process has had,
// in KiB.
#include <sys/resource.h>

#include <cstdio>

#ifdef STARTUP_OF_LIBTORCH
#include <torch/torch.h>
namespace side = torch;
namespace nn = torch::nn;
#else
#include <heed.h>
namespace side = heed;
namespace nn = heed;
#endif

int main() {
  nn::Linear layer(10, 10);
  const float sum = side::sum(layer(side::ones({1, 10}))).item<float>();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%g %ld\n", sum, usage.ru_maxrss);
}
