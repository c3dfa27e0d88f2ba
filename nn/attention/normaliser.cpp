#include "nn/attention/normaliser.h"

#include "autograd/function.h"
#include "autograd/ops.h"
#include "tensor/table.h"

namespace heed {

Tensor HardNormaliser::operator()(const Tensor& scores, const Mask& mask) const {
  // Gumbel-max: argmax(log p + G), with G = -log(-log(u)) and uniform u, is a sample from p.
  const auto draw = function(
      "hard_choice",
      [](const Tensor& p) {
        if (p.numel() == 0) return p;
        const Tensor noise = -log(-log(rand(p.shape(), p.dtype())));
        const Tensor chosen = one_hot(argmax(log(p) + noise, -1), p.size(-1));
        return where(isnan(p), p, to(chosen, p.dtype()) * to(p > 0, p.dtype()));
      },
      [](const Tensor& g, const Tensor&) { return g; });
  return draw(masked_softmax(scores, mask.allowed()));
}

const std::vector<std::string>& normaliser_names() {
  static const std::vector<std::string> names = {"softmax", "sparsemax", "hard"};
  return names;
}

AnyNormaliser make_normaliser(const std::string& name) {
  if (name == "softmax") return SoftmaxNormaliser();
  if (name == "sparsemax") return SparsemaxNormaliser();
  if (name == "hard") return HardNormaliser();
  fail_in("make_normaliser", "there is no normaliser ", name, "; there are ",
          detail::listed(normaliser_names()));
}

}  // namespace heed
