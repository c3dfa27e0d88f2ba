#include "autograd/functional.h"

#include "autograd/engine.h"
#include "autograd/ops/basic.h"

namespace heed {
namespace {

using Tensors = std::vector<Tensor>;

// A function's arguments and its result, recorded. Arguments that require a gradient become new nodes, so
// that results with a graph lead to them.
std::pair<Tensors, Tensor> evaluate(const char* op, const detail::TensorFunction& f, const Tensors& given,
                                    SourceLocation line) {
  Tensors x;
  for (const Tensor& input : given)
    x.push_back(input.requires_grad() ? alias({input, line}) : input.detach().requires_grad_(true, line));
  Tensor y = f(x);
  check_in(op, is_floating(y.dtype()), "f gave ", y.dtype(), " ", y.shape(),
           "; derivatives need float32 or float64");
  return {std::move(x), std::move(y)};
}

}  // namespace

Tensors detail::gradients_or_zeros(const Tensors& outputs, const Tensors& grad_outputs, const Tensors& inputs,
                                   bool create_graph, SourceLocation line) {
  Tensors used;
  GradOptions options{.create_graph = create_graph, .retain_graph = true, .allow_unused = true};
  for (size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k].requires_grad()) {
      used.push_back(outputs[k]);
      options.grad_outputs.push_back(grad_outputs[k]);
    }
  Tensors found = grad(used, inputs, options, line);
  for (size_t k = 0; k < inputs.size(); ++k)
    if (!found[k].defined()) found[k] = zeros_like(inputs[k]);
  return found;
}

Tensors jacobian(const detail::TensorFunction& f, const Tensors& given, bool create_graph,
                 SourceLocation line) {
  const GradMode recorded(true);
  const auto [x, y] = evaluate("jacobian", f, given, line);
  std::vector<Tensors> rows(x.size());  // of the Jacobians as matrices
  for (int64_t i = 0; i < y.numel(); ++i) {
    const Tensor one = reshape(to(arange(y.numel(), int64) == i, y.dtype()), y.shape());
    const Tensors row = detail::gradients_or_zeros({y}, {one}, x, create_graph, line);
    for (size_t k = 0; k < x.size(); ++k) rows[k].push_back(flatten(row[k]));
  }
  const OpScope scope("jacobian", line);
  Tensors jacobians;
  for (size_t k = 0; k < x.size(); ++k) {
    Shape shape = y.shape();
    for (const int64_t size : x[k].shape()) shape.push_back(size);
    jacobians.push_back(rows[k].empty() ? zeros(shape, x[k].dtype()) : reshape(stack(rows[k]), shape));
  }
  return jacobians;
}

std::vector<Tensors> hessian(const detail::TensorFunction& f, const Tensors& x, bool create_graph,
                             SourceLocation line) {
  std::vector<Tensors> rows;
  for (size_t k = 0; k < x.size(); ++k) {
    const auto gradient = [&](const Tensors& inputs) {
      const Tensor y = f(inputs);
      check_in("hessian", y.numel() == 1, "f gave ", y.shape(), "; it must be one number");
      return detail::gradients_or_zeros({y}, {ones_like(y)}, inputs, true, line)[k];
    };
    rows.push_back(jacobian(gradient, x, create_graph, line));
  }
  return rows;
}

JvpResult jvp(const detail::TensorFunction& f, const Tensors& given, const Tensors& v, bool create_graph,
              SourceLocation line) {
  check_in("jvp", given.size() == v.size(), "there are ", given.size(), " inputs and ", v.size(),
           " vectors; give one for each");
  const GradMode recorded(true);
  const auto [x, y] = evaluate("jvp", f, given, line);
  const Tensor u = zeros_like(y).requires_grad_();
  const Tensors g = detail::gradients_or_zeros({y}, {u}, x, true, line);
  Tensor along = zeros_like(y);
  for (size_t k = 0; k < x.size(); ++k)
    along = along + detail::gradients_or_zeros({g[k]}, {v[k]}, {u}, create_graph, line)[0];
  return {create_graph ? y : y.detach(), along};
}

}  // namespace heed
