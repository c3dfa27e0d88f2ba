#include "tests/support/expect.h"

// Not to_vector(): the linker may choose the instance that another source compiled without optimization.
Values values(const Tensor& x) {
  Values values;
  values.reserve(static_cast<size_t>(x.numel()));
  x.for_each([&](auto element) { values.push_back(static_cast<double>(element)); });
  return values;
}

std::string bytes_of(const Tensor& x) {
  std::string bytes;
  x.for_each([&](auto v) { bytes.append(reinterpret_cast<const char*>(&v), sizeof v); });
  return bytes;
}

double largest_difference(const Values& a, const Values& b, Difference kind) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double unit = kind == Difference::relative ? std::max(1.0, std::abs(b[i])) : 1;
    const double distance = std::abs(a[i] - b[i]) / unit;
    if (!(distance <= most)) most = std::isnan(distance) ? INFINITY : distance;
  }
  return most;
}
