#include "tensor/kernels/norm.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/in_place.h"
#include "autograd/ops/norm.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/reduce.h"

namespace heed {
namespace {

using kernel::Centre;

// (x - mean) / sqrt(var + eps) over some dimensions, or x / sqrt(mean(x^2) + eps)
Tensor standardized(const Tensor& x, const Shape& dims, double eps, Centre centre = Centre::mean) {
  const Tensor deviation = centre == Centre::mean ? x - mean(x, dims, true) : x;
  return deviation * rsqrt(mean(square(deviation), dims, true) + eps);
}

// layer_norm, or rms_norm with Centre::zero. One pass over the rows gives all three gradients.
Tensor normalize(const char* op, Centre centre, const Operand& x, const Shape& shape, const Operand& weight,
                 const Operand& bias, double eps) {
  const OpScope scope(op, x.line());
  check_floating(x);
  const int64_t lead = x->dim() - shape.dim();
  check(!shape.empty() && lead >= 0 && std::equal(shape.begin(), shape.end(), x->shape().begin() + lead),
        "normalized_shape is ", shape, " and x ", x->shape(), "; x must end in normalized_shape");
  const Shape all = check_dims(x->dim(), {}), dims(all.data() + lead, shape.dim());
  check_parameter("weight", weight, shape, x);
  check_parameter("bias", bias, shape, x);
  const ReferenceFunction reference = [centre, dims, eps](const std::vector<Tensor>& in) {
    Tensor y = standardized(in[0], dims, eps, centre);
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

// The shape in which [C] broadcasts to x [N, C, ...].
Shape channel_shape(const Tensor& x) { return Shape::filled(x.dim() - 1, 1).with(0, x.size(1)); }

// z weight + bias for each channel
Tensor scaled(Tensor z, const Tensor& weight, const Tensor& bias) {
  if (weight.defined()) z = z * reshape(weight, channel_shape(z));
  return bias.defined() ? z + reshape(bias, channel_shape(z)) : z;
}

// running = (1 - momentum) running + momentum value
void move_average(const Tensor& running, const Tensor& value, double momentum) {
  if (!running.defined()) return;
  const NoGrad guard;
  add_(mul_(running, 1 - momentum), value, momentum);
}

void check_channels(const Operand& x, const Operand& weight, const Operand& bias) {
  check_floating(x);
  check(x->dim() >= 2, "x is ", x->shape(), "; it must be [N, C, ...]");
  check_parameter("weight", weight, {x->shape()[1]}, x);
  check_parameter("bias", bias, {x->shape()[1]}, x);
}

}  // namespace

Tensor layer_norm(Operand x, const Shape& normalized_shape, Operand weight, Operand bias, double eps) {
  return normalize("layer_norm", Centre::mean, x, normalized_shape, weight, bias, eps);
}

Tensor rms_norm(Operand x, const Shape& normalized_shape, Operand weight, double eps) {
  return normalize("rms_norm", Centre::zero, x, normalized_shape, weight, {}, eps);
}

Tensor batch_norm(Operand x, const Tensor& running_mean, const Tensor& running_var, Operand weight,
                  Operand bias, bool training, double momentum, double eps) {
  const OpScope scope("batch_norm", x.line());
  check_channels(x, weight, bias);
  check_parameter("running_mean", running_mean, {x->shape()[1]}, x);
  check_parameter("running_var", running_var, {x->shape()[1]}, x);
  check(training || (running_mean.defined() && running_var.defined()),
        "evaluation needs running_mean and running_var");
  const int64_t n = x->numel() / std::max<int64_t>(1, x->shape()[1]);
  check(!training || n != 1, "x is ", x->shape(),
        ", one value in each channel, which has no variance; train on more examples, or call eval()");
  const Shape column = channel_shape(x);
  if (!training) {
    const Tensor spread = reshape(clone(running_var.detach()), column);
    return scaled((x - reshape(clone(running_mean.detach()), column)) * rsqrt(spread + eps), weight, bias);
  }
  if (x->dim() == 2) {  // as [1, C, N], whose channels are lines of memory
    const Tensor lines = unsqueeze(contiguous(transpose(x)), 0);
    const Tensor y = batch_norm(lines, running_mean, running_var, weight, bias, training, momentum, eps);
    return contiguous(transpose(squeeze(y, 0)));
  }
  const Shape dims = check_dims(x->dim(), {}).erased(1);
  const Shape channels{x->shape()[1]};
  const double size = static_cast<double>(n);
  const Tensor center = kernel::mean(x, dims, false), spread = kernel::var(x, dims, size, false);
  const ReferenceFunction reference = [=](const std::vector<Tensor>& in) {
    return scaled(standardized(in[0], dims, eps), in[1], in[2]);
  };
  const auto record_fast = [&] {
    const auto as_column = [&](const Tensor& t) { return TensorImpl::view(t, column); };
    const Tensor scale = kernel::map(spread, [eps](auto v) { return 1 / std::sqrt(v + eps); });
    const Tensor w = kernel::contiguous_or(1, weight, channels, x->dtype());
    const Tensor b = kernel::contiguous_or(0, bias, channels, x->dtype());
    Tensor y = kernel::batch_norm(x, as_column(center), as_column(kernel::mul(scale, w)), as_column(b));
    return record("batch_norm", std::move(y), {x, weight, bias},
                  [=, x = save(x), weight = save(weight)](const Tensor& g, const Tensor&) {
                    const Tensor factors = kernel::contiguous_or(1, weight(), channels, g.dtype());
                    kernel::NormGradients d = kernel::batch_norm_backward(g, x(), factors, center, scale);
                    return Gradients{d.x, d.weight, d.bias};
                  },
                  reference, nullptr,
                  {{"momentum", momentum}, {"dims", dims}, {"column", column}, {"eps", eps}},
                  {"z = ($1 − mean) / std, h = g $2: (h − mean h − z mean(h z)) / std", "Σ g z", "Σ g"});
  };
  Tensor y = reference_mode() ? reference({x, weight, bias}) : record_fast();
  if (n > 0) {
    move_average(running_mean, center, momentum);
    move_average(running_var, kernel::mul(spread, kernel::full({}, size / (size - 1), x->dtype())), momentum);
  }
  return y;
}

// The norm of each group as a row, with weight and bias for channels.
Tensor group_norm(Operand x, int64_t num_groups, Operand weight, Operand bias, double eps) {
  const OpScope scope("group_norm", x.line());
  check_channels(x, weight, bias);
  const int64_t n = x->shape()[0], channels = x->shape()[1];
  check(num_groups > 0 && channels % num_groups == 0, "x is ", x->shape(), " and num_groups is ", num_groups,
        "; it must divide the number of channels, ", channels);
  const int64_t size = numel(x->shape()) / std::max<int64_t>(1, n * num_groups);
  return scaled(reshape(layer_norm(reshape(x, {n * num_groups, size}), {size}, {}, {}, eps), x->shape()),
                weight, bias);
}

}  // namespace heed
