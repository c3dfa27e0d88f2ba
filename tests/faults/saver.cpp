// Saves one file repeatedly until kills.sh kills it: saver FILE. With --check FILE, checks that the file is
// complete and prints the number of its round.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "nn/files/safetensors.h"
#include "tensor/create.h"

using namespace heed;

int main(int count, char** arguments) {
  if (count == 3) {
    const Safetensors read = load_safetensors(arguments[2]);
    const std::string& round = read.metadata.at("round");
    if (read.tensors.size() != 3) return 1;
    for (const auto& [name, x] : read.tensors)
      for (const double value : x.to_vector())
        if (value != std::strtod(round.c_str(), nullptr)) return 1;
    std::printf("%s\n", round.c_str());
    return 0;
  }
  // Starts from the process id, so that processes write different files.
  for (int64_t round = 1000 * int64_t{getpid()};; ++round) {
    const Scalar n = static_cast<double>(round);
    const Shape large = {100 + round % 7, 1000};
    save_safetensors(
        arguments[1],
        {{"a", full(large, n, float64)}, {"b", full({3}, n, int64)}, {"c", full(large, n, float64)}},
        {{"round", std::to_string(round)}});
  }
}
