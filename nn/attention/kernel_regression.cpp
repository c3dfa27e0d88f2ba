#include "nn/attention/kernel_regression.h"

#include "autograd/ops.h"
#include "nn/attention/pooling.h"

namespace heed {

const char* name_of(SmoothingKernel kernel) {
  constexpr const char* names[] = {"gaussian", "boxcar", "epanechnikov", "triangular", "constant"};
  return names[static_cast<size_t>(kernel)];
}

Tensor kernel_value(SmoothingKernel kernel, Operand squared_distance) {
  const Tensor& s = squared_distance;
  if (kernel == SmoothingKernel::gaussian) return exp(-0.5 * s);
  if (kernel == SmoothingKernel::boxcar) return to(s < 1, s.dtype());
  if (kernel == SmoothingKernel::epanechnikov) return relu(1 - s);
  if (kernel == SmoothingKernel::constant) return ones_like(s);
  check_in("kernel_value", kernel == SmoothingKernel::triangular, "not a kernel");
  // The derivative of sqrt is infinite at 0, so 0 is replaced before it.
  const Tensor positive = s > 0;
  return relu(1 - where(positive, sqrt(where(positive, s, 1)), 0));
}

Tensor kernel_weights(Operand queries, Operand keys, SmoothingKernel kernel, Operand w, const Mask& mask) {
  const Tensor s = squared_distances(queries, keys, w);
  if (kernel == SmoothingKernel::gaussian) return masked_softmax(-0.5 * s, mask.allowed());
  Tensor value = kernel_value(kernel, s);
  if (!mask.allows_all()) value = where(mask.allowed(), value, 0);
  const Tensor total = sum(value, -1, true);
  return value / where(total > 0, total, 1);
}

NadarayaWatson::NadarayaWatson(const NadarayaWatsonOptions& options) : kernel(options.kernel) {
  check_in("NadarayaWatson",
           !options.learn || (kernel != SmoothingKernel::boxcar && kernel != SmoothingKernel::constant),
           "the ", kernel,
           " kernel has no slope in w, so w cannot be learned; take gaussian, epanechnikov or triangular");
  (options.learn ? static_cast<OwnedTensor&>(w) : fixed_w) = full({1}, options.w, options.dtype);
}

Tensor NadarayaWatson::weights(const Tensor& queries, const Tensor& keys, OwnPoint own) const {
  const Tensor width = w.defined() ? Tensor(w) : Tensor(fixed_w);
  if (own == OwnPoint::keep) return kernel_weights(queries, keys, kernel, width);
  check_in("NadarayaWatson", queries.shape() == keys.shape(), "queries are ", queries.shape(), ", keys ",
           keys.shape(), "; to exclude each point from its own prediction, give the keys as queries");
  return kernel_weights(queries, keys, kernel, width, eye(keys.size(keys.dim() == 1 ? 0 : -2)) == 0);
}

Tensor NadarayaWatson::forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                               OwnPoint own) const {
  return attention_pool(weights(queries, keys, own), values);
}

}  // namespace heed
