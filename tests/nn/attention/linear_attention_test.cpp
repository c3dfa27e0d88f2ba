#include "nn/attention/linear_attention.h"

#include "autograd/ops/elementary.h"
#include "nn/attention/scaled_dot_product.h"
#include "tests/support/references.h"

namespace {

// sin(a i + b) for i = 0, 1, ... in float64, the inputs of the reference values.
Tensor sines(const Shape& shape, double a, double b) { return sin(counted(shape, float64) * a + b); }

constexpr LinearRule kRules[] = {LinearRule::linear, LinearRule::gated, LinearRule::delta,
                                 LinearRule::gated_delta};
bool has_decay(LinearRule rule) { return rule == LinearRule::gated || rule == LinearRule::gated_delta; }
bool has_beta(LinearRule rule) { return rule == LinearRule::delta || rule == LinearRule::gated_delta; }

// The rules position by position, as their definitions say: q [B, Hq, T, D], the others with H heads.
LinearAttentionResult loop(const Tensor& q, const Tensor& k, const Tensor& v,
                           const LinearAttentionOptions& options) {
  const int64_t B = k.size(0), H = k.size(1), D = k.size(3), group = q.size(1) / H;
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(D)));
  Tensor S = options.state.defined() ? options.state : zeros({B, H, D, v.size(3)}, q.dtype());
  Tensors outputs;
  for (int64_t t = 0; t < q.size(2); ++t) {
    const auto column = [&](const Tensor& x) { return unsqueeze(select(x, 2, t), -1); };  // [B, H, d, 1]
    const Tensor key = column(k);
    Tensor value = transpose(column(v));
    if (options.decay.defined()) S = exp(column(options.decay)) * S;
    if (options.beta.defined()) {
      value = column(options.beta) * (value - matmul(transpose(key), S));
    }
    S = S + key * value;
    const Tensor shared = flatten(expand(unsqueeze(S, 2), {B, H, group, D, v.size(3)}), 1, 2);
    outputs.push_back(scale * matmul(transpose(column(q)), shared));
  }
  return {outputs.empty() ? zeros({B, q.size(1), 0, v.size(3)}, q.dtype()) : cat(outputs, 2), S};
}

struct Case {
  LinearRule rule;
  Tensors in;  // q, k, v, state, decay, beta; undefined where the rule has none
  LinearAttentionOptions options(const Tensors& x) const {
    return {.rule = rule, .decay = x[4], .beta = x[5], .state = x[3]};
  }
};

Case make_case(LinearRule rule, int64_t T, bool per_key, bool grouped, double strength = 1,
               DType dtype = float64) {
  const int64_t B = 2, H = 2, D = 4, Dv = 3;
  Tensors in{randn({B, grouped ? 3 * H : H, T, D}, dtype), randn({B, H, T, D}, dtype) * 0.7,
             randn({B, H, T, Dv}, dtype), randn({B, H, D, Dv}, dtype)};
  in.push_back(has_decay(rule) ? -strength * rand({B, H, T, per_key ? D : 1}, dtype) : Tensor());
  in.push_back(has_beta(rule) ? rand({B, H, T, 1}, dtype) : Tensor());
  return {rule, in};
}

// Output and state in one vector, so that both have gradients.
Tensor joined(const LinearAttentionResult& y) { return cat({flatten(y.output), flatten(y.state)}); }

void check_values(const Tensor& got, const Values& want) {
  CHECK(largest_difference(values(got), want) < 1e-12);
}

}  // namespace

TEST_CASE("linear_attention: equals the loop over positions for every rule and chunk, with gradients") {
  manual_seed(1);
  for (const LinearRule rule : kRules)
    for (const bool per_key : {false, true})
      for (const bool grouped : {false, true})
        for (const int64_t T : {1, 7, 12}) {
          const Case c = make_case(rule, T, per_key, grouped);
          const auto want = value_and_gradients(
              [&](const Tensors& x) { return joined(loop(x[0], x[1], x[2], c.options(x))); }, c.in);
          for (const int64_t chunk : {1, 3, 4, 64}) {
            const auto got = value_and_gradients(
                [&](const Tensors& x) {
                  LinearAttentionOptions options = c.options(x);
                  options.chunk = chunk;
                  return joined(F::linear_attention(x[0], x[1], x[2], options));
                },
                c.in);
            CHECK(distance(got, want) < 1e-11);
          }
        }
}

TEST_CASE("linear_attention: strong decays, also complete ones, neither overflow nor lose precision") {
  manual_seed(2);
  for (const LinearRule rule : {LinearRule::gated, LinearRule::gated_delta})
    for (const bool per_key : {false, true})
      for (const double strength : {5.0, 90.0, 300.0}) {
        Case c = make_case(rule, 37, per_key, false, strength);
        if (strength == 300) c.in[4] = where(c.in[4] < -150, -kInf, c.in[4] / 300);
        const auto f = [&](const auto& attend) {
          return value_and_gradients(
              [&](const Tensors& x) { return joined(attend(x[0], x[1], x[2], c.options(x))); }, c.in);
        };
        const Tensors want = f(loop), got = f([](auto&&... x) { return F::linear_attention(x...); });
        for (const size_t i : {0, 1, 2, 3, 4}) CHECK(distance({got[i]}, {want[i]}) < 1e-11);
        Tensors floats = c.in;
        for (Tensor& x : floats)
          if (x.defined()) x = to(x, float32);
        const Tensor y = joined(F::linear_attention(floats[0], floats[1], floats[2], c.options(floats)));
        CHECK(largest_difference(to(y, float64), want[0]) < 1e-4);
      }
}

// The values are of loops in Python, written from the papers and from ONNX's definition of LinearAttention.
TEST_CASE("linear_attention: reference values of every rule") {
  const int64_t B = 1, H = 2, T = 5, D = 3, Dv = 2;
  const Tensor q = sines({B, H, T, D}, 0.7, 0.1), k = sines({B, H, T, D}, 1.3, 0.2);
  const Tensor v = sines({B, H, T, Dv}, 0.9, 0.3), state = sines({B, H, D, Dv}, 2.1, 0.7);
  const Tensor g = -0.5 - 0.4 * sines({B, H, T, 1}, 1.1, 0.4),
               gk = -0.5 - 0.4 * sines({B, H, T, D}, 1.7, 0.5);
  const Tensor beta = 0.5 + 0.4 * sines({B, H, T, 1}, 1.9, 0.6);
  const auto check = [&](const LinearAttentionOptions& options, const Values& output, const Values& row) {
    const auto y = F::linear_attention(q, k, v, options);
    check_values(select(y.output, 2, T - 1), output);
    check_values(select(y.state, 2, 1), row);
  };
  check({}, {-0.757174090766451, -0.861271393155764, 0.323657823540359, -0.618448394615486},
        {-1.70697243675163, 0.0401492039896351, 1.61447286294369, 0.0522875344414971});
  check({.rule = LinearRule::gated, .decay = g},
        {-0.320715711649423, -0.668484879906437, 0.57284926254483, 0.0346738737267586},
        {-1.45847233488161, -0.668282958834148, 1.28009834889355, 0.724756694223028});
  check({.rule = LinearRule::gated, .decay = gk},
        {-0.190730372071656, -0.356151752861633, 0.615531684260711, 0.0397278731597291},
        {-1.46913065942485, -0.655653542981283, 1.3107994983671, 0.586751977037563});
  check({.rule = LinearRule::delta, .beta = beta},
        {-0.173012910023398, -0.173021933031998, 0.250544142869559, -0.236365838221387},
        {-0.845948820239752, -0.792511519562763, 0.504821289302097, 0.0553730651736667});
  check({.rule = LinearRule::gated_delta, .decay = g, .beta = beta},
        {-0.0204445444104812, -0.151014451894908, 0.212270162390645, -0.0773896086980079},
        {-0.791990709909398, -0.781744111738335, 0.370771585681373, 0.113176583138501});
  check({.rule = LinearRule::gated_delta, .decay = gk, .beta = beta, .state = state},
        {-0.0436042349503276, -0.114459038531463, 0.253548930143192, -0.060851669821318},
        {-0.822825004768681, -0.762434199138938, 0.350545936725335, 0.0944262938991437});
  const Tensor four = sines({1, 4, T, D}, 0.7, 0.1);  // query heads for two states
  check_values(
      select(F::linear_attention(four, k, v, {.rule = LinearRule::gated, .decay = g, .state = state}).output,
             2, 4),
      {-0.314624168898751, -0.633346272960237, -0.866930295107328, -0.0560325336837344, -1.08204407378568,
       -0.783990257402971, 0.468603695674698, 0.725725280138106});
  const Tensor fq = elu_plus_one(q), fk = elu_plus_one(k);
  check_values(select(F::linear_attention(fq, fk, v, {.is_causal = false, .normalize = true}).output, 2, 2),
               {0.0477567946222868, 0.261479633424398, 0.102162471874429, -0.16989420167214});
  check_values(select(F::linear_attention(fq, fk, v, {.normalize = true}).output, 2, 2),
               {0.129116459477313, 0.127683906082589, -0.0584116071263079, -0.141218879148015});
  const Tensor W = 1.5 * sines({4, D}, 1.9, 0.3), rq = positive_random_features(q, W);
  check_values(rq[{0, 0, 0}], {0.254756992285239, 0.466029397442334, 0.75478772898657, 0.922857345153993});
  check_values(
      select(F::linear_attention(rq, positive_random_features(k, W), v, {.normalize = true}).output, 2, 4),
      {-0.088131552784108, 0.153092807907061, -0.0956908045564896, -0.329019422118192});
}

TEST_CASE("linear_attention: one position after the other gives the same as all at once") {
  manual_seed(3);
  for (const LinearRule rule : kRules) {
    const Case c = make_case(rule, 9, true, true);
    const auto whole = F::linear_attention(c.in[0], c.in[1], c.in[2], c.options(c.in));
    for (const int64_t step : {1, 4}) {
      Tensors outputs;
      Tensor state = c.in[3];
      for (int64_t t = 0; t < 9; t += step) {
        Tensors part = c.in;
        for (const size_t i : {0, 1, 2, 4, 5})
          if (part[i].defined()) part[i] = narrow(part[i], 2, t, std::min<int64_t>(step, 9 - t));
        part[3] = state;
        const auto y = F::linear_attention(part[0], part[1], part[2], c.options(part));
        outputs.push_back(y.output);
        state = y.state;
      }
      CHECK(largest_difference(cat(outputs, 2), whole.output) < 1e-12);
      CHECK(largest_difference(state, whole.state) < 1e-12);
    }
  }
}

TEST_CASE("linear_attention: first and second derivatives") {
  manual_seed(4);
  for (const LinearRule rule : kRules) {
    const Case c = make_case(rule, 3, rule == LinearRule::gated_delta, false);
    Tensors leaves;
    std::vector<size_t> at;
    for (size_t i = 0; i < c.in.size(); ++i)
      if (c.in[i].defined()) {
        leaves.push_back(narrow(c.in[i], 0, 0, 1).detach().requires_grad_());
        at.push_back(i);
      }
    const auto f = [&](const Tensors& x) {
      Tensors in(6);
      for (size_t i = 0; i < at.size(); ++i) in[at[i]] = x[i];
      LinearAttentionOptions options = c.options(in);
      options.chunk = 2;
      return joined(F::linear_attention(in[0], in[1], in[2], options));
    };
    CHECK(gradcheck(f, leaves));
    CHECK(gradgradcheck(f, leaves));
  }
}

TEST_CASE("linear_attention: normalized, it is attention with the weights phi(q) . phi(k); masks hide keys") {
  manual_seed(5);
  const Tensor q = elu_plus_one(randn({2, 2, 6, 4}, float64)), k = elu_plus_one(randn({2, 2, 6, 4}, float64));
  const Tensor v = randn({2, 2, 6, 3}, float64), scores = matmul(q, transpose(k));
  const Mask padding = Mask::lengths(tensor({4, 0}, int64), 6);
  const Tensor of_heads = heed::detail::for_heads(padding);
  for (const bool is_causal : {false, true})
    for (const bool masked : {false, true}) {
      Mask seen = is_causal ? Mask::causal(6) : Mask();
      if (masked) seen = seen & Mask(of_heads);
      const Tensor allowed = seen.allows_all() ? scores : where(seen.allowed(), scores, 0);
      const Tensor total = sum(allowed, -1, true);
      const Tensor want = matmul(allowed / where(total == 0, 1, total), v);
      const Tensor values = masked ? where(transpose(of_heads), v, kNaN) : v;
      const LinearAttentionOptions options{
          .mask = masked ? of_heads : Tensor(), .is_causal = is_causal, .normalize = true, .chunk = 4};
      const auto y = F::linear_attention(q, k, values, options);
      CHECK(largest_difference(y.output, want) < 1e-12);
      CHECK(y.state.shape() == Shape{2, 2, 4, 4});
      if (masked) CHECK(magnitude(y.output[1]) == 0);  // nothing to see
      if (is_causal) continue;
      LinearAttentionOptions of_state = options;  // a memory is read once
      of_state.mask = {};
      of_state.state = y.state;
      CHECK(largest_difference(F::linear_attention(q, Tensor(), Tensor(), of_state).output, want) < 1e-12);
    }
}

TEST_CASE("linear_attention: features; random ones approach the softmax") {
  manual_seed(6);
  const Tensor projection = to(orthogonal_projection(20'000, 8), float64);
  const Tensor first = narrow(projection, 0, 8, 8), products = matmul(first, t(first));
  CHECK(largest_difference(products, products * eye(8, 8, float64)) < 1e-4);  // orthogonal
  CHECK(mean(square(projection)).item() == doctest::Approx(1).epsilon(0.02));
  const Tensor x = 0.6 * randn({1, 1, 12, 8}, float64), y = 0.6 * randn({1, 1, 12, 8}, float64);
  const auto features = [&](const Tensor& z) { return positive_random_features(z, projection); };
  const Tensor v = randn({1, 1, 12, 3}, float64);
  const Tensor got =
      F::linear_attention(features(x), features(y), v, {.is_causal = false, .normalize = true}).output;
  CHECK(largest_difference(got, F::scaled_dot_product_attention(x, y, v).output) < 0.15);
}

TEST_CASE("linear_attention: empty inputs, strided inputs, one matrix without batch and heads") {
  const auto shape = [](int64_t B, int64_t T) {
    return F::linear_attention(
               ones({B, 2, T, 3}), ones({B, 2, T, 3}), ones({B, 2, T, 4}),
               {.rule = LinearRule::gated_delta, .decay = zeros({B, 2, T, 1}), .beta = ones({B, 2, T, 1})})
        .output.shape();
  };
  CHECK(shape(0, 5) == Shape{0, 2, 5, 4});
  CHECK(shape(2, 0) == Shape{2, 2, 0, 4});
  const Tensor q = randn({6, 3}, float64), v = randn({6, 2}, float64);
  const Tensor want = matmul(tril(matmul(q, t(q))), v);
  CHECK(largest_difference(F::linear_attention(q, q, v, {.scale = 1, .chunk = 4}).output, want) < 1e-12);
  const Tensor strided = transpose(clone(transpose(q)));
  CHECK(largest_difference(F::linear_attention(strided, strided, v, {.scale = 1}).output, want) < 1e-12);
}

TEST_CASE("linear_attention: memory grows linearly with the length") {
  if (reference_mode()) return;
  const auto growth = [](int64_t T) {
    const auto x = [&](int64_t width) { return (-rand({1, 2, T, width})).requires_grad_(); };
    const Tensor q = x(16), k = x(16), v = x(16), g = x(1), beta = x(1);
    reset_peak_memory();
    const size_t before = memory_use().live;
    sum(F::linear_attention(q, k, v, {.rule = LinearRule::gated_delta, .decay = g, .beta = beta}).output)
        .backward();
    return static_cast<double>(memory_use().peak - before);
  };
  CHECK(growth(4096) < 2.2 * growth(2048));
}

TEST_CASE("linear_attention: the same bits for every number of threads" * doctest::test_suite("threads")) {
  manual_seed(7);
  const Case c = make_case(LinearRule::gated_delta, 300, true, true, 1, float32);
  CHECK(same_on_threads([&] {
    return value_and_gradients(
        [&](const Tensors& x) { return F::linear_attention(x[0], x[1], x[2], c.options(x)).output; }, c.in);
  }));
}

TEST_CASE("linear_attention: errors say what does not fit") {
  const Tensor q = ones({1, 4, 5, 3}), k = ones({1, 2, 5, 3}), v = ones({1, 2, 5, 2});
  CHECK_ERROR_HAS(F::linear_attention(q, k, v, {.rule = LinearRule::gated}), "need a decay");
  CHECK_ERROR_HAS(F::linear_attention(q, k, v, {.beta = ones({1, 2, 5, 1})}), "the others have none");
  CHECK_ERROR_HAS(F::linear_attention(q, k, ones({1, 2, 4, 2})),
                  "linear_attention: query is [1, 4, 5, 3], key is [1, 2, 5, 3], value is [1, 2, 4, 2]");
  CHECK_ERROR_HAS(F::linear_attention(ones({1, 3, 5, 3}), k, v), "with a multiple of H as Hq");
  CHECK_ERROR_HAS(F::linear_attention(q, k, v, {.mask = Mask::causal(5)}), "the mask is bool [5, 5]");
  CHECK_ERROR_HAS(F::linear_attention(q, k, v, {.state = ones({1, 2, 3, 3})}), "the state is [1, 2, 3, 3]");
  CHECK_ERROR_HAS(F::linear_attention(q, k, v, {.rule = LinearRule::gated, .decay = zeros({3, 1, 1})}),
                  "the decay is [3, 1, 1]; it must broadcast to [1, 2, 5, 1], [..., H, T, 1]");
  CHECK_ERROR_HAS(F::linear_attention(q, k, v, {.rule = LinearRule::delta, .beta = zeros({4, 1})}),
                  "the beta is [4, 1]; it must broadcast to [1, 2, 5, 1], [..., H, T, 1]");
  CHECK_ERROR_HAS(F::linear_attention(q, k, v, {.chunk = 0}), "chunk is 0");
  CHECK_ERROR_HAS(
      F::linear_attention(q, k, v, {.rule = LinearRule::gated, .decay = ones({5, 1}), .is_causal = false}),
      "without is_causal");
}

TEST_CASE("wkv: equals its definition; large keys; one position after the other; derivatives") {
  const Tensor k = 2 * sines({5, 3}, 1.3, 0.2), v = sines({5, 3}, 0.9, 0.3);
  const Tensor w = 0.3 + 0.2 * sines({3}, 1, 0), u = 0.5 * sines({3}, 2, 0.1);
  const Tensor whole = F::wkv(k, v, w, u).output;
  check_values(whole, {0.29552020666134, 0.932039085967226, 0.863209366648874, 0.276853899987606,
                       0.862806918386298, 0.0580061394789805, -0.430763322586749, 0.700740449056954,
                       -0.308599474867727, -0.407170801990127, 0.388006253360748, -0.546442790052742,
                       -0.466969617523556, 0.350763498500451, -0.588441882505961});
  CHECK(largest_difference(F::wkv(k + 900, v, w, u).output, whole) < 1e-11);
  CHECK(
      largest_difference(F::wkv(to(k - 900, float32), to(v, float32), to(w, float32), to(u, float32)).output,
                         to(whole, float32)) < 1e-3);
  Tensor state;
  for (int64_t t = 0; t < 5; ++t) {
    const auto y = F::wkv(narrow(k, 0, t, 1), narrow(v, 0, t, 1), w, u, state);
    CHECK(largest_difference(y.output[0], whole[t]) < 1e-13);
    state = y.state;
  }
  const Tensors leaves{k.detach().requires_grad_(), v.detach().requires_grad_(), w.detach().requires_grad_(),
                       u.detach().requires_grad_()};
  const auto f = [](const Tensors& x) { return F::wkv(x[0], x[1], x[2], x[3]).output; };
  CHECK(gradcheck(f, leaves));
  CHECK(gradgradcheck(f, leaves));
  CHECK_ERROR_HAS(F::wkv(k, ones({4, 3}, float64), w, u), "wkv: key is [5, 3], value is [4, 3]");
}
