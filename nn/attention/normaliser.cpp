#include "nn/attention/normaliser.h"

#include "autograd/function.h"
#include "autograd/ops.h"
#include "tensor/table.h"

namespace heed {

static Tensor gumbel_noise(const Tensor& x) { return -log(-log(rand(x.shape(), x.dtype()))); }

// 1 at the largest of each row of `scores`, else 0; a row of p that is 0 gives 0, NaN stays. The gradient is
// that of p.
static Tensor straight_through(const Tensor& p, const Tensor& scores) {
  const auto largest = [&](const Tensor& weights) {
    if (weights.numel() == 0) return weights;
    const Tensor chosen = one_hot(argmax(scores, -1), weights.size(-1));
    return where(isnan(weights), weights, to(chosen, weights.dtype()) * to(weights > 0, weights.dtype()));
  };
  return function("hard_choice", largest, [](const Tensor& g, const Tensor&) { return g; })(p);
}

// Gumbel-max: argmax(log p + G), with G = -log(-log(u)) and uniform u, is a sample from p.
Tensor HardNormaliser::operator()(const Tensor& scores, const Mask& mask) const {
  const Tensor p = masked_softmax(scores, mask.allowed());
  return straight_through(p, log(p.detach()) + gumbel_noise(p));
}

Tensor SigmoidNormaliser::operator()(const Tensor& scores, const Mask& mask) const {
  const Tensor s = mask.allows_all() ? scores : where(mask.allowed(), scores, -INFINITY);
  if (bias) return sigmoid(s + *bias);
  const Tensor allowed = broadcast_to(mask.allows_all() ? ones({}, boolean) : mask.allowed(), s.shape());
  return sigmoid(s - log(maximum(to(sum(allowed, -1, true), s.dtype()), 1)));
}

Tensor GumbelNormaliser::operator()(const Tensor& scores, const Mask& mask) const {
  check_in("GumbelNormaliser", tau > 0, "tau is ", tau, "; it must be positive");
  const Tensor p = masked_softmax((scores + gumbel_noise(scores)) / tau, mask.allowed());
  return hard ? straight_through(p, p.detach()) : p;
}

Tensor MonotonicNormaliser::operator()(const Tensor& scores, const Mask& mask) const {
  const Tensor s = mask.allows_all() ? scores : where(mask.allowed(), scores, -INFINITY);
  Tensor p = hard ? to(s > 0, s.dtype()) : sigmoid(s);
  if (p.numel() == 0) return p;
  const Tensor passed = pad(1 - narrow(p, -1, 0, p.size(-1) - 1), {1, 0});  // 1 - p_i,j-1
  using Maps = std::vector<Tensor>;                                         // q -> a q + b, as {a, b}
  const auto join = [](const Maps& f, const Maps& g) -> Maps { return {g[0] * f[0], g[0] * f[1] + g[1]}; };
  Tensor a = broadcast_to(to(arange(p.size(-1), int64) == 0, p.dtype()), select(p, -2, 0).shape());
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < p.size(-2); ++i)
    rows.push_back(a = select(p, -2, i) * associative_scan(join, Maps{select(passed, -2, i), a}, -1)[1]);
  return stack(rows, -2);
}

HardSample sample_hard(const Tensor& scores, const Mask& mask) {
  const Tensor weights = HardNormaliser()(scores, mask).detach();
  const Tensor p = sum(weights * masked_softmax(scores, mask.allowed()), -1);  // of the choice
  return {weights, log(where(sum(weights, -1) > 0, p, 1))};
}

double RewardBaseline::operator()(const Tensor& rewards) {
  return std::exchange(mean, decay * mean + (1 - decay) * heed::mean(rewards.detach()).item());
}

Tensor F::reinforce_loss(Operand log_prob, Operand reward, double baseline, const Tensor& mask) {
  const OpScope scope("reinforce_loss", log_prob.line());
  match_dtypes(log_prob, reward);
  const Tensor terms = (reward->detach() - baseline) * log_prob;
  return -mean(mask.defined() ? masked_select(terms, mask) : terms);
}

const std::vector<std::string>& normaliser_names() {
  static const std::vector<std::string> names = {"softmax", "sparsemax", "hard",
                                                 "entmax",  "sigmoid",   "gumbel"};
  return names;
}

AnyNormaliser make_normaliser(const std::string& name) {
  if (name == "softmax") return SoftmaxNormaliser();
  if (name == "sparsemax") return SparsemaxNormaliser();
  if (name == "hard") return HardNormaliser();
  if (name == "entmax") return EntmaxNormaliser();
  if (name == "sigmoid") return SigmoidNormaliser();
  if (name == "gumbel") return GumbelNormaliser();
  fail_in("make_normaliser", "there is no normaliser ", name, "; there are ",
          detail::listed(normaliser_names()));
}

}  // namespace heed
