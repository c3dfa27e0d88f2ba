#include "autograd/debug/gradcheck.h"

#include "autograd/functional.h"
#include "autograd/grad_mode.h"
#include "tensor/create.h"
#include "tensor/lists.h"

namespace heed {
namespace {

using Tensors = std::vector<Tensor>;
using Values = std::vector<std::vector<double>>;  // of several tensors

Tensors floating(Tensors outputs) {
  std::erase_if(outputs, [](const Tensor& y) { return !is_floating(y.dtype()); });
  return outputs;
}

Values values_of(const Tensors& tensors) { return detail::mapped(tensors, &Tensor::to_vector<double>); }

// Positions of the inputs that require a gradient.
std::vector<size_t> wanted_inputs(const char* op, const Tensors& inputs) {
  std::vector<size_t> wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    if (!x.requires_grad()) continue;
    wanted.push_back(i);
    check(x.dtype() == float64, op, ": input ", i, " is ", x.dtype(), " ", x.shape(),
          "; differences are only exact enough in float64, convert with to(x, float64)");
    for (int64_t d = 0; d < x.dim(); ++d)
      check(x.shape()[d] < 2 || x.strides()[d] != 0, op, ": input ", i, " of shape ", x.shape(),
            " is expanded, so its elements cannot be perturbed one by one; pass a clone, or expand inside f");
  }
  check(!wanted.empty(), op, ": no input requires a gradient; call requires_grad_() on those to check");
  return wanted;
}

Tensors selected(const Tensors& inputs, const std::vector<size_t>& positions) {
  return detail::mapped(positions, [&](size_t i) { return inputs[i]; });
}

Tensors cotangents_for(const Tensors& outputs, uint64_t seed) {
  Generator generator(seed);
  return detail::mapped(outputs, [&](const Tensor& y) { return randn(y.shape(), y.dtype(), &generator); });
}

// <a, b - c>
double inner(const Values& a, const Values& b, const Values& c) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k)
    for (size_t i = 0; i < a[k].size(); ++i) sum += a[k][i] * (b[k][i] - c[k][i]);
  return sum;
}

}  // namespace

GradcheckReport gradcheck(const CheckedFunction& f, const Tensors& inputs, GradcheckOptions options) {
  const std::vector<size_t> wanted = wanted_inputs("gradcheck", inputs);
  const Tensors leaves = selected(inputs, wanted);
  const auto values = [&] {
    const NoGrad guard;
    return values_of(floating(f(inputs)));
  };

  const GradMode mode(true);
  const Tensors outputs = floating(f(inputs)), incoming = cotangents_for(outputs, options.seed);
  const Values recorded = values_of(outputs), cotangents = values_of(incoming);
  const Values analytic = values_of(detail::gradients_or_zeros(outputs, incoming, leaves, false));

  GradcheckReport report;
  // Updates the largest error. Returns whether this one is it, so that the report describes its place.
  const auto is_largest = [&](double expected, double found) {
    const double error = std::abs(expected - found) / std::max(1.0, std::abs(expected));
    if (error <= report.error || (std::isnan(report.error) && !report.ok)) return false;
    report.error = error;
    report.ok = report.ok && error <= options.tolerance;  // false for NaN
    return true;
  };

  const Values again = values();
  check(again.size() == recorded.size(), "gradcheck: f gives ", recorded.size(),
        " floating outputs when recorded and ", again.size(), " under NoGrad");
  for (size_t k = 0; k < again.size(); ++k)
    for (size_t i = 0; i < again[k].size(); ++i) {
      const double a = recorded[k].at(i), b = again[k][i];
      if ((std::isnan(a) && std::isnan(b)) || !is_largest(a, b)) continue;
      report.where = detail::text("output ", k, ", element ", i);
      report.message = detail::text(report.where, " is ", a, " when recorded and ", b,
                                    " under NoGrad; is there something random in f?");
    }
  if (!report.ok) return report;

  for (size_t n = 0; n < leaves.size(); ++n) {
    const Tensor& x = leaves[n];
    int64_t index = 0;
    for_each_offset(x.shape(), x.strides(), [&](int64_t offset) {
      const double before = x.data<double>()[offset];
      const auto values_at = [&](double value) {
        x.mutable_data<double>()[offset] = value;
        return values();
      };
      const double above = before + options.step, below = before - options.step;
      const Values upper = values_at(above), lower = values_at(below);
      x.mutable_data<double>()[offset] = before;

      const double numeric = inner(cotangents, upper, lower) / (above - below);
      const double found = analytic[n][static_cast<size_t>(index)];
      if (is_largest(numeric, found)) {
        report.where = detail::text("input ", wanted[n], " of shape ", x.shape(), ", element ",
                                    detail::coordinates(index, x.shape()));
        report.message = detail::text(report.where, ": numeric gradient ", numeric, ", analytic ", found);
      }
      ++index;
    });
  }
  return report;
}

GradcheckReport gradgradcheck(const CheckedFunction& f, const Tensors& inputs, GradcheckOptions options) {
  const std::vector<size_t> wanted = wanted_inputs("gradgradcheck", inputs);
  Tensors all = inputs;
  for (const Tensor& c : cotangents_for(floating(f(inputs)), options.seed)) {
    check(c.dtype() == float64, "gradgradcheck: an output is ", c.dtype(), " ", c.shape(),
          "; differences are only exact enough in float64");
    all.push_back(c.requires_grad_());
  }
  const auto gradient = [&](const Tensors& now) {
    const bool create_graph = heed::grad_enabled();
    const GradMode mode(true);
    const auto middle = now.begin() + static_cast<std::ptrdiff_t>(inputs.size());
    const Tensors x(now.begin(), middle), cotangents(middle, now.end());
    return detail::gradients_or_zeros(floating(f(x)), cotangents, selected(x, wanted), create_graph);
  };
  ++options.seed;
  GradcheckReport report = gradcheck(gradient, all, options);
  if (!report.message.empty()) report.message = "of the gradient: " + report.message;
  return report;
}

}  // namespace heed
