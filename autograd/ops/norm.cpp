#include "tensor/kernels/norm.h"

#include "autograd/node.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/reduce.h"

namespace heed {
namespace {

using kernel::Centre;

// The last dimensions, which `normalized_shape` names; weight and bias must have that shape, too.
Shape check_rows(const Operand& x, const Shape& normalized_shape, const Operand& weight,
                 const Operand& bias) {
  const int64_t lead = x->dim() - normalized_shape.dim();
  check(!normalized_shape.empty() && lead >= 0 &&
            std::equal(normalized_shape.begin(), normalized_shape.end(), x->shape().begin() + lead),
        "normalized_shape is ", normalized_shape, " and x ", x->shape(), "; x must end in normalized_shape");
  Shape dims;
  for (int64_t d = lead; d < x->dim(); ++d) dims.push_back(d);
  const auto check_parameter = [&](const char* name, const Operand& p) {
    if (!p.defined()) return;
    check(p->shape() == normalized_shape, name, " has shape ", p->shape(),
          "; it must be that of normalized_shape, ", normalized_shape);
    check(p->dtype() == x->dtype(), "x is ", x->dtype(), ", ", name, " is ", p->dtype(),
          "; they must have one dtype, convert one with to(x, ", x->dtype(), ")");
  };
  check_parameter("weight", weight);
  check_parameter("bias", bias);
  return dims;
}

// Both norms. The three gradients come from one walk over the rows.
Tensor normalize(const char* op, Centre centre, const Operand& x, const Shape& shape, const Operand& weight,
                 const Operand& bias, double eps) {
  const Calling here(op, x.line());
  check_floating(x);
  const Shape dims = check_rows(x, shape, weight, bias);
  const Twin twin = [centre, dims, eps](const std::vector<Tensor>& in) {
    const Tensor deviation = centre == Centre::mean ? in[0] - mean(in[0], dims, true) : in[0];
    Tensor y = deviation * rsqrt(mean(square(deviation), dims, true) + eps);
    if (in[1].defined()) y = y * in[1];
    return in[2].defined() ? y + in[2] : y;
  };
  if (reference_mode()) return twin({x, weight, bias});

  const int64_t n = numel(shape);
  const kernel::Normed forward = kernel::norm(centre, x, n, weight, bias, eps);
  return record(
      op, forward.y, {x, weight, bias},
      [n, shape, mean = forward.mean, scale = forward.scale, x = save(x), weight = save(weight)](
          const Tensor& g, const Tensor&) {
        kernel::NormGradients d = kernel::norm_backward(g, x(), n, weight(), {{}, mean, scale});
        const auto shaped = [&](const Tensor& row) { return TensorBody::view(row, shape); };
        return Gradients{d.x, shaped(d.weight), shaped(d.bias)};
      },
      twin);
}

}  // namespace

Tensor layer_norm(Operand x, const Shape& normalized_shape, Operand weight, Operand bias, double eps) {
  return normalize("layer_norm", Centre::mean, x, normalized_shape, weight, bias, eps);
}

Tensor rms_norm(Operand x, const Shape& normalized_shape, Operand weight, double eps) {
  return normalize("rms_norm", Centre::zero, x, normalized_shape, weight, {}, eps);
}

}  // namespace heed
