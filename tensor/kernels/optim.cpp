#include "tensor/kernels/optim.h"

#include <numeric>

namespace heed::kernel {

double sum_of_powers(const Tensor& x, double p) {
  const Tensor values = contiguous(x);
  const bool largest = std::isinf(p);
  const auto join = [largest](double sum, double term) {
    return largest ? (term > sum || std::isnan(term) ? term : sum) : sum + term;
  };
  std::vector<double> parts(static_cast<size_t>(ceil_div(x.numel(), kSweep)));
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    parallel_for(x.numel(), kSweep, [&, first = values.data<T>()](int64_t begin, int64_t end) {
      // join(...join(0, power(|x_begin|))..., power(|x_{end-1}|)) in eight lanes side by side, which the
      // compiler vectorizes
      const auto part = [&](const auto& power) {
        double lanes[8] = {}, result = 0;
        for (int64_t i = begin; i < end; i += 8)
          for (int64_t l = 0; l < 8; ++l)
            lanes[l] = join(lanes[l], power(i + l < end ? std::abs(static_cast<double>(first[i + l])) : 0));
        for (const double lane : lanes) result = join(result, lane);
        return result;
      };
      parts[static_cast<size_t>(begin / kSweep)] =
          p == 2 ? part([](double v) { return v * v; })
          : p == 1 || largest
              ? part(std::identity())
              : part([p](double v) { return v == 0 ? 0 : std::pow(v, p); });  // 0^0 counts as 0
    });
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0, join);
}

}  // namespace heed::kernel
