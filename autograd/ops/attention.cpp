#include "autograd/ops/attention.h"

#include "autograd/node.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/shape.h"
#include "autograd/ops/softmax.h"
#include "tensor/create.h"
#include "tensor/kernels/attention.h"
#include "tensor/kernels/matmul.h"

namespace heed {
namespace {

double scale_of(const AttentionOptions& options, const Tensor& query) {
  return options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

kernel::AttentionRule rule_of(const AttentionOptions& options, const Tensor& query,
                              const DropoutFactors& dropout) {
  return {scale_of(options, query), options.mask, options.bias,
          options.is_causal ? options.past : kernel::AttentionRule::everything, dropout};
}

}  // namespace

bool detail::needs_weights(const AttentionOptions& options) {
  return options.need_weights || (heed::grad_enabled() && options.bias.requires_grad());
}

Shape detail::check_attention(const Operand& query, const Operand& key, const Operand& value,
                              const AttentionOptions& options) {
  check_floating(query);
  check(query->dim() >= 2 && key->dim() >= 2 && value->dim() >= 2 && query->size(-1) == key->size(-1) &&
            key->size(-2) == value->size(-2),
        "query is ", query->shape(), ", key is ", key->shape(), ", value is ", value->shape(),
        "; they must be [..., Tq, D], [..., Tk, D], [..., Tk, Dv]");
  for (const Tensor& x : {key.tensor(), value.tensor(), options.bias})
    check(!x.defined() || x.dtype() == query->dtype(), "query is ", query->dtype(), ", another is ",
          x.defined() ? x.dtype() : float32, "; query, key, value and bias must have one dtype");
  if (const Tensor& mask = options.mask; mask.defined())
    check(mask.dtype() == boolean, "the mask is ", mask.dtype(), " ", mask.shape(),
          "; it must be bool, true = may attend (numbers to add to the scores are a bias)");
  const Shape lead = broadcast_shapes(
      broadcast_shapes(kernel::leading(query), kernel::leading(key), "query before [T, D]", "key"),
      kernel::leading(value), "query and key before [T, D]", "value");
  return kernel::matrix_shape(lead, query->size(-2), key->size(-2));
}

void detail::check_fits_scores(const char* what, const Tensor& x, const Shape& scores) {
  if (!x.defined()) return;
  bool fits = x.dim() <= scores.dim();
  for (int64_t d = 1; fits && d <= x.dim(); ++d)
    fits = x.size(-d) == 1 || x.size(-d) == scores[scores.dim() - d];
  check(fits, "the ", what, " is ", x.shape(), " and must broadcast to the scores, [..., Tq, Tk] = ", scores,
        ": aligned at the right each of its sizes is the same or 1");
}

Tensor attention_weights(Operand query, Operand key, const AttentionOptions& options) {
  const OpScope scope("attention_weights", query.line());
  check_floating(query);
  check(query->dim() >= 2 && key->dim() >= 2 && query->size(-1) == key->size(-1), "query is ", query->shape(),
        ", key is ", key->shape(), "; they must be [..., Tq, D] and [..., Tk, D]");
  Tensor s = matmul(query * scale_of(options, query), transpose(key));
  if (options.bias.defined()) s = s + options.bias;
  Tensor mask = options.mask;
  if (options.is_causal) {
    const Tensor causal = to(tril(ones({query->size(-2), key->size(-2)}), options.past), boolean);
    mask = mask.defined() ? logical_and(mask, causal) : causal;
  }
  return masked_softmax(s, mask);
}

// y = (softmax(scale q k^T + bias) * dropout) v.   The gradients are derived in tensor/kernels/attention.cpp.
Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionOptions& options) {
  const OpScope scope("blocked_attention", query.line());
  Shape scores = detail::check_attention(query, key, value, options);
  Shape lead(scores.data(), scores.dim() - 2);  // to which mask and bias may add dimensions
  for (const Tensor& x : {options.mask, options.bias})
    if (x.defined() && x.dim() > 2) lead = broadcast_shapes(lead, kernel::leading(x));
  scores = kernel::matrix_shape(lead, query->size(-2), key->size(-2));
  detail::check_fits_scores("mask", options.mask, scores);
  detail::check_fits_scores("bias", options.bias, scores);
  check(!detail::needs_weights(options),
        "need_weights and a bias that needs a gradient need the weights: use attention_weights");

  const DropoutFactors dropout =
      options.dropout_p == 0 ? DropoutFactors() : DropoutFactors(options.dropout_p, numel(scores));
  const auto saved = [mask = save(options.mask), bias = save(options.bias), causal = options.is_causal,
                      past = options.past, scale = options.scale] {
    return AttentionOptions{mask(), bias(), causal, past, 0, scale};
  };
  const ReferenceFunction reference = [saved, dropout, scores](const std::vector<Tensor>& in) {
    Tensor weights = attention_weights(in[0], in[1], saved());
    if (dropout.p() > 0) weights = weights * dropout_mask(scores, dropout, weights.dtype());
    return matmul(weights, in[2]);
  };
  if (reference_mode()) return reference({query, key, value});

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
      reference, nullptr,
      {{"mask", options.mask},
       {"bias", options.bias},
       {"is_causal", options.is_causal},
       {"past", options.past},
       {"scale", scale_of(options, query)},
       {"dropout_p", options.dropout_p}},
      {"A = softmax($1 $2ᵀ / √d), dA = g $3ᵀ, dS = A (dA − Σ A dA): dS $2 / √d", "dSᵀ $1 / √d", "Aᵀ g"});
}

}  // namespace heed
