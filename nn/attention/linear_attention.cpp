#include "nn/attention/linear_attention.h"

#include "autograd/ops/activation.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/scan.h"
#include "nn/init.h"
#include "tensor/kernels/matmul.h"

namespace heed {

// The sums of the decays after each position, to the last one. The difference of two sums from the first
// would lose the digits of a small one.
static Tensor sums_after(const Tensor& g) { return flip(cumsum(flip(g, {-2}), -2), {-2}) - g; }

// sum_d a_td b_sd e^{G_td - G_sd} for s <= t, else 0: [..., C, d] times [..., C, d] gives [..., C, C]. G is
// the sum of the decays g from the first position of the chunk to this one. The factors e^{G_t} and e^{-G_s}
// are apart if neither is large; otherwise each half of the chunk is computed alone, and the way from the
// first half to the second is divided where they meet, so that no factor exceeds 1.
static Tensor decayed_products(const Tensor& a, const Tensor& b, const Tensor& g) {
  constexpr double kSafe = 40;
  const int64_t C = a.size(-2), half = C / 2;
  if (C == 1) return matmul(a, transpose(b));
  const Tensor G = cumsum(g, -2);
  if (G.numel() == 0 || max(abs(G.detach())).item() <= kSafe)
    return tril(matmul(a * exp(G), transpose(b * exp(-G))));
  const auto first = [half](const Tensor& x) { return narrow(x, -2, 0, half); };
  const auto second = [half, C](const Tensor& x) { return narrow(x, -2, half, C - half); };
  const Tensor across =
      matmul(second(a) * exp(cumsum(second(g), -2)), transpose(first(b) * exp(sums_after(first(g)))));
  const Tensor top = pad(decayed_products(first(a), first(b), first(g)), {0, C - half});
  return cat({top, cat({across, decayed_products(second(a), second(b), second(g))}, -1)}, -2);
}

// Attention of every position to itself and earlier ones. Within a chunk with the state S before it, its keys
// K, queries Q and the sums G of decays, rows being positions:
//
//   U = (I + beta (K G K^T))^-1 beta (V - (K e^G) S)   what is written; V without the delta rule
//   Y = (Q e^G) S + (Q G K^T) U                        where Q G K^T stands for decayed_products(Q, K, g)
//   S of the next chunk = e^{G_C} S + (K e^{G_C - G})^T U
//
// U is linear in S, so the states of all chunks are a linear recurrence, and the rest is done for all chunks
// at once.
static LinearAttentionResult in_chunks(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const LinearAttentionOptions& options) {
  const int64_t T = query.size(-2), D = key.size(-1), C = std::clamp<int64_t>(T, 1, options.chunk);
  const int64_t n = (T + C - 1) / C;
  const auto chunks = [&](const Tensor& x) {  // [..., T, d] -> [..., n, C, d]; absent positions are 0
    if (!x.defined()) return x;
    const Shape shape = x.shape().with(x.dim() - 2, n).inserted(x.dim() - 1, C);
    return reshape(n * C == T ? x : pad(x, {0, 0, 0, n * C - T}), shape);
  };
  const Tensor Q = chunks(query), K = chunks(key), V = chunks(value), beta = chunks(options.beta);
  const Tensor g = chunks(options.decay);
  const Tensor from_start = exp(cumsum(g, -2));             // e^G, [..., n, C, D or 1]
  const Tensor to_end = transpose(K * exp(sums_after(g)));  // [..., n, D, C]

  Tensor U = V, erased;  // U = V' - erased S: [..., n, C, Dv], [..., n, C, D]
  Tensor factor = transpose(narrow(from_start, -2, C - 1, 1));
  if (beta.defined()) {
    const Tensor solved = unit_lower_inverse(beta * decayed_products(K, K, g)) * transpose(beta);
    U = matmul(solved, V);
    erased = matmul(solved, K * from_start);
    factor = factor * eye(D, D, K.dtype()) - matmul(to_end, erased);
  }
  const Tensor states = linear_recurrence(factor, matmul(to_end, U), options.state);
  const Tensor before = narrow(states, -3, 0, n);
  if (erased.defined()) U = U - matmul(erased, before);
  const Tensor y = flatten(matmul(Q * from_start, before) + matmul(decayed_products(Q, K, g), U), -3, -2);
  return {n * C == T ? y : narrow(y, -2, 0, T), select(states, -3, n)};
}

// Throws unless shapes and rule fit.
static void check_linear(const Tensor& q, const Tensor& k, const Tensor& v,
                         const LinearAttentionOptions& options) {
  const bool gated = options.rule == LinearRule::gated || options.rule == LinearRule::gated_delta;
  const bool corrects = options.rule == LinearRule::delta || options.rule == LinearRule::gated_delta;
  check_floating(q);
  check(options.decay.defined() == gated && options.beta.defined() == corrects,
        "the rules gated and gated_delta need a decay, the rules delta and gated_delta a beta, and the "
        "others have none");
  check(options.is_causal || options.rule == LinearRule::linear,
        "without is_causal, which position changes the state first? Only the rule linear has an answer");
  check(options.chunk > 0, "chunk is ", options.chunk, "; it must be positive");
  if (!k.defined() && !v.defined() && !options.is_causal && options.state.defined()) return;
  const bool ranks = k.dim() >= 2 && q.dim() == k.dim() && v.dim() == k.dim();
  Shape like_q = k.shape(), like_v = k.shape();
  if (ranks) {
    like_v[k.dim() - 1] = v.size(-1);
    if (!options.is_causal) like_q[k.dim() - 2] = q.size(-2);
    if (k.dim() > 2 && k.size(-3) > 0 && q.size(-3) % k.size(-3) == 0) like_q[k.dim() - 3] = q.size(-3);
  }
  check(ranks && q.shape() == like_q && v.shape() == like_v, "query is ", q.shape(), ", key is ", k.shape(),
        ", value is ", v.shape(),
        "; they must be [..., Hq, T, D], [..., H, T, D] and [..., H, T, Dv], with a multiple of H as Hq",
        options.is_causal ? "" : "; the length of the query may be another");
}

Tensor elu_plus_one(const Tensor& x) { return elu(x) + 1; }

Tensor positive_random_features(const Tensor& x, const Tensor& projection) {
  const double D = static_cast<double>(x.size(-1)), m = static_cast<double>(projection.size(0));
  const Tensor scaled = x * std::pow(D, -0.25);
  return exp(linear(scaled, projection) - sum(square(scaled), -1, true) / 2) * (1 / std::sqrt(m));
}

Tensor orthogonal_projection(int64_t features, int64_t dim, Generator* generator) {
  std::vector<Tensor> blocks;
  for (int64_t rows = 0; rows < features || rows == 0; rows += dim)
    blocks.push_back(init::orthogonal({dim, dim}, 1, generator));
  const Tensor lengths = sqrt(sum(square(randn({features, dim}, float32, generator)), 1, true));
  return narrow(cat(blocks), 0, 0, features) * lengths;
}

LinearAttentionResult F::linear_attention(Operand query, Operand key, Operand value,
                                          const LinearAttentionOptions& options) {
  const OpScope scope("linear_attention", query.line());
  check_linear(query, key, value, options);
  LinearAttentionOptions rule = options;
  Tensor q = query * options.scale.value_or(1 / std::sqrt(static_cast<double>(query->size(-1))));
  Tensor k = key, v = value;
  if (k.defined()) {
    const Shape lead = kernel::leading(k), column = kernel::matrix_shape(lead, k.size(-2), 1);
    if (options.normalize) v = cat({v, ones(column, v.dtype())}, -1);
    check_parameter("the state", rule.state, kernel::matrix_shape(lead, k.size(-1), v.size(-1)), query);
    const auto spread = [](const char* name, const Tensor& x, const Shape& shape) {
      check(broadcasts_to(x.shape(), shape), "the ", name, " is ", x.shape(), "; it must broadcast to ",
            shape, ", [..., H, T, ", shape[shape.dim() - 1], "]");
      return broadcast_to(x, shape);
    };
    if (rule.beta.defined()) rule.beta = spread("beta", rule.beta, column);
    const Tensor decay = rule.decay.defined() ? rule.decay : zeros(column, k.dtype());
    rule.decay =
        clamp(spread("decay", decay, decay.dim() > 0 && decay.size(-1) > 1 ? k.shape() : column), -100);
    if (options.mask.defined()) {
      const Tensor mask = options.mask.dim() == 1 ? unsqueeze(options.mask, 0) : options.mask;
      check(mask.dtype() == boolean && mask.size(-2) == 1, "the mask is ", mask.dtype(), " ", mask.shape(),
            "; it must be bool [..., 1, T]: all queries share the state, so they see the same keys");
      const Tensor keep = broadcast_to(transpose(mask), column);
      for (Tensor* x : {&k, &v, &rule.decay}) *x = where(keep, *x, 0);
    }
  }
  const Tensor& model = k.defined() ? k : rule.state;
  const int64_t H = model.dim() > 2 ? model.size(-3) : 1, group = H > 0 && q.dim() > 2 ? q.size(-3) / H : 1;
  if (group > 1) {  // [..., Hq, T, D] -> [..., H, Hq / H, T, D], the others [..., H, 1, T, D]
    q = reshape(q, q.shape().with(q.dim() - 3, H).inserted(q.dim() - 2, group));
    for (Tensor* x : {&k, &v, &rule.decay, &rule.beta, &rule.state})
      if (x->defined()) *x = unsqueeze(*x, -3);
  }

  LinearAttentionResult y;
  if (options.is_causal) {
    y = in_chunks(q, k, v, rule);
  } else {
    y.state = k.defined() ? matmul(transpose(k), v) : rule.state;
    if (k.defined() && rule.state.defined()) y.state = y.state + rule.state;
    y.output = matmul(q, y.state);
  }
  if (options.normalize) {
    const int64_t width = y.output.size(-1) - 1;
    const Tensor total = narrow(y.output, -1, width, 1);
    y.output = narrow(y.output, -1, 0, width) / where(total == 0, 1, total);
  }
  return group > 1 ? LinearAttentionResult{flatten(y.output, -4, -3), squeeze(y.state, -3)} : y;
}

// Each span of positions has a decay, and the sums of its weighted values and of its weights in units of e^m,
// with the largest exponent m, so that they cannot overflow. Joining two spans is associative, so all sums
// from the beginning are a scan. They do not depend on m, so m needs no gradient.
LinearAttentionResult F::wkv(Operand key, Operand value, Operand decay, Operand bonus, const Tensor& state) {
  const OpScope scope("wkv", key.line());
  check_floating(key);
  check(key->dim() >= 2 && value->shape() == key->shape(), "key is ", key->shape(), ", value is ",
        value->shape(), "; both must be [..., T, C]");
  const int64_t T = key->size(-2), C = key->size(-1);
  const Shape lead = kernel::leading(key);
  check_parameter("the state", state, kernel::matrix_shape(lead, 3, C), key);
  const Shape channels = lead.inserted(lead.dim(), C);
  const auto each_step = [&](const Tensor& x) { return unsqueeze(broadcast_to(x, channels), -2); };

  using Span = std::vector<Tensor>;  // decay, m, sum of weighted values, sum of weights
  const auto join = [](const Span& a, const Span& b) -> Span {
    const Tensor decayed = a[1] - b[0], m = maximum(decayed, b[1]).detach();
    const Tensor earlier = exp(decayed - m), later = exp(b[1] - m);
    return {a[0] + b[0], m, earlier * a[2] + later * b[2], earlier * a[3] + later * b[3]};
  };
  const Tensor none = zeros(kernel::matrix_shape(lead, 1, C), key->dtype()), one = ones_like(key);
  const Span past = state.defined() ? split(state, 1, -2) : Span{none, none, none - 1e30};
  const Span spans{cat({none, expand(each_step(decay), key->shape())}, -2), cat({past[2], key}, -2),
                   cat({past[0], value}, -2), cat({past[1], one}, -2)};
  Span sums = associative_scan(join, spans, -2);
  const auto last = [&](const Tensor& x) { return narrow(x, -2, T, 1); };
  const Tensor after = cat({last(sums[2]), last(sums[3]), last(sums[1])}, -2);
  for (Tensor& x : sums) x = narrow(x, -2, 0, T);
  const Span y = join(sums, {none, key + each_step(bonus), value, one});
  return {y[2] / y[3], after};
}

}  // namespace heed
