#include "nn/attention/alignment.h"

#include "autograd/ops/elementary.h"
#include "nn/debug/check_module.h"
#include "tests/support/expect.h"

TEST_CASE("Pointer: log-probabilities of the keys; masked keys and rows are -inf, without NaN in gradients") {
  manual_seed(1);
  const Pointer<AdditiveScore> pointer(AdditiveScore(3, 4, 5));
  const Tensor q = randn({2, 3, 3}), k = randn({2, 6, 4}), log_p = pointer(q, k);
  CHECK(largest_difference(exp(log_p), AttentionPooling(pointer.score)(q, k).weights) < 1e-6);
  const Mask mask = Mask::lengths(tensor({4, 0}, int64), 6);
  const Tensor masked = pointer(q, where(transpose(mask.allowed()), k, kNaN), mask);
  CHECK(largest_difference(narrow(masked[0], 1, 0, 4), pointer(q[0], narrow(k[0], 0, 0, 4))) < 1e-6);
  CHECK(all(narrow(masked[0], 1, 4, 2) == -INFINITY).item<bool>());
  CHECK(all(masked[1] == -INFINITY).item<bool>());
  F::nll_loss(masked[0], tensor({0, 3, 1}, int64)).backward();
  for (const Tensor& x : pointer.parameters()) CHECK(all(isfinite(x.grad())).item<bool>());
  const ModuleReport report =
      check_module([] { return Pointer(AdditiveScore(3, 4, 5)); }, {randn({2, 3, 3}), randn({2, 6, 4})},
                   [](const auto& m, const Tensors& in) { return m(in[0], in[1]); });
  CHECK_MESSAGE(bool(report), to_string(report));
}

TEST_CASE("copy_mixture: adds the weights of a word that appears twice; still sums to 1") {
  const Tensor generated = tensor({{{0.5, 0.25, 0.25, 0}}}, float64),
               weights = tensor({{{0.2, 0.3, 0.5}}}, float64);
  const Tensor y =
      F::copy_mixture(generated, weights, tensor({{3, 1, 3}}, int64), tensor({{{0.6}}}, float64));
  CHECK(largest_difference(values(y), Values{0.3, 0.15 + 0.12, 0.15, 0.4 * 0.7}) < 1e-15);
  const auto f = [](const Tensors& x) {
    return F::copy_mixture(x[0], x[1], tensor({{3, 1, 3}}, int64), x[2]);
  };
  const Tensors leaves{rand({1, 2, 4}, float64).requires_grad_(), rand({1, 2, 3}, float64).requires_grad_(),
                       rand({1, 2, 1}, float64).requires_grad_()};
  CHECK(gradcheck(f, leaves));
  CHECK(gradgradcheck(f, leaves));
  CHECK_ERROR_HAS(F::copy_mixture(generated, weights, tensor({{3, 1}}, int64), 1.0), "source is [1, 2]");
}

// log sum_a prod_i p(a_i | a_i-1) p(y_i | a_i) over all alignments, one after the other.
static double over_all_alignments(const Tensor& emission, const Tensor& scores, const Tensor& mask) {
  const int64_t Tq = scores.size(0), Tk = scores.size(1);
  const auto seen = [&](int64_t j) { return !mask.defined() || mask[j].item<bool>(); };
  const std::function<double(int64_t, int64_t)> from = [&](int64_t i, int64_t before) {
    if (i == Tq) return 1.0;
    double total = 0, sum = 0;
    for (int64_t j = before; j < Tk; ++j)
      if (seen(j)) total += std::exp(scores[{i, j}].item());
    for (int64_t j = before; j < Tk; ++j)
      if (seen(j)) sum += std::exp(scores[{i, j}].item() + emission[{i, j}].item()) / total * from(i + 1, j);
    return sum;
  };
  return std::log(from(0, 0));
}

TEST_CASE("hard_monotonic_log_prob: the sum over all alignments, also behind a mask; derivatives") {
  manual_seed(2);
  const Tensor e = randn({2, 4, 5}, float64), s = randn({2, 4, 5}, float64);
  const Tensor mask = tensor({{1, 1, 1, 0, 0}, {0, 1, 0, 1, 1}}, boolean);
  const Tensor all_seen = F::hard_monotonic_log_prob(e, s);
  const Tensor masked = F::hard_monotonic_log_prob(e, s, mask);
  for (int64_t b = 0; b < 2; ++b) {
    CHECK(all_seen[b].item() == doctest::Approx(over_all_alignments(e[b], s[b], {})).epsilon(1e-12));
    CHECK(masked[b].item() == doctest::Approx(over_all_alignments(e[b], s[b], mask[b])).epsilon(1e-12));
  }
  const Tensor learned = e.detach().requires_grad_();
  const Tensor posterior = grad({sum(F::hard_monotonic_log_prob(learned, s, mask))}, {learned})[0];
  CHECK(largest_difference(sum(posterior, -1), ones({2, 4}, float64)) < 1e-12);
  CHECK(magnitude(where(unsqueeze(mask, 1), 0, posterior)) == 0);
  const auto f = [&](const Tensors& x) { return F::hard_monotonic_log_prob(x[0], x[1], mask); };
  const Tensors leaves{narrow(e, 1, 0, 3).detach().requires_grad_(),
                       narrow(s, 1, 0, 3).detach().requires_grad_()};
  CHECK(gradcheck(f, leaves));
  CHECK(gradgradcheck(f, leaves));
  CHECK_ERROR_HAS(F::hard_monotonic_log_prob(e, s[0]), "log_emission is [2, 4, 5], scores are [4, 5]");
}
