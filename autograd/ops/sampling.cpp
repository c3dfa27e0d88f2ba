#include "autograd/ops/sampling.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "autograd/node.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "tensor/create.h"

namespace heed {

Tensor bernoulli(Operand p, Generator* generator) {
  const OpScope scope("bernoulli", p.line());
  check_floating(p);
  const Tensor odds = p->detach();
  check(all(logical_and(odds >= 0, odds <= 1)).item<bool>(), "p is ", p->shape(), " with values ",
        detail::range_text(odds), "; probabilities lie in [0, 1]");
  Tensor y = to(rand(p->shape(), float64, generator) < to(odds, float64), p->dtype());
  return record("bernoulli", std::move(y), {{p, "0", [](const Tensor& g) { return zeros_like(g); }}});
}

// With replacement: the first running sum above u times the total, for u uniform in [0, 1). Without: the
// positions of the smallest e_i / x_i for e exponential (Efraimidis and Spirakis, 2006).
Tensor multinomial(Operand x, int64_t num_samples, bool replacement, Generator* generator) {
  const OpScope scope("multinomial", x.line());
  check_floating(x);
  check((x->dim() == 1 || x->dim() == 2) && num_samples >= 1, "x is ", x->shape(), " and num_samples is ",
        num_samples, "; x must be [n] or [rows, n], and num_samples at least 1");
  if (!generator) generator = &default_generator();
  const std::vector<double> all_weights = x->to_vector();
  const auto n = static_cast<size_t>(x->size(-1));
  Shape shape = x->shape();
  shape[x->dim() - 1] = num_samples;
  Tensor y = Tensor::empty(shape, int64);
  auto* out = y.mutable_data<int64_t>();
  for (int64_t row = 0; row < y.numel() / num_samples; ++row) {
    const double* weights = all_weights.data() + static_cast<size_t>(row) * n;
    std::vector<double> sums;
    double total = 0;
    for (size_t i = 0; i < n; ++i) {
      check(weights[i] >= 0 && total + weights[i] < INFINITY, "weight ", i, " of row ", row, " is ",
            weights[i], "; weights must not be negative, and their sum finite");
      sums.push_back(total += weights[i]);
    }
    const int64_t possible = std::count_if(weights, weights + n, [](double w) { return w > 0; });
    check(possible >= (replacement ? 1 : num_samples), "row ", row, " has ", possible,
          " weights above 0 for ", num_samples, " samples", replacement ? "" : " without replacement");
    if (replacement) {
      for (int64_t i = 0; i < num_samples; ++i)
        *out++ = std::upper_bound(sums.begin(), sums.end(), generator->uniform() * total) - sums.begin();
      continue;
    }
    std::vector<std::tuple<bool, double, int64_t>> keys;  // impossible positions come last
    for (size_t i = 0; i < n; ++i) {
      const double e = -std::log1p(-generator->uniform());
      keys.emplace_back(weights[i] == 0, weights[i] == 0 ? 0 : e / weights[i], static_cast<int64_t>(i));
    }
    std::partial_sort(keys.begin(), keys.begin() + num_samples, keys.end());
    for (int64_t i = 0; i < num_samples; ++i) *out++ = std::get<2>(keys[static_cast<size_t>(i)]);
  }
  return record("multinomial", std::move(y), {x});
}

}  // namespace heed
