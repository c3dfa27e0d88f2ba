#include "tensor/kernels/optim.h"

namespace heed::kernel {

double sum_of_powers(const Tensor& x, double p) {
  const Tensor values = contiguous(x);
  const bool largest = std::isinf(p);
  const auto join = [largest](double sum, double term) {
    return largest ? (term > sum || std::isnan(term) ? term : sum) : sum + term;
  };
  std::vector<double> parts(static_cast<size_t>((x.numel() + kSweep - 1) / kSweep));
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const T* first = values.data<T>();
    parallel_for(x.numel(), kSweep, [&](int64_t begin, int64_t end) {
      double lanes[8] = {};  // sums side by side, so that the loop becomes vector code
      const auto add = [&](auto&& power) {
        for (int64_t i = begin; i < end; i += 8)
          for (int64_t l = 0; l < 8; ++l) {
            const double value = i + l < end ? std::abs(static_cast<double>(first[i + l])) : 0;
            lanes[l] = join(lanes[l], power(value));
          }
      };
      if (p == 2)
        add(squared);
      else if (p == 1 || largest)
        add(itself);
      else
        add([p](double v) { return v == 0 ? 0 : std::pow(v, p); });  // no 0^0
      double& part = parts[static_cast<size_t>(begin / kSweep)];
      for (const double lane : lanes) part = join(part, lane);
    });
  });
  double result = 0;
  for (const double part : parts) result = join(result, part);
  return result;
}

}  // namespace heed::kernel
