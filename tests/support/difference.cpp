#include "tests/support/difference.h"

#include <cmath>

#include "tensor/error.h"

namespace heed::parity {

using detail::text;

namespace {

// The part of the error that exceeds the tolerance; 0 if there is none.
double excess(double got, double want, Tolerance tolerance) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double beyond = std::fabs(got - want) - tolerance.absolute - tolerance.relative * std::fabs(want);
  return std::isnan(beyond) || std::isinf(want) ? INFINITY : std::max(beyond, 0.0);
}

}  // namespace

std::string difference(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  if (!got.defined()) return "is undefined";
  if (got.dtype() != want.dtype()) return text("dtype is ", got.dtype(), " and must be ", want.dtype());
  if (got.shape() != want.shape()) return text("shape is ", got.shape(), " and must be ", want.shape());
  return visit_dtype(want.dtype(), [&]<class T>(Type<T>) {
    const std::vector<T> mine = got.to_vector<T>(), reference = want.to_vector<T>();
    int64_t wrong = 0, worst = 0;
    double most = 0;
    for (size_t i = 0; i < reference.size(); ++i) {
      double off = mine[i] != reference[i];
      if constexpr (std::is_floating_point_v<T>) off = excess(mine[i], reference[i], tolerance);
      if (off > 0) ++wrong;
      if (off > most) most = off, worst = static_cast<int64_t>(i);
    }
    if (wrong == 0) return std::string();
    const auto value = [worst](const std::vector<T>& values) {
      return static_cast<double>(values[static_cast<size_t>(worst)]);
    };
    return text(wrong, " of ", want.numel(), " differ, most at ",
                heed::detail::coordinates(worst, want.shape()), ": is ", value(mine), " and must be ",
                value(reference));
  });
}

}  // namespace heed::parity
