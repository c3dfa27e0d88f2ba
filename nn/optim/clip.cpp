#include "nn/optim/clip.h"

#include "autograd/ops/elementwise.h"
#include "autograd/ops/logic.h"
#include "tensor/kernels/optim.h"

namespace heed {

static std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& p : parameters)
    if (const Tensor g = p.grad(); g.defined()) gradients.push_back(g);
  return gradients;
}

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       SourceLocation line) {
  const OpScope scope("clip_grad_norm_", line);
  check(max_norm >= 0 && norm_type > 0, "max_norm ", max_norm, ", norm_type ", norm_type,
        "; the first must be at least 0, the second above 0");
  const std::vector<Tensor> gradients = gradients_of(parameters);
  const bool largest = std::isinf(norm_type);
  double norm = 0;
  for (const Tensor& g : gradients) {
    const double part = kernel::sum_of_powers(g, norm_type);
    norm = largest ? (part > norm || std::isnan(part) ? part : norm) : norm + part;
  }
  if (!largest) norm = std::pow(norm, 1 / norm_type);

  const double scale = max_norm / (norm + 1e-6);
  if (scale >= 1) return norm;  // a NaN scales the gradients to NaN
  const Tensor scales[] = {kernel::full({}, scale, float32), kernel::full({}, scale, float64)};
  for (const Tensor& g : gradients) {  // does not throw
    kernel::mul_into(g, scales[g.dtype() == float64]);
    TensorImpl::of(g).storage->wrote("clip_grad_norm_", line);
  }
  return norm;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value, SourceLocation line) {
  const OpScope scope("clip_grad_value_", line);
  check(clip_value >= 0, "clip_value is ", clip_value, "; it must be at least 0");
  const std::vector<Tensor> gradients = gradients_of(parameters);
  std::vector<Tensor> clamped;
  for (const Tensor& g : gradients) clamped.push_back(clamp(g.detach(), -clip_value, clip_value));
  for (size_t i = 0; i < clamped.size(); ++i) {
    kernel::copy_into(gradients[i], clamped[i]);
    TensorImpl::of(gradients[i]).storage->wrote("clip_grad_value_", line);
  }
}

}  // namespace heed
