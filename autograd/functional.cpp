#include "autograd/functional.h"

#include "autograd/engine.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/shape.h"
#include "tensor/create.h"

namespace heed::detail {
namespace {

using Tensors = std::vector<Tensor>;

// Inputs that f can be differentiated by: of tensors that require a gradient new nodes, so that results with
// a graph lead to them.
Tensors inputs_like(const char* op, const Tensors& given, SourceLocation line) {
  const OpScope scope(op, line);
  Tensors inputs;
  for (const Tensor& x : given) inputs.push_back(x.requires_grad() ? alias(x) : x.detach().requires_grad_());
  return inputs;
}

Tensor output_of(const char* op, const TensorFunction& f, const Tensors& x, SourceLocation line) {
  Tensor y = f(x);
  const OpScope scope(op, line);
  check(is_floating(y.dtype()), "f gave ", y.dtype(), " ", y.shape(),
        "; derivatives need float32 or float64");
  return y;
}

// The gradients of <y, g>, with zeros where there is none.
Tensors gradients_or_zeros(const Tensor& y, const Tensor& g, const Tensors& x, bool create_graph,
                           SourceLocation line) {
  Tensors found(x.size());
  if (y.requires_grad())
    found =
        grad({y}, x,
             {.grad_outputs = {g}, .create_graph = create_graph, .retain_graph = true, .allow_unused = true},
             line);
  for (size_t k = 0; k < x.size(); ++k)
    if (!found[k].defined()) found[k] = zeros_like(x[k]);
  return found;
}

}  // namespace

Tensors jacobian(const TensorFunction& f, const Tensors& given, bool create_graph, SourceLocation line) {
  const GradMode recorded(true);
  const Tensors x = inputs_like("jacobian", given, line);
  const Tensor y = output_of("jacobian", f, x, line);
  std::vector<Tensors> rows(x.size());  // of the Jacobians as matrices
  for (int64_t i = 0; i < y.numel(); ++i) {
    const Tensor one = reshape(to(arange(y.numel(), int64) == i, y.dtype()), y.shape());
    const Tensors row = gradients_or_zeros(y, one, x, create_graph, line);
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

std::vector<Tensors> hessian(const TensorFunction& f, const Tensors& x, bool create_graph,
                             SourceLocation line) {
  std::vector<Tensors> rows;
  for (size_t k = 0; k < x.size(); ++k) {
    const auto gradient = [&](const Tensors& inputs) {
      const Tensor y = output_of("hessian", f, inputs, line);
      check_in("hessian", y.numel() == 1, "f gave ", y.shape(), "; it must be one number");
      return gradients_or_zeros(y, ones_like(y), inputs, true, line)[k];
    };
    rows.push_back(jacobian(gradient, x, create_graph, line));
  }
  return rows;
}

JvpResult jvp(const TensorFunction& f, const Tensors& given, const Tensors& v, bool create_graph,
              SourceLocation line) {
  const GradMode recorded(true);
  bool fits = given.size() == v.size();
  for (size_t k = 0; k < v.size() && fits; ++k) {
    fits = given[k].shape() == v[k].shape() && given[k].dtype() == v[k].dtype();
    check_in("jvp", fits, "x is ", given[k].dtype(), " ", given[k].shape(), ", v is ", v[k].dtype(), " ",
             v[k].shape(), "; they must be equal");
  }
  check_in("jvp", fits, "there are ", given.size(), " inputs and ", v.size(), " vectors; give one for each");
  const Tensors x = inputs_like("jvp", given, line);
  const Tensor y = output_of("jvp", f, x, line);
  const Tensor u = zeros_like(y).requires_grad_();
  const Tensors g = gradients_or_zeros(y, u, x, true, line);
  Tensor along = zeros_like(y);
  for (size_t k = 0; k < x.size(); ++k)
    along = along + gradients_or_zeros(g[k], v[k], {u}, create_graph, line)[0];
  return {create_graph ? y : y.detach(), along};
}

}  // namespace heed::detail
