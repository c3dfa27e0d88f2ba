#include "autograd/ops/sampling.h"

#include <numeric>

#include "autograd/node.h"
#include "autograd/ops/basic.h"

namespace heed {

// Throws unless x is floating, from 0 to `most`.
static void check_weights(const Operand& x, const char* name, double most, const char* rule) {
  check_floating(x);
  const Tensor w = x->detach();
  if (!all(logical_and(w >= 0, w <= most)).item<bool>())
    fail(name, " ", w.shape(), " has values ", detail::range_text(w), "; ", rule);
}

Tensor bernoulli(Operand p, Generator* generator) {
  const OpScope scope("bernoulli", p.line());
  check_weights(p, "p", 1, "probabilities lie in [0, 1]");
  Tensor y = to(rand(p->shape(), float64, generator) < to(p->detach(), float64), p->dtype());
  return record("bernoulli", std::move(y), {{p, "0", [](const Tensor& g) { return zeros_like(g); }}});
}

// A sample is the first position whose running sum exceeds u times the total, for u uniform in [0, 1).
Tensor multinomial(Operand x, int64_t num_samples, bool replacement, Generator* generator) {
  const OpScope scope("multinomial", x.line());
  check((x->dim() == 1 || x->dim() == 2) && num_samples >= 1, "x is ", x->shape(), " and num_samples is ",
        num_samples, "; x must be [n] or [rows, n], and num_samples at least 1");
  check_weights(x, "x", INFINITY, "weights must not be negative");
  if (!generator) generator = &default_generator();
  const int64_t n = x->size(-1);
  Tensor y = Tensor::empty(x->shape().with(x->dim() - 1, num_samples), int64);
  auto* out = y.mutable_data<int64_t>();
  std::vector<double> all_weights = x->to_vector(), sums(static_cast<size_t>(n) + 1);
  for (int64_t i = 0; i < y.numel(); ++i) {
    double* weights = all_weights.data() + i / num_samples * n;
    if (i % num_samples == 0 || !replacement) std::partial_sum(weights, weights + n, sums.begin() + 1);
    check(sums.back() > 0 && sums.back() < INFINITY, "row ", i / num_samples, " has the sum ", sums.back(),
          " after ", i % num_samples, " samples; it must be above 0 and finite");
    const auto first = sums.begin() + 1, last = std::lower_bound(first, sums.end(), sums.back());
    out[i] = std::upper_bound(first, last, generator->uniform() * sums.back()) - first;  // not beyond `last`
    if (!replacement) weights[out[i]] = 0;
  }
  return record("multinomial", std::move(y), {x});
}

}  // namespace heed
