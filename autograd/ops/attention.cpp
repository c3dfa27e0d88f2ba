#include "autograd/ops/attention.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/attention.h"
#include "tensor/kernels/matmul.h"

namespace heed {
namespace {

bool causal(const AttentionOptions& options) { return options.is_causal || options.window; }

double scale_of(const AttentionOptions& options, const Tensor& query) {
  return options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

// x [..., n] as [..., 1, n], and x [...] as [..., 1, 1]
Tensor as_row(const Tensor& x) { return x.defined() ? unsqueeze(x, -2) : x; }
Tensor as_matrix(const Tensor& x) { return as_row(x.defined() ? unsqueeze(x, -1) : x); }

kernel::AttentionRule rule_of(const AttentionOptions& options, const Tensor& query,
                              const DropoutFactors& dropout) {
  return {.scale = scale_of(options, query),
          .allowed = options.mask,
          .bias = options.bias,
          .past = causal(options) ? options.past : kernel::AttentionRule::everything,
          .dropout = dropout,
          .window = options.window.value_or(2 * kernel::AttentionRule::everything),
          .sinks = options.sinks,
          .soft_cap = options.soft_cap,
          .positions = as_row(options.position_bias),
          .sink = as_matrix(options.sink_logit)};
}

// Which keys each query may attend to by the mask and by its position, past + i: bool, broadcasts to
// [..., Tq, Tk]; undefined if it may to all.
Tensor allowed_keys(const AttentionOptions& options, int64_t Tq, int64_t Tk) {
  if (!causal(options)) return options.mask;
  const Tensor i = unsqueeze(arange(Tq, int64) + options.past, 1), j = arange(Tk, int64);
  const Tensor allowed =
      options.window ? logical_and(j <= i, logical_or(j > i - *options.window, j < options.sinks)) : j <= i;
  return options.mask.defined() ? logical_and(options.mask, allowed) : allowed;
}

// The softmax of the scores s and one more, the sink [..., 1, 1], whose weight is left out.
Tensor softmax_with_sink(const Tensor& s, Tensor mask, const Tensor& sink) {
  const Shape lead = broadcast_shapes(kernel::leading(s), kernel::leading(sink));
  const auto expanded = [&](const Tensor& x) {
    return expand(x, kernel::matrix_shape(lead, s.size(-2), x.size(-1)));
  };
  if (mask.defined()) mask = pad(expand(mask, broadcast_shapes(mask.shape(), {s.size(-1)})), {0, 1}, 1);
  return narrow(masked_softmax(cat({expanded(s), expanded(sink)}, -1), mask), -1, 0, s.size(-1));
}

}  // namespace

bool detail::needs_weights(const AttentionOptions& options) {
  return options.need_weights || options.score_map || options.weight_map ||
         (heed::grad_enabled() && options.bias.requires_grad());
}

Shape detail::check_attention(const Operand& query, const Operand& key, const Operand& value,
                              const AttentionOptions& options) {
  check_floating(query);
  check(query->dim() >= 2 && key->dim() >= 2 && value->dim() >= 2 && query->size(-1) == key->size(-1) &&
            key->size(-2) == value->size(-2),
        "query is ", query->shape(), ", key is ", key->shape(), ", value is ", value->shape(),
        "; they must be [..., Tq, D], [..., Tk, D], [..., Tk, Dv]");
  for (const Tensor& x :
       {key.tensor(), value.tensor(), options.bias, options.position_bias, options.sink_logit})
    check(!x.defined() || x.dtype() == query->dtype(), "query is ", query->dtype(), ", another is ",
          x.defined() ? x.dtype() : float32, "; query, key, value and bias must have one dtype");
  if (const Tensor& mask = options.mask; mask.defined())
    check(mask.dtype() == boolean, "the mask is ", mask.dtype(), " ", mask.shape(),
          "; it must be bool, true = may attend (numbers to add to the scores are a bias)");
  check(options.window.value_or(1) > 0 && options.sinks >= 0 && options.soft_cap >= 0, "the window is ",
        options.window.value_or(1), ", sinks ", options.sinks, ", soft_cap ", options.soft_cap,
        "; a window has at least the query's own key, and the others must not be negative");
  check(options.window || options.sinks == 0, "there are ", options.sinks,
        " sinks and no window, so all earlier keys may be attended to");
  const Shape lead = broadcast_shapes(
      broadcast_shapes(kernel::leading(query), kernel::leading(key), "query before [T, D]", "key"),
      kernel::leading(value), "query and key before [T, D]", "value");
  return kernel::matrix_shape(lead, query->size(-2), key->size(-2));
}

void detail::check_fits_scores(const char* what, const Tensor& x, const Shape& scores) {
  if (!x.defined()) return;
  check(broadcasts_to(x.shape(), scores), "the ", what, " is ", x.shape(),
        " and must broadcast to the scores, [..., Tq, Tk] = ", scores,
        ": aligned at the right each of its sizes is the same or 1");
}

void detail::check_fits_scores(const AttentionOptions& options, const Shape& scores) {
  check_fits_scores("mask", options.mask, scores);
  check_fits_scores("bias", options.bias, scores);
  const Tensor &table = options.position_bias, &sink = options.sink_logit;
  const Shape lead(scores.data(), scores.dim() - 2);
  Shape distances = lead;
  distances.push_back(std::max<int64_t>(0, scores[lead.dim()] + scores.back() - 1));
  if (table.defined())
    check(table.dim() > 0 && table.size(-1) == distances.back() && broadcasts_to(table.shape(), distances),
          "the position_bias is ", table.shape(), " and the scores ", scores,
          "; it must be [..., Tq + Tk - 1] = [..., ", distances.back(), "], with sizes that broadcast to ",
          lead, " before the last");
  if (sink.defined())
    check(broadcasts_to(sink.shape(), lead), "the sink_logit is ", sink.shape(),
          " and must broadcast to the sizes of the scores before [Tq, Tk], ", lead);
}

Tensor relative_shift(Operand x) {
  const OpScope scope("relative_shift", x.line());
  check(x->dim() >= 2 && x->size(-1) >= x->size(-2) - 1, "x is ", x->shape(),
        "; it must be [..., Tq, Tq + Tk - 1]");
  const Shape lead = kernel::leading(x);
  const int64_t Tq = x->size(-2), n = x->size(-1), Tk = n - Tq + 1;
  if (Tq <= 1) return reshape(x, kernel::matrix_shape(lead, Tq, Tk));
  // In row-major order, element (i, j - i + Tq - 1) is at i n + j - i + Tq - 1 = (Tq - 1) + i (n - 1) + j:
  // after the first Tq - 1 elements, rows of n - 1.
  const Tensor rows = narrow(flatten(x, -2), -1, Tq - 1, Tq * (n - 1));
  return narrow(reshape(rows, kernel::matrix_shape(lead, Tq, n - 1)), -1, 0, Tk);
}

Tensor attention_weights(Operand query, Operand key, const AttentionOptions& options) {
  const OpScope scope("attention_weights", query.line());
  check_floating(query);
  check(query->dim() >= 2 && key->dim() >= 2 && query->size(-1) == key->size(-1), "query is ", query->shape(),
        ", key is ", key->shape(), "; they must be [..., Tq, D] and [..., Tk, D]");
  const int64_t Tq = query->size(-2), Tk = key->size(-2);
  Tensor s = matmul(query * scale_of(options, query), transpose(key));
  if (options.soft_cap > 0) s = options.soft_cap * tanh(s / options.soft_cap);
  if (options.score_map) s = options.score_map(s);
  if (options.bias.defined()) s = s + options.bias;
  if (const Tensor table = as_row(options.position_bias); table.defined())  // [..., 1, distances]
    s = s + relative_shift(expand(table, kernel::matrix_shape(kernel::leading(table), Tq, -1)));
  const Tensor mask = allowed_keys(options, Tq, Tk), sink = as_matrix(options.sink_logit);
  const Tensor weights = sink.defined() ? softmax_with_sink(s, mask, sink) : masked_softmax(s, mask);
  return options.weight_map ? options.weight_map(weights) : weights;
}

// y = (softmax(scale q k^T + bias) * dropout) v.   The gradients are derived in tensor/kernels/attention.cpp.
Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionOptions& options) {
  const OpScope scope("blocked_attention", query.line());
  Shape scores = detail::check_attention(query, key, value, options);
  Shape lead(scores.data(), scores.dim() - 2);  // to which mask and bias may add dimensions
  for (const Tensor& x : {options.mask, options.bias})
    if (x.defined() && x.dim() > 2) lead = broadcast_shapes(lead, kernel::leading(x));
  scores = kernel::matrix_shape(lead, query->size(-2), key->size(-2));
  detail::check_fits_scores(options, scores);
  check(!detail::needs_weights(options),
        "need_weights, maps of scores or weights, and a bias that needs a gradient need the weights: use "
        "attention_weights");

  const DropoutFactors dropout =
      options.dropout_p == 0 ? DropoutFactors() : DropoutFactors(options.dropout_p, numel(scores));
  AttentionOptions numbers = options;  // without tensors
  numbers.mask = numbers.bias = numbers.position_bias = numbers.sink_logit = {};
  const auto saved = [numbers, mask = save(options.mask), bias = save(options.bias)](
                         const Tensor& position_bias, const Tensor& sink_logit) {
    AttentionOptions all = numbers;
    all.mask = mask();
    all.bias = bias();
    all.position_bias = position_bias;
    all.sink_logit = sink_logit;
    return all;
  };
  const ReferenceFunction reference = [saved, dropout, scores](const std::vector<Tensor>& in) {
    Tensor weights = attention_weights(in[0], in[1], saved(in[3], in[4]));
    if (dropout.p() > 0) weights = weights * dropout_mask(scores, dropout, weights.dtype());
    return matmul(weights, in[2]);
  };
  const Operand table(options.position_bias, query.line()), sink(options.sink_logit, query.line());
  if (reference_mode()) return reference({query, key, value, table, sink});

  const Shape rows(scores.data(), scores.dim() - 1);
  const kernel::AttentionResult forward =
      kernel::attention(query, key, value, rule_of(options, query, dropout));
  return record(
      "blocked_attention", forward.y, {query, key, value, table, sink},
      [q = save(query), k = save(key), v = save(value), table = save(table), sink = save(sink), saved,
       dropout, rows, log_totals = forward.log_totals](const Tensor& g, const Tensor& y) {
        const kernel::AttentionRule rule = rule_of(saved(table(), sink()), q(), dropout);
        kernel::AttentionGradients d = kernel::attention_backward(g, q(), k(), v(), rule, {y, log_totals});
        if (rule.positions.defined()) d.positions = squeeze(d.positions, -2);
        Tensor d_sink;
        if (sink().defined())
          d_sink = -sum(exp(unsqueeze(sink(), -1) - view(log_totals, rows)) * sum(g * y, -1), -1);
        return Gradients{d.q, d.k, d.v, d.positions, d_sink};
      },
      reference, nullptr,
      {{"mask", options.mask},
       {"bias", options.bias},
       {"is_causal", causal(options)},
       {"past", options.past},
       {"scale", scale_of(options, query)},
       {"dropout_p", options.dropout_p},
       {"window", options.window.value_or(0)},
       {"sinks", options.sinks},
       {"soft_cap", options.soft_cap}},
      {"A = softmax($1 $2ᵀ / √d), dA = g $3ᵀ, dS = A (dA − Σ A dA): dS $2 / √d", "dSᵀ $1 / √d", "Aᵀ g",
       "Σ dS at each distance", "−exp($5 − log Σ exp S) Σ g $y"});
}

}  // namespace heed
