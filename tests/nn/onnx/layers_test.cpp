#include "autograd/ops/basic.h"
#include "autograd/ops/conv.h"
#include "autograd/ops/norm.h"
#include "nn/attention/linear_attention.h"
#include "nn/attention/mask.h"
#include "nn/attention/position.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/recurrent/recurrent.h"
#include "tests/nn/onnx/one_node.h"

namespace {

void check_output(const Tensor& y, const Tensor& expected) {
  REQUIRE(y.shape() == expected.shape());
  CHECK(largest_difference(y, expected) < 1e-5);
}
Tensor layer_output(const std::string& op, const std::vector<Tensor>& inputs,
                    const std::vector<onnx::Attribute>& attributes = {}) {
  return run_node(op, inputs, attributes)[0];
}
// Rows of gates in another order, for one direction: [1, gates H, ...].
Tensor onnx_gates(const Tensor& w, const std::vector<int64_t>& order) {
  const std::vector<Tensor> gates = chunk(w, std::ssize(order));
  std::vector<Tensor> rows;
  for (const int64_t gate : order) rows.push_back(gates[static_cast<size_t>(gate)]);
  return cat(rows);
}
// W, R and B of the layers of a module, one for each direction.
std::vector<Tensor> onnx_weights(const RecurrentStack& module, const std::vector<int64_t>& order) {
  std::vector<Tensor> w, r, b;
  for (const RecurrentWeights& part : module.weights) {
    w.push_back(onnx_gates(part.weight_ih, order)), r.push_back(onnx_gates(part.weight_hh, order));
    b.push_back(cat({onnx_gates(part.bias_ih, order), onnx_gates(part.bias_hh, order)}));
  }
  return {stack(w), stack(r), stack(b)};
}
// [T, B, directions H] as [T, directions, B, H].
Tensor directions_apart(const Tensor& y, int64_t directions) {
  return transpose(reshape(y, {y.size(0), y.size(1), directions, -1}), 1, 2);
}
const std::vector<int64_t> kGruOrder = {1, 0, 2}, kLstmOrder = {0, 3, 1, 2};

}  // namespace

TEST_CASE("onnx: convolutions and pooling") {
  manual_seed(1);
  const Tensor x = randn({2, 4, 7, 6}), w = randn({6, 2, 3, 2}), b = randn({6}), s = randn({2, 3, 9});
  check_output(layer_output("Conv", {x, w, b},
                            {attribute("group", int64_t{2}), attribute("pads", {1, 0, 1, 0}),
                             attribute("strides", {2, 1})}),
               conv2d(x, w, b, {.stride = {2, 1}, .padding = {1, 0}, .groups = 2}));
  check_output(
      layer_output("Conv", {x, w}, {attribute("group", int64_t{2}), attribute("pads", {0, 1, 2, 3})}),
      conv2d(pad(x, {1, 3, 0, 2}), w, {}, {.groups = 2}));
  check_output(layer_output("Conv", {s, randn({1, 3, 2}) * 0}), zeros({2, 1, 8}));
  check_output(layer_output("ConvTranspose", {x, randn({4, 1, 2, 2}) * 0, ones({1})},
                            {attribute("strides", {2, 2}), attribute("output_padding", {1, 0})}),
               ones({2, 1, 15, 12}));
  const auto window = attribute("kernel_shape", {3, 2});
  check_output(
      layer_output("MaxPool", {x}, {window, attribute("strides", {2, 2}), attribute("pads", {1, 1, 1, 1})}),
      max_pool2d(x, {3, 2}, {.stride = 2, .padding = 1}));
  check_output(layer_output("MaxPool", {x}, {window, attribute("pads", {0, 1, 2, 0})}),
               max_pool2d(pad(x, {1, 0, 0, 2}, -kInf), {3, 2}, {.stride = 1}));
  check_output(layer_output("AveragePool", {x}, {window, attribute("pads", {1, 1, 1, 1})}),
               avg_pool2d(x, {3, 2}, {.stride = 1, .padding = 1, .count_include_pad = false}));
  check_output(layer_output("AveragePool", {s},
                            {attribute("kernel_shape", {2}), attribute("ceil_mode", int64_t{1}),
                             attribute("strides", {2})}),
               avg_pool1d(s, 2, {.ceil_mode = true, .count_include_pad = false}));
  check_output(layer_output("AveragePool", {ones({1, 1, 4})},
                            {attribute("kernel_shape", {3}), attribute("pads", {2, 0})}),
               ones({1, 1, 4}));
  check_output(layer_output("GlobalAveragePool", {x}), mean(x, {2, 3}, true));
  check_output(layer_output("GlobalMaxPool", {s}), amax(s, 2, true));
  check_output(
      layer_output("Col2Im", {unfold(x, 2, {.padding = 1}), tensor({7, 6}, int64), tensor({2, 2}, int64)},
                   {attribute("pads", {1, 1, 1, 1})}),
      4 * x);
  CHECK(contains(message([&] {
                   layer_output("Conv", {x, w}, {attribute("pads", {1, 1})});
                 }),
                 "pads has 2 numbers, not 4"));
  CHECK(contains(message([&] {
                   layer_output("Conv", {x, w}, {attribute("kernel_shape", {2, 2})});
                 }),
                 "not that of W"));
  CHECK(contains(message([&] {
                   layer_output(
                       "MaxPool", {x},
                       {window, attribute("pads", {0, 1, 0, 0}), attribute("ceil_mode", int64_t{1})});
                 }),
                 "ceil_mode"));
  CHECK_THROWS_AS(layer_output("MaxPool", {ones({1, 1, 3, 3, 3})}, {attribute("kernel_shape", {2, 2, 2})}),
                  Error);
}

TEST_CASE("onnx: normalization") {
  manual_seed(2);
  const Tensor x = randn({2, 4, 3}), weight = randn({4}), bias = randn({4}), mean_ = randn({4}),
               var_ = rand({4});
  check_output(layer_output("BatchNormalization", {x, weight, bias, mean_, var_}),
               batch_norm(x, mean_, var_, weight, bias));
  check_output(layer_output("GroupNormalization", {x, weight, bias}, {attribute("num_groups", int64_t{2})}),
               group_norm(x, 2, weight, bias));
  check_output(layer_output("InstanceNormalization", {x, weight, bias}), group_norm(x, 4, weight, bias));
  const Tensor scale = randn({4, 3}), shift = randn({3});
  const auto all = run_node("LayerNormalization", {x, scale, shift}, {attribute("axis", int64_t{1})}, 3);
  check_output(all[0], layer_norm(x, {4, 3}, scale, expand(shift, {4, 3})));
  check_output(all[1], mean(x, {1, 2}, true));
  check_output((x - all[1]) * all[2], layer_norm(x, {4, 3}));
  check_output(layer_output("RMSNormalization", {x, shift}), rms_norm(x, {3}, shift, 1e-5));
}

TEST_CASE("onnx: recurrent layers are those of heed with the gates in another order") {
  manual_seed(3);
  const Tensor x = randn({5, 2, 3}), lengths = tensor({3, 5}, int64);
  const auto both = attribute("direction", "bidirectional");
  const auto with = [&](std::vector<Tensor> weights, const std::vector<Tensor>& more = {}) {
    weights.insert(weights.begin(), x);
    weights.insert(weights.end(), more.begin(), more.end());
    return weights;
  };

  const GRU gru(3, 4, {.bidirectional = true});
  const Tensor h = randn({2, 2, 4});
  const RecurrentResult of_gru = gru(x, h, lengths);
  const auto by_gru = run_node("GRU", with(onnx_weights(gru, kGruOrder), {lengths, h}),
                               {both, attribute("linear_before_reset", int64_t{1})}, 2);
  check_output(by_gru[1], of_gru.h_n);
  const Tensor inside = reshape(arange(5, int64), {5, 1, 1, 1}) < reshape(lengths, {1, 1, 2, 1});
  check_output(by_gru[0], where(inside, directions_apart(of_gru.output, 2), 0));

  const LSTM lstm(3, 4);
  const auto [output, h_n, c_n] = lstm(x, narrow(h, 0, 0, 1), narrow(h, 0, 1, 1));
  const auto by_lstm = run_node(
      "LSTM", with(onnx_weights(lstm, kLstmOrder), {Tensor(), narrow(h, 0, 0, 1), narrow(h, 0, 1, 1)}), {},
      3);
  check_output(by_lstm[0], directions_apart(output, 1)), check_output(by_lstm[1], h_n),
      check_output(by_lstm[2], c_n);

  const RNN rnn(3, 4, {.nonlinearity = init::Nonlinearity::relu});
  check_output(run_node("RNN", with(onnx_weights(rnn, {0})),
                        {attribute("activations", std::vector<std::string>{"Relu"})})[0],
               directions_apart(rnn(x).output, 1));
  std::vector<Tensor> without_bias = onnx_weights(rnn, {0});
  without_bias.pop_back();
  CHECK(run_node("RNN", with(without_bias), {attribute("direction", "reverse")})[0].shape() ==
        Shape{5, 1, 2, 4});
  CHECK(contains(message([&] { run_node("RNN", with(without_bias), {both}); }), "for bidirectional"));
}

TEST_CASE("onnx: Attention with grouped heads, masks, windows, soft cap and a cache") {
  manual_seed(4);
  const Tensor q = randn({2, 4, 3, 8}), k = randn({2, 2, 5, 8}), v = randn({2, 2, 5, 6});
  const auto expected = [&](AttentionOptions options) {
    options.enable_gqa = true;
    return F::scaled_dot_product_attention(q, k, v, options).output;
  };
  const auto flag = [](const char* name, int64_t i) { return attribute(name, i); };
  check_output(layer_output("Attention", {q, k, v}), expected({}));
  check_output(layer_output("Attention", {q, k, v},
                            {flag("is_causal", 1), attribute("softcap", 2.0F), attribute("scale", 0.5F)}),
               expected({.is_causal = true, .scale = 0.5, .soft_cap = 2}));
  const Tensor mask = tensor({{1, 0, 1}, {0, 0, 0}, {0, 1, 1}}, boolean), bias = randn({3, 5});
  check_output(layer_output("Attention", {q, k, v, mask}), expected({.mask = pad(mask, {0, 2})}));
  check_output(layer_output("Attention", {q, k, v, bias}), expected({.bias = bias}));
  check_output(
      layer_output("Attention", {q, k, v}, {flag("left_window_size", 1), flag("right_window_size", 0)}),
      expected({.mask = pad(Mask::window(3, 1, 0).allowed(), {0, 2})}));
  check_output(
      layer_output("Attention", {q, k, v, {}, {}, {}, tensor({5, 4}, int64)}, {flag("is_causal", 1)}),
      expected({.mask = reshape(arange(5, int64), {1, 1, 1, 5}) <=
                        reshape(tensor({2, 1}, int64), {2, 1, 1, 1}) + reshape(arange(3, int64), {3, 1})}));

  const auto flat = [](const Tensor& x) { return flatten(transpose(x, 1, 2), 2); };
  const auto heads = std::vector{flag("q_num_heads", 4), flag("kv_num_heads", 2)};
  check_output(layer_output("Attention", {flat(q), flat(k), flat(v)}, heads), flat(expected({})));
  const auto cached = run_node(
      "Attention", {q, narrow(k, 2, 2, 3), narrow(v, 2, 2, 3), {}, narrow(k, 2, 0, 2), narrow(v, 2, 0, 2)},
      {flag("is_causal", 1)}, 3);
  check_output(cached[0], expected({.is_causal = true, .past = 2}));
  check_output(cached[1], k), check_output(cached[2], v);
  CHECK(contains(message([&] { layer_output("Attention", {q, k, v, {}, k}); }), "past_key and past_value"));
  CHECK(contains(message([&] { layer_output("Attention", {flat(q), k, v}); }), "for 0 heads"));
}

TEST_CASE("onnx: RotaryEmbedding and LinearAttention") {
  manual_seed(5);
  const Tensor x = randn({2, 3, 5, 8}), angles = detail::angles(arange(5), 8);
  const Tensor cos_ = to(cos(angles), float32), sin_ = to(sin(angles), float32);
  const Tensor ids = expand(arange(5, int64), {2, 5});
  const auto pairs = attribute("interleaved", int64_t{1});
  check_output(layer_output("RotaryEmbedding", {x, cos_, sin_, ids}, {pairs}), RotaryPosition(8)(x));
  const Tensor halves = cat({slice(x, 3, 0, 8, 2), slice(x, 3, 1, 8, 2)}, 3), y = RotaryPosition(8)(x);
  check_output(layer_output("RotaryEmbedding", {halves, expand(cos_, {2, 5, 4}), expand(sin_, {2, 5, 4})}),
               cat({slice(y, 3, 0, 8, 2), slice(y, 3, 1, 8, 2)}, 3));
  const Tensor wide = cat({x, x}, 3), flat = flatten(transpose(wide, 1, 2), 2);
  check_output(layer_output("RotaryEmbedding", {flat, cos_, sin_, ids},
                            {pairs, attribute("num_heads", int64_t{3}),
                             attribute("rotary_embedding_dim", int64_t{8})}),
               flatten(transpose(cat({y, x}, 3), 1, 2), 2));

  const Tensor q = randn({2, 6, 16}), k = randn({2, 6, 8}), v = randn({2, 6, 4}), decay = -rand({2, 6, 2}),
               beta = rand({2, 6, 1});
  const auto split = [](const Tensor& t, int64_t heads) {
    return transpose(reshape(t, {2, 6, heads, -1}), 1, 2);
  };
  const auto expected = F::linear_attention(
      split(q, 4), split(k, 2), split(v, 2),
      {.rule = LinearRule::gated_delta, .decay = split(decay, 2), .beta = split(expand(beta, {2, 6, 2}), 2)});
  const auto got = run_node("LinearAttention", {q, k, v, {}, decay, beta},
                            {attribute("q_num_heads", int64_t{4}), attribute("kv_num_heads", int64_t{2})}, 2);
  check_output(got[0], flatten(transpose(expected.output, 1, 2), 2));
  check_output(got[1], expected.state);
}
