#include "tensor/kernels/attention.h"

#include <cmath>

#include "autograd/node.h"
#include "autograd/ops.h"

namespace heed {
namespace {

void check_attention(const Operand& query, const Operand& key) {
  check_floating(query);
  check(query->dim() >= 2 && key->dim() >= 2 && query->size(-1) == key->size(-1), "query is ", query->shape(),
        ", key is ", key->shape(), "; they must be [..., Tq, D] and [..., Tk, D]");
}

double scale_of(const AttentionScores& scores, const Tensor& query) {
  return scores.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

// Whether x, a mask or a bias, leaves the sizes [..., Tq, Tk] of the scores as they are.
bool fits(const Tensor& x, int64_t Tq, int64_t Tk) {
  const auto is = [&](int64_t from_end, int64_t size) {
    return x.dim() < from_end || x.size(-from_end) == 1 || x.size(-from_end) == size;
  };
  return !x.defined() || (is(2, Tq) && is(1, Tk));
}

}  // namespace

Tensor attention_weights(Operand query, Operand key, const AttentionScores& scores) {
  const Calling here("attention_weights", query.line());
  check_attention(query, key);
  Tensor s = matmul(query * scale_of(scores, query), transpose(key));
  if (scores.bias.defined()) s = s + scores.bias;
  Tensor mask = scores.mask;
  if (scores.is_causal) {
    const Tensor past = to(tril(ones({query->size(-2), key->size(-2)})), boolean);
    mask = mask.defined() ? logical_and(mask, past) : past;
  }
  return masked_softmax(s, mask);
}

bool detail::can_block_attention(const Tensor& query, const Tensor& key, const AttentionScores& scores) {
  return fits(scores.mask, query.size(-2), key.size(-2)) && fits(scores.bias, query.size(-2), key.size(-2)) &&
         !(heed::grad_enabled() && scores.bias.requires_grad());
}

Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionScores& scores) {
  const Calling here("blocked_attention", query.line());
  check_attention(query, key);
  check(value->dim() >= 2 && value->size(-2) == key->size(-2), "key is ", key->shape(), ", value is ",
        value->shape(), "; they must be [..., Tk, D] and [..., Tk, Dv]");
  for (const Tensor& x : {key.tensor(), value.tensor(), scores.bias})
    check(!x.defined() || x.dtype() == query->dtype(), "query is ", query->dtype(), ", another is ",
          x.defined() ? x.dtype() : float32, "; query, key, value and bias must have one dtype");
  for (const Tensor& x : {scores.mask, scores.bias}) {
    if (!x.defined()) continue;
    const bool is_mask = x.same_as(scores.mask);
    check(!is_mask || x.dtype() == boolean, "the mask is ", x.dtype(), " ", x.shape(),
          "; it must be bool, true = may attend");
    check(fits(x, query->size(-2), key->size(-2)), "query is ", query->shape(), ", key is ", key->shape(),
          ", ", is_mask ? "mask is " : "bias is ", x.shape(),
          "; mask and bias must broadcast to [..., Tq, Tk]");
  }
  check(detail::can_block_attention(query, key, scores),
        "the bias needs a gradient, and so the weights: use attention_weights");

  const double scale = scale_of(scores, query);
  const auto rule = [mask = save(scores.mask), bias = save(scores.bias), scale, causal = scores.is_causal] {
    return AttentionScores{mask(), bias(), causal, scale};
  };
  const Twin twin = [rule](const std::vector<Tensor>& in) {
    return matmul(attention_weights(in[0], in[1], rule()), in[2]);
  };
  if (reference_mode()) return twin({query, key, value});

  const kernel::AttentionRule by{scale, scores.mask, scores.bias, scores.is_causal};
  const kernel::Attended forward = kernel::attention(query, key, value, by);
  return record(
      "blocked_attention", forward.y, {query, key, value},
      [q = save(query), k = save(key), v = save(value), rule, log_totals = forward.log_totals](
          const Tensor& g, const Tensor& y) {
        const AttentionScores now = rule();
        kernel::AttentionGradients d = kernel::attention_backward(
            g, q(), k(), v(), {*now.scale, now.mask, now.bias, now.is_causal}, {y, log_totals});
        return Gradients{d.q, d.k, d.v};
      },
      twin);
}

}  // namespace heed
