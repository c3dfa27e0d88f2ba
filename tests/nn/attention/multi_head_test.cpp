#include "nn/attention/multi_head.h"

#include "nn/attention/kernel_regression.h"
#include "nn/debug/check_module.h"
#include "nn/layers/embedding.h"
#include "nn/view/capture.h"
#include "tests/support/attention_forms.h"
#include "tests/support/expect.h"

using test::names;

// The weights of each head instead of their mean.
const AttentionOptions kEachHead{.need_weights = true, .average_attn_weights = false};

// The rows of head h in the projection `which` (0 q, 1 k, 2 v): [D, E].
static Tensor head_rows(const MultiheadAttention& attention, int64_t which, int64_t h) {
  const int64_t D = attention.embed_dim / attention.num_heads;
  return narrow(attention.in_proj_weight, 0, which * attention.embed_dim + h * D, D);
}

// Output [T, D] and weights [T, T] of one head by the formula: x [T, E].
static std::pair<Tensor, Tensor> one_head(const MultiheadAttention& attention, const Tensor& x, int64_t h) {
  const auto project = [&](int64_t which) { return matmul(x, t(head_rows(attention, which, h))); };
  const Tensor q = project(0);
  const Tensor weights = softmax(matmul(q, t(project(1))) / std::sqrt(double(q.size(1))), 1);
  return {matmul(weights, project(2)), weights};
}

// covers: C-004-11 C-001-03 C-001-09 C-001-02
TEST_CASE("MultiheadAttention: equals a loop over heads, each with its own W_Q, W_K, W_V") {
  manual_seed(3);
  const MultiheadAttention attention = in_float64(MultiheadAttention(12, 3, {.bias = false}));
  const Tensor x = randn({1, 5, 12}, float64);
  const auto [y, weights] = attention(x, kEachHead);
  REQUIRE(weights.shape() == Shape{1, 3, 5, 5});
  Tensors outputs;
  for (int64_t h = 0; h < 3; ++h) {
    const auto [output, of_head] = one_head(attention, x[0], h);
    CHECK(largest_difference(weights[{0, h}], of_head) < 1e-12);
    outputs.push_back(output);
  }
  // Softmax runs over the keys: each query's row sums to 1, the columns do not.
  CHECK(largest_difference(sum(weights, -1), ones({1, 3, 5}, float64)) < 1e-12);
  CHECK(largest_difference(sum(weights, -2), ones({1, 3, 5}, float64)) > 1e-3);
  CHECK(largest_difference(y[0], matmul(cat(outputs, 1), t(attention.out_proj.weight))) < 1e-12);
  const Tensor mean_weights = attention(x, AttentionOptions{.need_weights = true}).weights;
  CHECK(largest_difference(mean_weights, mean(weights, 1)) < 1e-15);
  CHECK_FALSE(attention(x).weights.defined());
}

// covers: C-004-12
TEST_CASE("MultiheadAttention: W_O times the joined heads is the sum over heads of their slices of W_O") {
  manual_seed(4);
  const MultiheadAttention attention = in_float64(MultiheadAttention(16, 8));
  const Tensor x = randn({1, 4, 16}, float64);
  Tensor y = expand(attention.out_proj.bias, {4, 16});
  for (int64_t h = 0; h < 8; ++h)
    y = y + matmul(one_head(attention, x[0], h).first, t(narrow(attention.out_proj.weight, 1, h * 2, 2)));
  CHECK(largest_difference(attention(x).output[0], y) < 1e-12);
}

// covers: C-003-15
TEST_CASE("MultiheadAttention: with keys equal to values and identity projections it is plain attention") {
  MultiheadAttention attention = in_float64(MultiheadAttention(6, 1));
  attention.in_proj_weight = cat({eye(6, 6, float64), eye(6, 6, float64), eye(6, 6, float64)});
  attention.out_proj.weight = eye(6, 6, float64);
  const Tensor q = randn({2, 3, 6}, float64), x = randn({2, 5, 6}, float64);
  const Tensor alpha = softmax(matmul(q, transpose(x)) / std::sqrt(6.0), -1);
  CHECK(largest_difference(attention(q, x, x).output, matmul(alpha, x)) < 1e-12);
}

// covers: C-000-01 C-000-09
TEST_CASE("multi-head attention and kernel regression end in the same pooling of values by weights") {
  manual_seed(13);
  const MultiheadAttention attention = in_float64(MultiheadAttention(6, 2));
  const Tensor query = randn({1, 3, 6}, float64), key = randn({1, 4, 6}, float64);
  const Tensor value = randn({1, 4, 6}, float64);
  AttentionScope scope;
  const Tensor heads = attention(query, key, value, kEachHead).output;
  const NadarayaWatson regression({.w = 2, .dtype = float64});
  const Tensor answers = regression(query, key, value);
  REQUIRE(scope.calls().size() == 2);  // from attention_pool
  const Tensor of_heads = scope.calls()[0].weights, of_regression = scope.calls()[1].weights;
  Tensors outputs;
  for (int64_t h = 0; h < 2; ++h)
    outputs.push_back(attention_pool(of_heads[{0, h}], matmul(value[0], t(head_rows(attention, 2, h)))));
  CHECK(largest_difference(heads[0], matmul(cat(outputs, 1), t(attention.out_proj.weight))) < 1e-12);
  CHECK(largest_difference(answers, attention_pool(of_regression, value)) == 0);
}

// covers: C-002-12
TEST_CASE("MultiheadAttention: every output sees every input; if causal, no later input") {
  manual_seed(5);
  const MultiheadAttention attention = in_float64(MultiheadAttention(8, 2));
  for (const int64_t T : {5, 1100}) {  // 1100: several tiles of the blocked form each way
    const Tensor x = randn({T, 8}, float64).requires_grad_();
    for (const AttentionOptions& options : {AttentionOptions(), AttentionOptions{.mask = Mask::causal(T)},
                                            AttentionOptions{.is_causal = true}}) {
      const bool causal = options.is_causal || options.mask.defined();
      const Tensor y = attention(x, options).output;
      for (const int64_t i : {0, 1, 3, 127, 128, 511, 512, 513, 600, 1023, 1024, 1099}) {
        if (i >= T) break;
        const Tensor g = randn({8}, float64);
        const Tensor d = grad({y[i]}, {x}, {.grad_outputs = {g}, .retain_graph = true})[0];
        const auto sizes = values(sum(where(d < 0, -d, d), 1));
        for (int64_t j = 0; j < T; ++j) {
          const double size = sizes[static_cast<size_t>(j)];
          REQUIRE((causal && j > i ? size == 0 : size > 1e-9));
        }
      }
    }
  }
}

// covers: C-001-01
TEST_CASE("attention makes a token depend on its context") {
  manual_seed(6);
  const Embedding embedding(10, 8);
  const MultiheadAttention attention(8, 2);
  const auto cosine = [](const Tensor& a, const Tensor& b) {
    return dot(a, b).item() / std::sqrt(dot(a, a).item() * dot(b, b).item());
  };
  // "bank" is 4 in both sentences.
  const Tensor river = embedding(tensor({1, 4, 2}, int64)), money = embedding(tensor({7, 4, 9}, int64));
  CHECK(cosine(river[1], money[1]) == doctest::Approx(1).epsilon(1e-6));
  CHECK(cosine(attention(river).output[1], attention(money).output[1]) < 0.99);
}

// covers: C-004-08
TEST_CASE("MultiheadAttention: names, start values, and heads that do not divide") {
  const MultiheadAttention attention(8, 2);
  CHECK(names(attention.named_parameters()) ==
        Texts{"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"});
  CHECK(attention.in_proj_weight.shape() == Shape{24, 8});
  CHECK(magnitude(attention.in_proj_bias) == 0);
  check_fills(attention.in_proj_weight, std::sqrt(6.0 / 32));

  const MultiheadAttention cross(8, 2, {.bias = false, .kdim = 3, .vdim = 5});
  CHECK(names(cross.named_parameters()) ==
        Texts{"q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"});
  CHECK(cross(ones({2, 4, 8}), ones({2, 6, 3}), ones({2, 6, 5})).output.shape() == Shape{2, 4, 8});
  CHECK_ERROR(
      MultiheadAttention(10, 4),
      "MultiheadAttention: embed_dim 10 does not divide into 4 heads of one width; an embed_dim of 12 does");
  CHECK_THROWS_AS(MultiheadAttention(8, 0), Error);
  CHECK_THROWS_AS(MultiheadAttention(8, 2, {.dropout = 2}), Error);
  CHECK_ERROR_HAS(cross(ones({2, 4, 8}), ones({2, 6, 3}), ones({2, 7, 5})),
                  "the query is [2, 4, 8], the key [2, 6, 3], the value [2, 7, 5]; they must be [B, Tq, 8], "
                  "[B, Tk, 3] and [B, Tk, 5]");
  CHECK_ERROR_HAS(
      attention(ones({2, 4, 8}), Mask(ones({1, 1, 1, 4, 4}, boolean))),
      "the mask is [1, 1, 1, 4, 4] and must broadcast to the scores, [..., Tq, Tk] = [2, 2, 4, 4]");
  CHECK_ERROR_HAS(MultiheadAttention(8, 2, {.vdim = -1}), "both must be positive");
  CHECK_ERROR(MultiheadAttention(6, 2, {.rotary = true}),
              "MultiheadAttention: rotary positions rotate pairs and are for self-attention: embed_dim is 6, "
              "kdim 6, vdim 6, the width of a head 3; the first three must be equal and the last even");
  CHECK_ERROR_HAS(MultiheadAttention(8, 2, {.kdim = 4, .rotary = true}), "kdim 4");
  CHECK_THROWS_AS(attention(ones({8})), Error);
  CHECK_THROWS_AS(attention(ones({2, 4, 7})), Error);
}

// covers: C-001-03
TEST_CASE("MultiheadAttention: gradients with rotary positions; every leaf is registered") {
  manual_seed(7);
  const MultiheadAttention attention = in_float64(MultiheadAttention(4, 2, {.rotary = true}));
  const Tensor x = randn({2, 3, 4}, float64).requires_grad_();
  Tensors inputs = attention.parameters();
  inputs.push_back(x);
  CHECK(gradcheck([&](const Tensors&) { return attention(x).output; }, inputs));
  CHECK(test::unregistered_leaves(attention(x).output, attention, {x}) == "");
}

TEST_CASE("MultiheadAttention: masks of every rank, biases, inputs without a batch") {
  manual_seed(8);
  const MultiheadAttention attention(8, 2);
  const Tensor x = randn({3, 4, 8});
  const auto weights = [&](const Mask& mask) {
    AttentionOptions options = kEachHead;
    options.mask = mask;
    return attention(x, options).weights;
  };
  const Mask lengths = Mask::lengths(tensor({4, 1, 2}, int64), 4);
  for (const Mask& mask :
       {Mask::causal(4), lengths, lengths & Mask::causal(4), Mask(rand({3, 2, 4, 4}) < 0.5)}) {
    const Tensor forbidden = logical_not(broadcast_to(heed::detail::for_heads(mask), {3, 2, 4, 4}));
    CHECK(max(where(forbidden, weights(mask), 0)).item() == 0);
    CHECK(min(where(forbidden, 1, weights(mask))).item() > 0);
  }
  // A query that may attend to nothing gives the bias of the projection.
  const Tensor alone = attention(x, Mask::lengths(tensor({4, 0, 2}, int64), 4)).output;
  CHECK(largest_difference(alone[1], expand(attention.out_proj.bias, {4, 8})) == 0);

  const Tensor far = where(Mask::causal(4).allowed(), 0.0, -INFINITY);
  CHECK(largest_difference(attention(x, AttentionOptions{.bias = to(far, float32)}).output,
                           attention(x, Mask::causal(4)).output) < 1e-6);
  const auto [y, w] = attention(x[0], AttentionOptions{.need_weights = true});
  CHECK(y.shape() == Shape{4, 8});
  CHECK(w.shape() == Shape{4, 4});
  CHECK(largest_difference(y, attention(x).output[0]) < 1e-6);
  CHECK(attention(ones({0, 4, 8})).output.shape() == Shape{0, 4, 8});
}

TEST_CASE("MultiheadAttention: dropout in training; scopes capture [B, H, Tq, Tk] under its path") {
  struct Model : Layer<Model> {
    Tensor forward(const Tensor& x) const { return attention(x).output; }
    void visit(Visitor& v) override { v("attention", attention); }
    MultiheadAttention attention{8, 2, {.dropout = 0.5}};
  } model;
  const Tensor x = randn({3, 16, 8});
  AttentionScope scope;
  model(x);
  model.eval();
  model(x);
  const auto dropped = [&](int64_t step) {
    return mean(to(scope.weights("attention", step) == 0, float32)).item();
  };
  CHECK(scope.weights("attention").shape() == Shape{3, 2, 16, 16});
  CHECK(dropped(0) == doctest::Approx(0.5).epsilon(0.1));
  CHECK(dropped(1) == 0);
}

TEST_CASE("MultiheadAttention: an error leaves the cache unchanged; a bias [B, T, T] is for all heads") {
  manual_seed(6);
  const MultiheadAttention attention(8, 2);
  const Tensor x = randn({2, 3, 8});
  KeyValueCache cache;
  attention(x, Mask(), &cache);
  CHECK_THROWS_AS(attention(x, AttentionOptions{.mask = Mask::causal(5)}, &cache), Error);
  CHECK(cache.length() == 3);

  const Tensor bias = randn({2, 3, 3}), each = attention(x, AttentionOptions{.bias = bias}).output;
  for (int64_t b = 0; b < 2; ++b) {
    const Tensor alone = attention(narrow(x, 0, b, 1), AttentionOptions{.bias = select(bias, 0, b)}).output;
    CHECK(magnitude(narrow(each, 0, b, 1) - alone) < 1e-6);
  }
}

// The n-th element of all parameters in the order of their names is 0.5 sin(0.7 n + 0.3).
static MultiheadAttention filled(const AttentionForm& form) {
  MultiheadAttention attention = in_float64(MultiheadAttention(16, 4, form.options));
  StateDict state;
  double n = 0;
  for (const auto& [name, x] : attention.state_dict()) {
    const double end = n + static_cast<double>(x.numel());
    state[name] = reshape(0.5 * sin(0.7 * arange(n, end, 1, float64) + 0.3), x.shape());
    n = end;
  }
  attention.load_state_dict(state);
  return attention;
}

// cos(0.4 n): [2, 5, 16]
static Tensor waves() { return reshape(cos(0.4 * arange(160, float64)), {2, 5, 16}); }

TEST_CASE("MultiheadAttention: every form has the values of loops over heads, queries and keys") {
  // Causal: the first and the last element, and the sum of squares, by a program in Python.
  const std::map<std::string, Values> want = {
      {"plain", {1.6052953594, 0.428372139531, 223.824916168}},
      {"grouped", {-0.337670007435, -0.116127602827, 69.34450009}},
      {"multi_query", {-0.602122740082, 0.849498433414, 38.8229443439}},
      {"latent", {5.91295835962e-05, 0.416048534247, 44.8136095087}},
      {"latent_plain", {0.920096355992, -0.481264846295, 42.3521273024}},
      {"headwise", {1.38655648323, 0.07028429851, 170.087117988}},
      {"elementwise", {1.30652139919, 0.866051782126, 173.328562759}},
      {"qk_norm", {1.6052953594, 0.414890910301, 223.19971935}},
      {"soft_cap", {1.6052953594, 0.40942899251, 222.874717595}},
      {"window", {1.6052953594, 0.562912693836, 220.989172411}},
      {"sinks", {1.6052953594, 0.473089640143, 223.929653617}},
      {"sink_logit", {0.195297739487, -0.0470673297234, 44.4202094103}},
      {"memory", {-0.293016848331, 0.130595457869, 24.9300018796}},
      {"differential", {-0.235188602521, -0.204312924683, 23.4187721794}},
      {"talking", {0.00568424034506, 0.337289447524, 20.6906325717}},
      {"alibi", {1.6052953594, 0.454671853697, 220.98209057}},
      {"t5", {1.6052953594, 0.432724238173, 221.725621113}},
      {"function", {1.6052953594, 0.542170725025, 221.581590058}},
      {"shaw", {1.6052953594, 0.415743293698, 220.80280816}},
      {"xl", {1.6052953594, 0.370202638757, 229.967633405}},
      {"rotary", {1.6052953594, 0.379389644015, 219.055914673}},
      {"rotary_scaled", {1.6052953594, 0.35658016888, 217.284284747}},
  };
  size_t found = 0;
  for (const AttentionForm& form : attention_forms())
    if (const auto numbers = want.find(form.name); numbers != want.end()) {
      ++found;
      const Tensor y = filled(form)(waves(), AttentionOptions{.is_causal = true}).output;
      INFO(form.name);
      CHECK(largest_difference({y[{0, 0, 0}].item(), y[{1, 4, 15}].item(), sum(y * y).item()},
                               numbers->second, Difference::relative) < 1e-10);
    }
  CHECK(found == want.size());
}

TEST_CASE("MultiheadAttention: every form decodes step by step what one call gives, in any steps") {
  for (const AttentionForm& form : attention_forms()) {
    INFO(form.name);
    const MultiheadAttention attention = filled(form);
    const Tensor x = waves().requires_grad_(), g = randn({2, 5, 16}, float64);
    const AttentionOptions causal{.is_causal = true};
    const Tensor whole = attention(x, causal).output;
    CHECK(largest_difference(attention(x, Mask::causal(5)).output, whole) < 1e-12);
    CHECK(largest_difference(attention(x[1], causal).output, whole[1]) < 1e-12);
    for (const int64_t step : {1, 2}) {
      KeyValueCache cache;
      Tensors parts;
      for (int64_t t = 0; t < 5; t += step)
        parts.push_back(attention(narrow(x, 1, t, std::min(step, 5 - t)), causal, &cache).output);
      CHECK(largest_difference(cat(parts, 1), whole) < 1e-12);
      CHECK(largest_difference(grad({cat(parts, 1)}, {x}, {.grad_outputs = {g}})[0],
                               grad({whole}, {x}, {.grad_outputs = {g}, .retain_graph = true})[0]) < 1e-12);
    }
  }
}

TEST_CASE("MultiheadAttention: the weights of every form; masks of every rank; the same fused or not") {
  for (const AttentionForm& form : attention_forms()) {
    INFO(form.name);
    const MultiheadAttention attention = filled(form);
    const Tensor x = waves();
    const Mask lengths = Mask::lengths(tensor({5, 2}, int64), 5);
    for (const Mask& mask :
         {lengths, lengths & Mask::causal(5), Mask(rand({2, 4, 5, 5}) < 0.6), Mask(rand({5, 1}) < 0.6)}) {
      const Tensor fused = attention(x, mask).output;
      AttentionOptions options = kEachHead;
      options.mask = mask;
      const auto [y, weights] = attention(x, options);
      CHECK(largest_difference(y, fused) < 1e-12);
      CHECK(weights.shape() == Shape{2, 4, 5, 5 + form.options.memory_tokens});
    }
    AttentionOptions bias{.bias = randn({2, 5, 5}, float64).requires_grad_(), .is_causal = true};
    sum(square(attention(x, bias).output)).backward();
    CHECK(magnitude(bias.bias.grad()) > 0);
  }
}

TEST_CASE("MultiheadAttention: check_module finds nothing in any form" * doctest::test_suite("slow")) {
  for (const AttentionForm& form : attention_forms()) {
    const ModuleReport report = check_module(MultiheadAttention(16, 4, form.options), {randn({2, 3, 16})});
    CHECK_MESSAGE(report.ok(), form.name, to_string(report));
  }
}

TEST_CASE("MultiheadAttention: forms between a query and other keys, and with cached keys alone") {
  for (AttentionForm form : attention_forms()) {
    if (form.options.rotary || form.options.latent_rotary_dim > 0) continue;
    INFO(form.name);
    form.options.kdim = form.options.vdim = 6;
    const MultiheadAttention attention = in_float64(MultiheadAttention(16, 4, form.options));
    const Tensor x = waves(), memory = randn({2, 7, 6}, float64), none;
    KeyValueCache cache;
    const Tensor y = attention(x, memory, memory, Mask(), &cache).output;
    CHECK(largest_difference(attention(x, memory, memory).output, y) == 0);
    CHECK(largest_difference(attention(x, none, none, Mask(), &cache).output, y) < 1e-12);
  }
}

TEST_CASE("MultiheadAttention: parameters of the forms, and forms that exclude each other") {
  const auto shapes = [](const MultiheadAttentionOptions& options) {
    std::string text;
    for (const NamedTensor& x : MultiheadAttention(16, 4, options).named_parameters())
      if (x.name != "out_proj.weight" && x.name != "out_proj.bias")
        text += x.name + " " + to_string(x.tensor.shape()) + "; ";
    return text;
  };
  CHECK(shapes({.num_kv_heads = 2}) == "in_proj_weight [32, 16]; in_proj_bias [32]; ");
  CHECK(shapes({.bias = false, .kdim = 3, .vdim = 5, .num_kv_heads = 1}) ==
        "q_proj_weight [16, 16]; k_proj_weight [4, 3]; v_proj_weight [4, 5]; ");
  CHECK(shapes({.latent_dim = 6, .latent_rotary_dim = 2}) ==
        "q_proj_weight [24, 16]; kv_a_proj.weight [8, 16]; kv_b_proj.weight [32, 6]; ");
  CHECK(shapes({.position_bias = T5Bias(4)}) ==
        "in_proj_weight [48, 16]; in_proj_bias [48]; relative_attention_bias.weight [32, 4]; ");
  KeyValueCache cache;
  MultiheadAttention(16, 4, {.latent_dim = 6, .latent_rotary_dim = 2})(ones({2, 5, 16}), Mask(), &cache);
  CHECK(cache.keys().shape() == Shape{2, 1, 5, 8});  // latents and rotated parts, of all heads
  CHECK(cache.values().numel() == 0);

  CHECK_ERROR(MultiheadAttention(16, 4, {.num_kv_heads = 3}),
              "MultiheadAttention: num_heads is 4, num_kv_heads 3; the second must divide the first");
  CHECK_ERROR_HAS(MultiheadAttention(12, 4, {.differential = true}),
                  "the width of a head is 3; differential");
  CHECK_ERROR_HAS(MultiheadAttention(16, 4, {.rotary = true, .latent_dim = 4}), "give latent_rotary_dim");
  CHECK_ERROR_HAS(MultiheadAttention(16, 4, {.latent_rotary_dim = 4}), "give latent_dim");
  CHECK_ERROR_HAS(MultiheadAttention(16, 4, {.memory_tokens = -1}), "is negative");
  const Tensor x = ones({2, 5, 16});
  CHECK_ERROR_HAS(MultiheadAttention(16, 4, {.latent_dim = 4})(x, x, ones({2, 5, 16})),
                  "give the key as the value");
  CHECK_ERROR_HAS(
      MultiheadAttention(16, 4, {.position_bias = [](const Tensor& d) { return narrow(d, 0, 0, 2); }})(x),
      "the position_bias is [2] and the scores");
}
