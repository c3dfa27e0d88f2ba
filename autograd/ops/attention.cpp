#include "tensor/kernels/attention.h"

#include "autograd/node.h"
#include "autograd/ops/attention.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "tensor/create.h"
#include "tensor/kernels/matmul.h"

namespace heed {
namespace {

void check_attention(const Operand& query, const Operand& key) {
  check_floating(query);
  check(query->dim() >= 2 && key->dim() >= 2 && query->size(-1) == key->size(-1), "query is ", query->shape(),
        ", key is ", key->shape(), "; they must be [..., Tq, D] and [..., Tk, D]");
}

double scale_of(const AttentionOptions& options, const Tensor& query) {
  return options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

kernel::AttentionRule rule_of(const AttentionOptions& options, const Tensor& query,
                              const DropoutFactors& dropout) {
  return {scale_of(options, query), options.mask, options.bias,
          options.is_causal ? options.past : kernel::AttentionRule::everything, dropout};
}

}  // namespace

Tensor attention_weights(Operand query, Operand key, const AttentionOptions& options) {
  const OpScope scope("attention_weights", query.line());
  check_attention(query, key);
  Tensor s = matmul(query * scale_of(options, query), transpose(key));
  if (options.bias.defined()) s = s + options.bias;
  Tensor mask = options.mask;
  if (options.is_causal) {
    const Tensor seen = to(tril(ones({query->size(-2), key->size(-2)}), options.past), boolean);
    mask = mask.defined() ? logical_and(mask, seen) : seen;
  }
  return masked_softmax(s, mask);
}

bool detail::needs_weights(const AttentionOptions& options) {
  return options.need_weights || (heed::grad_enabled() && options.bias.requires_grad());
}

Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionOptions& options) {
  const OpScope scope("blocked_attention", query.line());
  check_attention(query, key);
  check(value->dim() >= 2 && value->size(-2) == key->size(-2), "key is ", key->shape(), ", value is ",
        value->shape(), "; they must be [..., Tk, D] and [..., Tk, Dv]");
  for (const Tensor& x : {key.tensor(), value.tensor(), options.bias})
    check(!x.defined() || x.dtype() == query->dtype(), "query is ", query->dtype(), ", another is ",
          x.defined() ? x.dtype() : float32, "; query, key, value and bias must have one dtype");
  for (const Tensor& x : {options.mask, options.bias}) {
    if (!x.defined()) continue;
    const bool is_mask = x.same_as(options.mask);
    const auto fits = [&x](int64_t from_end, int64_t size) {
      return x.dim() < from_end || x.size(-from_end) == 1 || x.size(-from_end) == size;
    };
    check(!is_mask || x.dtype() == boolean, "the mask is ", x.dtype(), " ", x.shape(),
          "; it must be bool, true = may attend");
    check(fits(2, query->size(-2)) && fits(1, key->size(-2)), "query is ", query->shape(), ", key is ",
          key->shape(), ", ", is_mask ? "mask is " : "bias is ", x.shape(),
          "; mask and bias must broadcast to [..., Tq, Tk]");
  }
  check(!detail::needs_weights(options),
        "need_weights and a bias that needs a gradient need the weights: use attention_weights");

  Shape of_weights;
  for (const Tensor& x : {query.tensor(), key.tensor(), value.tensor(), options.mask, options.bias})
    if (x.defined() && x.dim() > 2) of_weights = broadcast_shapes(of_weights, kernel::leading(x));
  of_weights = kernel::matrix_shape(of_weights, query->size(-2), key->size(-2));
  const DropoutFactors dropout =
      options.dropout_p == 0 ? DropoutFactors() : DropoutFactors(options.dropout_p, numel(of_weights));

  const auto saved = [mask = save(options.mask), bias = save(options.bias), causal = options.is_causal,
                      past = options.past, scale = options.scale] {
    return AttentionOptions{mask(), bias(), causal, past, 0, scale};
  };
  const ReferenceFunction twin = [saved, dropout, of_weights](const std::vector<Tensor>& in) {
    Tensor weights = attention_weights(in[0], in[1], saved());
    if (dropout.p() > 0) weights = weights * dropout_mask(of_weights, dropout, weights.dtype());
    return matmul(weights, in[2]);
  };
  if (reference_mode()) return twin({query, key, value});

  const kernel::AttentionResult forward =
      kernel::attention(query, key, value, rule_of(options, query, dropout));
  return record(
      "blocked_attention", forward.y, {query, key, value},
      [q = save(query), k = save(key), v = save(value), saved, dropout, log_totals = forward.log_totals](
          const Tensor& g, const Tensor& y) {
        kernel::AttentionGradients d =
            kernel::attention_backward(g, q(), k(), v(), rule_of(saved(), q(), dropout), {y, log_totals});
        return Gradients{d.q, d.k, d.v};
      },
      twin);
}

}  // namespace heed
