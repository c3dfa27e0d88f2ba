#include "tensor/kernels/norm.h"

#include "autograd/node.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/reduce.h"

namespace heed {
namespace {

using kernel::Centre;

// The dimensions of x that normalized_shape covers.
Shape check_normalized(const Operand& x, const Shape& shape) {
  const int64_t lead = x->dim() - shape.dim();
  check(!shape.empty() && lead >= 0 && std::equal(shape.begin(), shape.end(), x->shape().begin() + lead),
        "normalized_shape is ", shape, " and x ", x->shape(), "; x must end in normalized_shape");
  Shape dims;
  for (int64_t d = lead; d < x->dim(); ++d) dims.push_back(d);
  return dims;
}

// layer_norm, or rms_norm with Centre::zero. One pass over the rows gives all three gradients.
Tensor normalize(const char* op, Centre centre, const Operand& x, const Shape& shape, const Operand& weight,
                 const Operand& bias, double eps) {
  const OpScope scope(op, x.line());
  check_floating(x);
  const Shape dims = check_normalized(x, shape);
  check_parameter("weight", weight, shape, x);
  check_parameter("bias", bias, shape, x);
  const ReferenceFunction reference = [centre, dims, eps](const std::vector<Tensor>& in) {
    const Tensor deviation = centre == Centre::mean ? in[0] - mean(in[0], dims, true) : in[0];
    Tensor y = deviation * rsqrt(mean(square(deviation), dims, true) + eps);
    if (in[1].defined()) y = y * in[1];
    return in[2].defined() ? y + in[2] : y;
  };
  if (reference_mode()) return reference({x, weight, bias});

  const int64_t n = numel(shape);
  const kernel::NormResult forward = kernel::norm(centre, x, n, weight, bias, eps);
  return record(
      op, forward.y, {x, weight, bias},
      [n, shape, mean = forward.mean, scale = forward.scale, x = save(x), weight = save(weight)](
          const Tensor& g, const Tensor&) {
        kernel::NormGradients d = kernel::norm_backward(g, x(), n, weight(), {{}, mean, scale});
        return Gradients{d.x, TensorImpl::view(d.weight, shape), TensorImpl::view(d.bias, shape)};
      },
      reference,
      [centre, n, eps](const std::vector<Tensor>& in) {
        return kernel::norm(centre, in[0], n, in[1], in[2], eps).y;
      },
      {{"normalized_shape", shape}, {"eps", eps}},
      {centre == Centre::mean ? "z = ($1 − mean) / std, h = g $2: (h − mean h − z mean(h z)) / std"
                              : "z = $1 / rms, h = g $2: (h − z mean(h z)) / rms",
       "Σ g z", "Σ g"});
}

}  // namespace

Tensor layer_norm(Operand x, const Shape& normalized_shape, Operand weight, Operand bias, double eps) {
  return normalize("layer_norm", Centre::mean, x, normalized_shape, weight, bias, eps);
}

Tensor rms_norm(Operand x, const Shape& normalized_shape, Operand weight, double eps) {
  return normalize("rms_norm", Centre::zero, x, normalized_shape, weight, {}, eps);
}

}  // namespace heed
