#include "nn/attention/linear_attention.h"

#include "autograd/ops/activation.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/elementary.h"
#include "autograd/ops/linear_recurrence.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/shape.h"
#include "nn/init.h"

namespace heed {
namespace {

// The sums of the decays after each position, to the last one. The difference of two sums from the first
// would lose the digits of a small one.
Tensor sums_after(const Tensor& g) { return flip(cumsum(flip(g, {-2}), -2), {-2}) - g; }

// sum_d a_td b_sd e^{G_td - G_sd} for s <= t, else 0: [..., C, d] times [..., C, d] gives [..., C, C]. G is
// the sum of the decays g from the first position of the chunk to this one; g is undefined for no decay. The
// factors e^{G_t} and e^{-G_s} are apart if neither is large; otherwise each half of the chunk is computed
// alone, and the way from the first half to the second is divided where they meet, so that no factor
// exceeds 1.
Tensor decayed_products(const Tensor& a, const Tensor& b, const Tensor& g) {
  constexpr double kSafe = 40;
  const int64_t C = a.size(-2), half = C / 2;
  if (!g.defined()) return tril(matmul(a, transpose(b)));
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
LinearAttentionResult in_chunks(const Tensor& query, const Tensor& key, const Tensor& value,
                                const LinearAttentionOptions& options) {
  const int64_t T = query.size(-2), D = key.size(-1), C = std::clamp<int64_t>(T, 1, options.chunk);
  const int64_t n = (T + C - 1) / C;
  const auto chunks = [&](const Tensor& x) {  // [..., T, d] -> [..., n, C, d]; absent positions are 0
    if (!x.defined()) return x;
    Shape shape = x.shape();
    shape[x.dim() - 2] = n;
    shape.insert(x.dim() - 1, C);
    return reshape(n * C == T ? x : pad(x, {0, 0, 0, n * C - T}), shape);
  };
  const Tensor Q = chunks(query), K = chunks(key), V = chunks(value), beta = chunks(options.beta);
  const Tensor g = chunks(options.decay);
  const Tensor from_start = g.defined() ? exp(cumsum(g, -2)) : g;  // e^G, [..., n, C, D or 1]
  const auto decayed = [&](const Tensor& x) { return g.defined() ? x * from_start : x; };
  const Tensor to_end = transpose(g.defined() ? K * exp(sums_after(g)) : K);  // [..., n, D, C]

  Tensor U = V, erased;  // U = V' - erased S: [..., n, C, Dv], [..., n, C, D]
  Shape each_chunk = Shape::filled(K.dim(), 1);
  each_chunk[K.dim() - 3] = n;
  Tensor factor = g.defined() ? transpose(narrow(from_start, -2, C - 1, 1)) : ones(each_chunk, K.dtype());
  if (beta.defined()) {
    const Tensor solved = unit_lower_inverse(beta * decayed_products(K, K, g)) * transpose(beta);
    U = matmul(solved, V);
    erased = matmul(solved, decayed(K));
    factor = factor * eye(D, D, K.dtype()) - matmul(to_end, erased);
  }
  const Tensor states = linear_recurrence(factor, matmul(to_end, U), options.state);
  const Tensor before = narrow(states, -3, 0, n);
  if (erased.defined()) U = U - matmul(erased, before);
  const Tensor y = flatten(matmul(decayed(Q), before) + matmul(decayed_products(Q, K, g), U), -3, -2);
  return {n * C == T ? y : narrow(y, -2, 0, T), select(states, -3, n)};
}

// Throws unless shapes and rule fit.
void check_linear(const Operand& query, const Operand& key, const Operand& value,
                  const LinearAttentionOptions& options) {
  const bool gated = options.rule == LinearRule::gated || options.rule == LinearRule::gated_delta;
  const bool corrects = options.rule == LinearRule::delta || options.rule == LinearRule::gated_delta;
  check_floating(query);
  check(
      options.decay.defined() == gated && options.beta.defined() == corrects,
      "the rules gated and gated_delta need a decay, the rules delta and gated_delta a beta, and the others "
      "have none");
  check(options.is_causal || options.rule == LinearRule::linear,
        "without is_causal, which position changes the state first? Only the rule linear has an answer");
  check(options.chunk > 0, "chunk is ", options.chunk, "; it must be positive");
  if (!key.defined() && !value.defined() && !options.is_causal && options.state.defined()) return;
  const Tensor &q = query, &k = key, &v = value;
  const bool ranks = k.dim() >= 2 && q.dim() == k.dim() && v.dim() == k.dim();
  bool fits = ranks && q.size(-1) == k.size(-1) && k.size(-2) == v.size(-2) &&
              (!options.is_causal || q.size(-2) == k.size(-2));
  for (int64_t d = 0; fits && d < k.dim() - 2; ++d)
    fits = k.shape()[d] == v.shape()[d] &&
           (q.shape()[d] == k.shape()[d] ||
            (d == k.dim() - 3 && k.shape()[d] > 0 && q.shape()[d] % k.shape()[d] == 0));
  check(fits, "query is ", q.shape(), ", key is ", k.shape(), ", value is ", v.shape(),
        "; they must be [..., Hq, T, D], [..., H, T, D] and [..., H, T, Dv], with a multiple of H as Hq",
        options.is_causal ? "" : "; the length of the query may be another");
}

}  // namespace

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
    Shape column = k.shape();  // [..., H, T, 1]
    column[k.dim() - 1] = 1;
    if (options.normalize) v = cat({v, ones(column, v.dtype())}, -1);
    Shape state = k.shape();
    state[k.dim() - 2] = k.size(-1);
    state[k.dim() - 1] = v.size(-1);
    check_parameter("the state", rule.state, state, query);
    if (rule.beta.defined()) rule.beta = broadcast_to(rule.beta, column);
    if (rule.decay.defined()) {
      rule.decay = broadcast_to(rule.decay, rule.decay.size(-1) == 1 ? column : k.shape());
      if (rule.decay.numel() > 0 && min(rule.decay.detach()).item() < -100)
        rule.decay = clamp(rule.decay, -100);
    }
    if (options.mask.defined()) {
      const Tensor mask = options.mask.dim() == 1 ? unsqueeze(options.mask, 0) : options.mask;
      check(mask.dtype() == boolean && mask.size(-2) == 1, "the mask is ", mask.dtype(), " ", mask.shape(),
            "; it must be bool [..., 1, T]: all queries share the state, so they see the same keys");
      const Tensor keep = broadcast_to(transpose(mask), column);
      for (Tensor* x : {&k, &v, &rule.decay})
        if (x->defined()) *x = where(keep, *x, 0);
    }
  }
  const Tensor& model = k.defined() ? k : rule.state;
  const int64_t H = model.dim() > 2 ? model.size(-3) : 1, group = H > 0 && q.dim() > 2 ? q.size(-3) / H : 1;
  if (group > 1) {  // [..., Hq, T, D] -> [..., H, Hq / H, T, D], the others [..., H, 1, T, D]
    Shape grouped = q.shape();
    grouped[q.dim() - 3] = H;
    grouped.insert(q.dim() - 2, group);
    q = reshape(q, grouped);
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

// Numerator and denominator are kept in units of e^m, m_t = max(m_{t-1} - decay, k_t), and cannot overflow.
// The result does not depend on m, so m needs no gradient.
LinearAttentionResult F::wkv(Operand key, Operand value, Operand decay, Operand bonus, const Tensor& state) {
  const OpScope scope("wkv", key.line());
  check_floating(key);
  check(key->dim() >= 2 && value->shape() == key->shape(), "key is ", key->shape(), ", value is ",
        value->shape(), "; both must be [..., T, C]");
  const int64_t T = key->size(-2);
  Shape row = key->shape(), packed = row;
  row.erase(key->dim() - 2);  // [..., C]
  packed[key->dim() - 2] = 3;
  check_parameter("the state", state, packed, key);
  const Tensor w = broadcast_to(decay, row), u = broadcast_to(bonus, row);

  std::vector<Tensor> maxima{state.defined() ? select(state, -2, 2).detach()
                                             : full(row, -1e30, key->dtype())};
  for (int64_t t = 0; t < T; ++t)
    maxima.push_back(maximum(maxima.back() - w.detach(), select(key->detach(), -2, t)));
  const Tensor m = stack(maxima, -2), before = narrow(m, -2, 0, T), now = narrow(m, -2, 1, T);

  const Tensor write = exp(key - now);
  const Tensor start = state.defined() ? transpose(narrow(state, -2, 0, 2)) : state;
  const Tensor sums = linear_recurrence(unsqueeze(exp(before - unsqueeze(w, -2) - now), -1),
                                        stack({write * value, write}, -1), start);  // [..., T + 1, C, 2]
  const Tensor own = key + unsqueeze(u, -2), largest = maximum(before, own.detach());
  const Tensor past = exp(before - largest), present = exp(own - largest);
  const auto sum_at = [&](int64_t i) { return past * select(narrow(sums, -3, 0, T), -1, i); };
  return {(sum_at(0) + present * value) / (sum_at(1) + present),
          cat({transpose(select(sums, -3, T)), narrow(m, -2, T, 1)}, -2)};
}

}  // namespace heed
