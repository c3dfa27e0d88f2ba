#include "examples/kernel_regression/leave_one_out.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "autograd/node.h"
#include "autograd/ops/arithmetic.h"
#include "tensor/kernels/loop.h"
#include "tensor/kernels/math.h"
#include "tensor/parallel.h"

namespace program {
namespace {

using namespace heed;

// Lengths below are in units of the kernel's width 1/w: u = (x - c) w, so that K = exp(-(t - u)^2 / 2).

constexpr int kLanes = 8;
using Lanes = std::array<double, kLanes>;

double total(const Lanes& lanes) { return std::accumulate(lanes.begin(), lanes.end(), 0.0); }

// A prediction's sums over the keys of K and K y, and their derivatives by log w.
struct Sums {
  double k = 0, ky = 0, dk = 0, dky = 0;
};

// How far the kernel reaches: n values beyond this distance add less than rounding to a sum that is near 1.
double reach(size_t n) { return std::sqrt(2 * (std::log(static_cast<double>(n)) + 35)); }

// Adds keys [begin, end) with K relative to that of a key at distance `nearest`, which keeps the sums from
// underflow: exp(-(d^2 - nearest^2) / 2). The common factor cancels in predictions and their derivatives.
void add_keys(Sums& sums, const double* x, const double* y, int64_t begin, int64_t end, double query,
              double w, double nearest) {
  Lanes k{}, ky{}, dk{}, dky{};
  const auto lane = [&](size_t l, int64_t j) {
    const double d = std::abs((x[j] - query) * w);
    const double q = (d - nearest) * (d + nearest);
    const double value = math::exp(-0.5 * q);
    k[l] += value;
    ky[l] += value * y[j];
    dk[l] -= q * value;
    dky[l] -= q * value * y[j];
  };
  int64_t j = begin;
  for (; j + kLanes <= end; j += kLanes) {
    HEED_VECTORIZE
    for (size_t l = 0; l < kLanes; ++l) lane(l, j + static_cast<int64_t>(l));
  }
  for (; j < end; ++j) lane(0, j);
  sums.k += total(k);
  sums.ky += total(ky);
  sums.dk += total(dk);
  sums.dky += total(dky);
}

// Sums over the keys around `query`, at most `skip` left out (-1: none). x is sorted.
Sums direct(const std::vector<double>& x, const std::vector<double>& y, double query, double w,
            double nearest, int64_t skip) {
  // A hair further, so that rounding cannot lose the nearest key itself.
  const double hair = 4 * std::numeric_limits<double>::epsilon();
  const double far = std::hypot(nearest, reach(x.size())) / w * (1 + hair) + std::abs(query) * hair;
  const auto begin = std::lower_bound(x.begin(), x.end(), query - far) - x.begin();
  const auto end = std::upper_bound(x.begin(), x.end(), query + far) - x.begin();
  Sums sums;
  add_keys(sums, x.data(), y.data(), begin, skip < 0 ? end : skip, query, w, nearest);
  if (skip >= 0) add_keys(sums, x.data(), y.data(), skip + 1, end, query, w, nearest);
  return sums;
}

// Many queries t near a centre share the sums over the keys u:
//
//   sum_j exp(-(t - u_j)^2 / 2) y_j = exp(-t^2 / 2) sum_k t^k M_k
//   M_k = sum_j exp(-u_j^2 / 2) u_j^k y_j / k!
//
// With |t| <= 1/2 the terms after the 25th are below 1e-20 of the sum of the kernel values.
constexpr int kTerms = 26;

struct Moments {
  std::array<double, kTerms> k, ky;  // for K and for K y

  Moments(const double* x, const double* y, int64_t begin, int64_t end, double centre, double w) {
    std::array<Lanes, kTerms> sum_k{}, sum_ky{};
    for (int64_t j = begin; j < end; j += kLanes) {
      Lanes u{}, a{}, b{};
      for (size_t l = 0; l < kLanes; ++l) {
        const int64_t at = std::min(j + static_cast<int64_t>(l), end - 1);
        u[l] = (x[at] - centre) * w;
        a[l] = j + static_cast<int64_t>(l) < end ? math::exp(-0.5 * u[l] * u[l]) : 0;
        b[l] = a[l] * y[at];
      }
      for (size_t term = 0; term < kTerms; ++term)
        for (size_t l = 0; l < kLanes; ++l) {
          sum_k[term][l] += a[l];
          sum_ky[term][l] += b[l];
          a[l] *= u[l];
          b[l] *= u[l];
        }
    }
    double factorial = 1;
    for (size_t term = 0; term < kTerms; factorial *= static_cast<double>(++term)) {
      k[term] = total(sum_k[term]) / factorial;
      ky[term] = total(sum_ky[term]) / factorial;
    }
  }

  // p, p', p'' at t by Horner's rule give the sums of K and of -(t - u)^2 K.
  static void evaluate(const std::array<double, kTerms>& coefficients, double t, double& value,
                       double& derivative) {
    double p = 0, p1 = 0, p2 = 0;
    for (size_t term = kTerms; term-- > 0;) {
      p2 = p2 * t + 2 * p1;
      p1 = p1 * t + p;
      p = p * t + coefficients[term];
    }
    const double factor = std::exp(-0.5 * t * t);
    value = factor * p;
    derivative = -factor * (t * t * p - 2 * t * p1 + p2);
  }

  Sums at(double t) const {
    Sums sums;
    evaluate(k, t, sums.k, sums.dk);
    evaluate(ky, t, sums.ky, sums.dky);
    return sums;
  }
};

double square_of(double x) { return x * x; }

}  // namespace

// For each point in sorted order.
struct LeaveOneOut::Sweep {
  std::vector<double> without, with;
  std::vector<double> slope;  // of `without`, by log w
};

LeaveOneOut::LeaveOneOut(const std::vector<double>& x, const std::vector<double>& y)
    : x_(x.size()), y_(y.size()), order_(x.size()) {
  check(x.size() == y.size(), "leave_one_out: there are ", x.size(), " x and ", y.size(),
        " y; each point needs both");
  check(x.size() >= 2, "leave_one_out: there are ", x.size(), " points; at least 2 are needed");
  const auto finite = [](double v) { return std::isfinite(v); };
  check(std::all_of(x.begin(), x.end(), finite) && std::all_of(y.begin(), y.end(), finite),
        "leave_one_out: x and y must be finite numbers");
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
    return x[static_cast<size_t>(a)] < x[static_cast<size_t>(b)];
  });
  mean_ = static_cast<double>(std::accumulate(y.begin(), y.end(), 0.0L) / static_cast<long double>(y.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    x_[i] = x[static_cast<size_t>(order_[i])];
    y_[i] = y[static_cast<size_t>(order_[i])] - mean_;
  }
}

// Neighbours within one kernel width form a cell. In a cell of many points the moments around its middle are
// computed once; in a cell of few each point sums its own keys. Either way a key is looked at by few cells,
// so that one sweep costs about n times a constant for every w.
LeaveOneOut::Sweep LeaveOneOut::sweep(double w) const {
  const int64_t n = static_cast<int64_t>(x_.size());
  const double* x = x_.data();
  const double* y = y_.data();
  Sweep result{std::vector<double>(x_.size()), std::vector<double>(x_.size()),
               std::vector<double>(x_.size())};

  std::vector<int64_t> cells;
  for (int64_t i = 0; i < n; ++i)
    if (cells.empty() || (x[i] - x[cells.back()]) * w > 1) cells.push_back(i);
  cells.push_back(n);

  // `sums` leave the point itself out and are relative to exp(-nearest^2 / 2); its own K is 1.
  const auto predict = [&](int64_t i, const Sums& sums, double nearest) {
    const size_t at = static_cast<size_t>(i);
    const double scale = std::exp(-0.5 * nearest * nearest);
    result.without[at] = sums.ky / sums.k;
    result.with[at] = (sums.ky * scale + y[i]) / (sums.k * scale + 1);
    result.slope[at] = (sums.dky - result.without[at] * sums.dk) / sums.k;
  };

  const auto run_cell = [&](int64_t first, int64_t last) {
    if (last - first <= kTerms) {
      for (int64_t i = first; i < last; ++i) {
        const double left = i > 0 ? x[i] - x[i - 1] : std::numeric_limits<double>::infinity();
        const double right = i + 1 < n ? x[i + 1] - x[i] : std::numeric_limits<double>::infinity();
        const double nearest = std::min(left, right) * w;
        predict(i, direct(x_, y_, x[i], w, nearest, i), nearest);
      }
      return;
    }
    const double centre = x[first] + 0.5 * (x[last - 1] - x[first]);
    const double far = (reach(x_.size()) + 1) / w;
    const auto begin = std::lower_bound(x_.begin(), x_.end(), centre - far) - x_.begin();
    const auto end = std::upper_bound(x_.begin(), x_.end(), centre + far) - x_.begin();
    const Moments moments(x, y, begin, end, centre, w);
    for (int64_t i = first; i < last; ++i) {
      Sums sums = moments.at((x[i] - centre) * w);
      sums.k -= 1;  // a neighbour is within one width, so this loses nothing
      sums.ky -= y[i];
      predict(i, sums, 0);
    }
  };
  const int64_t count = static_cast<int64_t>(cells.size()) - 1;
  parallel_for(count, (count + 255) / 256, [&](int64_t begin, int64_t end) {
    for (int64_t cell = begin; cell < end; ++cell)
      run_cell(cells[static_cast<size_t>(cell)], cells[static_cast<size_t>(cell) + 1]);
  });
  return result;
}

LeaveOneOut::Score LeaveOneOut::score(double w) const {
  check(std::isfinite(w), "leave_one_out: w is ", w, "; it must be a finite number");
  const Sweep points = sweep(std::abs(w));
  long double loss = 0, slope = 0, training = 0;
  for (size_t i = 0; i < x_.size(); ++i) {
    const double residual = points.without[i] - y_[i];
    loss += square_of(residual);
    slope += 2 * residual * points.slope[i];
    training += square_of(points.with[i] - y_[i]);
  }
  const auto n = static_cast<long double>(x_.size());
  return {static_cast<double>(loss / n), w == 0 ? 0 : static_cast<double>(slope / n) / w,
          static_cast<double>(training / n)};
}

Tensor LeaveOneOut::loss(Operand w) const {
  check_floating(w);
  const Score at = score(w->item());
  Tensor value = Tensor::empty(w->shape(), w->dtype());
  visit_floating(w->dtype(), [&]<class T>(Type<T>) { *value.mutable_data<T>() = static_cast<T>(at.loss); });
  return record("leave_one_out", value, {{w, [slope = at.slope](const Tensor& g) {
                                            check(!grad_enabled(),
                                                  "leave_one_out: has a first derivative only; for a second "
                                                  "use NadarayaWatson and mse_loss");
                                            return g * slope;
                                          }}});
}

LeaveOneOut::Predictions LeaveOneOut::predictions(double w) const {
  const Sweep points = sweep(std::abs(w));
  Predictions result{std::vector<double>(x_.size()), std::vector<double>(x_.size())};
  for (size_t i = 0; i < x_.size(); ++i) {
    result.without[static_cast<size_t>(order_[i])] = points.without[i] + mean_;
    result.with[static_cast<size_t>(order_[i])] = points.with[i] + mean_;
  }
  return result;
}

std::vector<double> LeaveOneOut::predict(const std::vector<double>& queries, double w) const {
  w = std::abs(w);
  std::vector<double> result(queries.size());
  parallel_for(static_cast<int64_t>(queries.size()), 8, [&](int64_t begin, int64_t end) {
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const auto after = std::lower_bound(x_.begin(), x_.end(), queries[i]);
      double nearest = std::numeric_limits<double>::infinity();
      if (after != x_.end()) nearest = *after - queries[i];
      if (after != x_.begin()) nearest = std::min(nearest, queries[i] - *(after - 1));
      const Sums sums = direct(x_, y_, queries[i], w, nearest * w, -1);
      result[i] = sums.ky / sums.k + mean_;
    }
  });
  return result;
}

// All but the nearest others have vanished when (second^2 - nearest^2) w^2 / 2 > 40 for every point, `second`
// being its next larger distance. Distances that differ by rounding alone count as equal.
LeaveOneOut::Bounds LeaveOneOut::bounds() const {
  const int64_t n = static_cast<int64_t>(x_.size());
  const double range = x_.back() - x_.front();
  const double largest = std::max(std::abs(x_.front()), std::abs(x_.back()));
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * largest;

  std::vector<double> places(x_);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const int64_t m = static_cast<int64_t>(places.size());
  double root_gap = range;  // the least sqrt(second^2 - nearest^2)
  int64_t first = 0;        // where the copies of a place begin in x
  for (int64_t i = 0; i < m; ++i) {
    const double place = places[static_cast<size_t>(i)];
    const int64_t begin = first;
    while (first < n && x_[static_cast<size_t>(first)] == place) ++first;
    // Two others on either side have the smallest distances, and 0 if the place is taken twice.
    const auto each_distance = [&](auto&& visit) {
      if (first - begin > 1) visit(0.0);
      for (int64_t other = std::max<int64_t>(i - 2, 0); other <= std::min(i + 2, m - 1); ++other)
        if (other != i) visit(std::abs(places[static_cast<size_t>(other)] - place));
    };
    double nearest = range, second = std::numeric_limits<double>::infinity();
    each_distance([&](double d) { nearest = std::min(nearest, d); });
    each_distance([&](double d) {
      if (d - nearest > rounding) second = std::min(second, d);
    });
    root_gap = std::min(root_gap, std::sqrt(second - nearest) * std::sqrt(second + nearest));
  }
  return {1e-9 / range, 9 / root_gap};
}

}  // namespace program
