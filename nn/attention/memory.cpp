#include "nn/attention/memory.h"

#include "autograd/ops/basic.h"
#include "autograd/ops/sort.h"
#include "nn/attention/scaled_dot_product.h"

namespace heed {

Tensor F::hopfield_retrieve(Operand state, Operand patterns, const HopfieldOptions& options) {
  const OpScope scope("hopfield_retrieve", state.line());
  check(options.max_steps >= 0 && options.tolerance >= 0, "max_steps is ", options.max_steps, ", tolerance ",
        options.tolerance, "; neither may be negative");
  const AttentionOptions update{.mask = options.mask, .scale = options.beta};
  Tensor xi = state;
  for (int64_t i = 0; i < options.max_steps; ++i) {
    const Tensor next = scaled_dot_product_attention(xi, patterns, patterns, update).output;
    const Tensor change = (next - xi).detach();
    xi = next;
    if (change.numel() == 0 || max(abs(change)).item() <= options.tolerance) break;
  }
  return xi;
}

AllKeys keep_keys(const CoreInputs& in) {
  check_in("MultiheadAttention", !in.options.bias.defined(), "this core has no place for a bias");
  const auto all = [&](size_t i, const Tensor& x) {
    if (!x.defined()) return in.state[i];
    return in.state.empty() ? x : cat({in.state[i], x}, 2);
  };
  in.state = {all(0, in.k), all(1, in.v)};
  Mask mask(in.options.mask);
  if (in.options.is_causal) mask = mask & Mask::causal(in.q.size(2), in.options.past);
  return {in.state[0], in.state[1], mask};
}

Tensor Hopfield::operator()(const CoreInputs& in) const {
  const AllKeys all = keep_keys(in);
  const HopfieldOptions settle{options.beta, options.max_steps - 1, options.tolerance, all.mask};
  const AttentionOptions last{.mask = all.mask, .scale = options.beta};
  const Tensor query = F::hopfield_retrieve(in.q, all.keys, settle);
  return F::scaled_dot_product_attention(query, all.keys, all.values, last).output;
}

Tensor NearestNormaliser::operator()(const Tensor& scores, const Mask& mask) const {
  const OpScope scope("NearestNormaliser");
  check(neighbors > 0, "neighbors is ", neighbors, "; it must be positive");
  const Tensor allowed = mask.allows_all() ? scores : where(mask.allowed(), scores, -INFINITY);
  const auto [nearest, positions] = topk(allowed, std::min(neighbors, scores.size(-1)));
  return scatter_add(zeros_like(allowed), -1, positions, masked_softmax(nearest));
}

}  // namespace heed
