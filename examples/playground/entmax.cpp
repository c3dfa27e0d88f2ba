#include "examples/playground/entmax.h"

namespace program {

using namespace heed;

// If the k largest z_j = s_j / 2 have the positive weights, sum_j (z_j - t)^2 = 1 gives
//
//   t = m - sqrt((1 - v) / k)      m their mean, v = sum_j (z_j - m)^2
//
// k is the largest number for which t is at most the k-th z. All k are tried at once.
Tensor entmax(const Tensor& scores) {
  const Tensor z = scores / 2, largest = amax(z, -1, true).detach();
  const Tensor sorted = sort(z - largest, -1, true).values;
  const Tensor k = arange(1, static_cast<double>(sorted.size(-1)) + 1, 1, sorted.dtype());
  const Tensor m = cumsum(sorted, -1) / k, v = cumsum(square(sorted), -1) - k * square(m);
  const Tensor possible = v < 1;
  const Tensor t = m - sqrt(where(possible, 1 - v, 1) / k);
  const Tensor positive = sum(to(logical_and(possible, t <= sorted), int64), -1, true);  // k
  return square(relu(z - largest - gather(t, -1, positive - 1)));
}

}  // namespace program
