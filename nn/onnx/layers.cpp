#include "autograd/ops/conv.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/recurrent.h"
#include "nn/attention/linear_attention.h"
#include "nn/attention/mask.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/onnx/operator.h"

namespace heed::onnx {
namespace {

// The dimensions of x from one on, and their sizes.
Dims dims_from(X x, int64_t dim) { return Shape(int_list(arange(check_dim(x, dim), x.dim(), 1, int64))); }
Shape sizes_from(X x, int64_t dim) {
  return detail::mapped(dims_from(x, dim), [&](int64_t d) { return x.size(d); });
}

// The attributes of windows in images, as options of heed's operations.
struct Windows {
  explicit Windows(Call& call) : valid(call.take<bool>()), pads(call.take<IntList>()) {
    options.stride = call.take<std::optional<Dims>>().value_or(1);
    options.dilation = call.take<std::optional<Dims>>().value_or(1);
  }
  // For windows of this size, the options pad as much on both sides, and pooling at most half of it. Returns
  // the rest, for pad().
  IntList split_padding(const Shape& size, bool pooling = false) {
    const int64_t dims = size.dim(), count = valid ? 0 : 2 * dims;
    check(pads.empty() || std::ssize(pads) == count, "pads has ", pads.size(), " numbers, not ", count);
    Dims both;
    IntList rest;
    for (int64_t i = 0; i < dims && !pads.empty(); ++i) {
      const int64_t before = pads.begin()[i], after = pads.begin()[dims + i];
      both.push_back(std::max<int64_t>(0, std::min({before, after, pooling ? size[i] / 2 : INT64_MAX})));
      rest.insert(rest.begin(), {before - both[i], after - both[i]});
    }
    if (!pads.empty()) options.padding = both;
    return std::ranges::count(rest, 0) == std::ssize(rest) ? IntList() : rest;
  }

  bool valid;  // no padding
  IntList pads;
  ConvOptions options = {};
};
Tensor padded(X x, const IntList& pads, Scalar value = 0) { return pads.empty() ? x : pad(x, pads, value); }

Tensor conv(X x, X weight, X bias, Windows windows, int64_t groups, const std::optional<Shape>& kernel) {
  const Shape size = sizes_from(weight, 2);
  check(!kernel || *kernel == size, "kernel_shape is not that of W");
  const Tensor in = padded(x, windows.split_padding(size));
  windows.options.groups = groups;
  return (size.dim() == 1 ? conv1d : conv2d)(in, weight, bias, windows.options);
}
Tensor conv_transpose(X x, X weight, X bias, Windows windows, int64_t groups, std::optional<Dims> added) {
  const Shape size = sizes_from(weight, 2);
  check(windows.split_padding(size).empty(), "pads differ before and after the images");
  windows.options.groups = groups;
  windows.options.output_padding = added.value_or(0);
  return (size.dim() == 1 ? conv_transpose1d : conv_transpose2d)(x, weight, bias, windows.options);
}
Tensor fold_columns(X x, const Shape& images, const Shape& size, Windows windows) {
  check(windows.split_padding(size).empty(), "pads differ before and after the images");
  return fold(x, images, size, windows.options);
}
template <bool largest>
Tensor pool(X x, Windows windows, const Shape& size, bool ceil, bool counts_padding) {
  const IntList rest = windows.split_padding(size, true);
  check(rest.empty() || !ceil, "ceil_mode, and pads that are large or differ before and after the images");
  const ConvOptions& o = windows.options;
  const bool signal = size.dim() == 1;
  if (largest)
    return (signal ? max_pool1d : max_pool2d)(padded(x, rest, -INFINITY), size,
                                              {o.stride, o.padding, o.dilation, ceil});
  const auto means = [&](X in) {
    return (signal ? avg_pool1d : avg_pool2d)(padded(in, rest), size,
                                              {o.stride, o.padding, ceil, counts_padding});
  };
  return rest.empty() || counts_padding ? means(x) : means(x) / means(ones_like(x));
}

Tensors layer_normalization(X x, X scale, X bias, int64_t axis, double epsilon, const Call& call) {
  const Shape shape = sizes_from(x, axis);
  const Dims dims = dims_from(x, axis);
  Tensors y{layer_norm(x, shape, expand(scale, shape), bias.defined() ? expand(bias, shape) : bias, epsilon)};
  if (call.outputs > 1) y.insert(y.end(), {mean(x, dims, true), rsqrt(var(x, dims, 0, true) + epsilon)});
  return y;
}

// RNN, GRU and LSTM.
template <Recurrence kind>
Tensors recurrent(X x, X w, X r, X b, X lengths, X initial_h, Call call) {
  constexpr bool lstm = kind == Recurrence::lstm;
  const Tensor initial_c = lstm ? call.take<Tensor>() : Tensor();
  const auto direction = call.take<int64_t>();  // forward, reverse, or both
  auto functions = call.take<Ints>();           // of each direction of an RNN: tanh or relu
  functions.resize(2);
  check(x.dim() == 3 && w.dim() == 3 && r.dim() == 3, "X, W and R must have 3 dimensions");
  const int64_t B = x.size(1), H = r.size(2), directions = direction == 2 ? 2 : 1;
  const Tensor bias = b.defined() ? b : zeros({directions, 2 * r.size(1)}, x.dtype());
  check(w.size(0) == directions, "W is ", w.shape(), " for ", directions == 2 ? "bidirectional" : "one way");
  check(bias.shape() == Shape{directions, 2 * r.size(1)}, "B is ", bias.shape(), " for R ", r.shape());
  const Ints order = lstm ? Ints{0, 2, 3, 1} : kind == Recurrence::gru ? Ints{1, 0, 2} : Ints{0};
  // The rows of heed's gates among those of ONNX.
  const auto gates = [&](X of_all, int64_t d) {
    const Tensor rows = select(of_all, 0, d);
    return reshape(index_select(reshape(rows, {std::ssize(order), -1}), 0, list(order)), rows.shape());
  };
  const auto state = [&](X given) { return given.defined() ? given : zeros({directions, B, H}, x.dtype()); };
  const Tensor start = lstm ? cat({state(initial_h), state(initial_c)}, 2) : state(initial_h);
  const Tensors biases = chunk(bias, 2, 1);

  Tensors states, last;
  for (int64_t d = 0; d < directions; ++d) {
    const bool reverse = direction == 1 || d == 1, relu = functions[static_cast<size_t>(d)] == 1;
    states.push_back(recurrence(
        relu ? Recurrence::rnn_relu : kind, linear(x, gates(w, d), gates(biases.at(0), d)),
        select(start, 0, d), gates(r, d), gates(biases.at(1), d), {.lengths = lengths, .reverse = reverse}));
    last.push_back(select(states.back(), 0, reverse ? 0 : -1));
  }
  Tensor y = narrow(stack(states, 1), 3, 0, H);  // [T, directions, B, H]
  if (lengths.defined())                         // 0 after the end of a sequence
    y = where(reshape(arange(x.size(0), int64), {-1, 1, 1, 1}) < reshape(lengths, {1, 1, B, 1}), y, 0);
  if (!lstm) return {y, stack(last)};
  return {y, narrow(stack(last), 2, 0, H), narrow(stack(last), 2, H, H)};
}

// [B, T, heads D] -> [B, heads, T, D]; x itself if it has 4 dimensions.
Tensor split_heads(X x, int64_t heads) {
  if (!x.defined() || x.dim() == 4) return x;
  const bool fits = x.dim() == 3 && heads > 0 && x.size(2) % heads == 0;
  check(fits, "an input is ", x.shape(), " for ", heads, " heads");
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
// The inverse, if the input had 3 dimensions.
Tensor join_heads(X y, X input) { return input.dim() == 4 ? y : flatten(transpose(y, 1, 2), 2); }

Tensors attention(X query, X key, X value, X mask, X past_key, X past_value, X lengths, int64_t q_heads,
                  int64_t kv_heads, bool causal, std::optional<double> scale, double soft_cap, int64_t before,
                  int64_t after) {
  check(past_key.defined() == past_value.defined() && !(past_key.defined() && lengths.defined()),
        "past_key and past_value must be given together, and without nonpad_kv_seqlen");
  const Tensor q = split_heads(query, q_heads);
  Tensor k = split_heads(key, kv_heads), v = split_heads(value, kv_heads);
  if (past_key.defined()) k = cat({past_key, k}, 2), v = cat({past_value, v}, 2);
  const int64_t past = past_key.defined() ? past_key.size(2) : 0, T = q.size(2), keys = k.size(2);

  AttentionOptions options{.past = past, .scale = scale, .soft_cap = soft_cap, .enable_gqa = true};
  options.is_causal = causal && !lengths.defined();
  Mask allowed;
  if (mask.defined()) {  // one that ends early allows no keys after its end
    const IntList missing{0, std::max<int64_t>(0, keys - mask.size(-1))};
    if (mask.dtype() == boolean) allowed = pad(mask, missing, false);
    if (mask.dtype() != boolean) options.bias = pad(mask, missing, -INFINITY);
  }
  // Positions of queries minus those of keys: [Tq, Tk], or [B, 1, Tq, Tk] if the queries are the last of
  // `lengths`.
  Tensor distance = unsqueeze(arange(past, past + T, 1, int64), 1) - arange(keys, int64);
  if (lengths.defined()) {
    const Tensor length = reshape(lengths, {-1, 1, 1, 1});
    distance = distance + length - T;
    allowed = allowed & (arange(keys, int64) < length);
    if (causal) allowed = allowed & (distance >= 0);
  }
  if (before >= 0) allowed = allowed & (distance <= before);
  if (after >= 0) allowed = allowed & (distance >= -after);
  options.mask = allowed;
  return {join_heads(F::scaled_dot_product_attention(q, k, v, options).output, query), k, v};
}

// Rotates pairs (a, b), neighbors if `interleaved`, else from both halves: (a cos - b sin, b cos + a sin).
Tensor rotary_embedding(X input, X cos_cache, X sin_cache, X positions, bool interleaved, int64_t heads,
                        int64_t rotated) {
  const auto angle = [&](X cache) {  // [B, 1, T, width / 2]
    return unsqueeze(positions.defined() ? embedding(cache, positions) : cache, 1);
  };
  const Tensor cos = angle(cos_cache), sin = angle(sin_cache), x = split_heads(input, heads);  // [B, H, T, D]
  const int64_t D = x.size(3), width = rotated > 0 ? rotated : D, of_pair = interleaved ? 4 : 3;
  const Tensor pairs = reshape(narrow(x, 3, 0, width), x.shape().with(3, width / 2).inserted(of_pair, 2));
  const Tensor a = select(pairs, of_pair, 0), b = select(pairs, of_pair, 1);
  const Tensor y = flatten(stack({a * cos - b * sin, b * cos + a * sin}, of_pair), 3);
  return join_heads(cat({y, narrow(x, 3, width, D - width)}, 3), input);
}

Tensors attention_by_state(X query, X key, X value, X state, X decay, X beta, int64_t q_heads,
                           int64_t kv_heads, size_t rule, double scale) {
  constexpr std::array rules{LinearRule::gated_delta, LinearRule::linear, LinearRule::gated,
                             LinearRule::delta};
  const auto split = [&](X x) { return split_heads(x, kv_heads); };
  LinearAttentionOptions options{.rule = rules.at(rule), .decay = split(decay), .state = state};
  if (beta.defined()) options.beta = split(expand(beta, {beta.size(0), beta.size(1), kv_heads}));
  if (scale != 0) options.scale = scale;
  const auto [y, last] = F::linear_attention(split_heads(query, q_heads), split(key), split(value), options);
  return {join_heads(y, query), last};
}

}  // namespace

// clang-format off
std::vector<Operator> layer_operators() {
  const std::string padding = "auto_pad=NOTSET|VALID pads?=ints strides?=ints ", windows = padding + "dilations?=ints ";
  const std::string recurrence = "direction=forward|reverse|bidirectional activations=";
  const std::string rnn = "X W R B? sequence_lens? initial_h? ", rest = " hidden_size?=int layout=0=0";
  return {
      {"Conv", 1, "X W B? " + windows + "group=1 kernel_shape?=one_or_two", conv},
      {"ConvTranspose", 1, "X W B? " + windows + "group=1 output_padding?=ints kernel_shape?=one_or_two", conv_transpose},
      {"Col2Im", 18, "X image_shape block_shape " + windows, fold_columns},
      {"MaxPool", 8, "X " + windows + "kernel_shape=one_or_two ceil_mode=0 storage_order=0", pool<true>},
      {"AveragePool", 7, "X " + padding + "dilations?=ints=1 kernel_shape=one_or_two ceil_mode=0 count_include_pad=0", pool<false>},
      {"GlobalAveragePool", 1, "X", [](X x) { return mean(x, dims_from(x, 2), true); }},
      {"GlobalMaxPool", 1, "X", [](X x) { return amax(x, dims_from(x, 2), true); }},

      {"BatchNormalization", 9, "X scale B mean var epsilon=0.00001 momentum=0.9 training_mode=0=0",
       [](X x, X w, X b, X mean, X var, double eps) { return batch_norm(x, mean, var, w, b, false, 0, eps); }},
      {"GroupNormalization", 21, "X scale bias num_groups=int epsilon=0.00001 stash_type=1=1",
       [](X x, X w, X b, int64_t groups, double eps) { return group_norm(x, groups, w, b, eps); }},
      {"InstanceNormalization", 6, "X scale B epsilon=0.00001",
       [](X x, X w, X b, double eps) { return group_norm(x, x.size(1), w, b, eps); }},
      {"LayerNormalization", 17, "X scale B? axis=-1 epsilon=0.00001 stash_type=1=1", layer_normalization, 3},
      {"RMSNormalization", 23, "X scale axis=-1 epsilon=0.00001 stash_type=1=1", [](X x, X w, int64_t axis, double eps) {
         return rms_norm(x, sizes_from(x, axis), expand(w, sizes_from(x, axis)), eps); }},

      {"RNN", 7, rnn + recurrence + "Tanh|Relu,Tanh|Relu" + rest, recurrent<Recurrence::rnn_tanh>, 2},
      {"GRU", 7, rnn + recurrence + "Sigmoid,Tanh" + rest + " linear_before_reset=0=1", recurrent<Recurrence::gru>, 2},
      {"LSTM", 7, rnn + "initial_c? " + recurrence + "Sigmoid,Tanh,Tanh" + rest + " input_forget=0=0",
       recurrent<Recurrence::lstm>, 3},
      {"Attention", 23, "Q K V attn_mask? past_key? past_value? nonpad_kv_seqlen? q_num_heads=0 kv_num_heads=0 is_causal=0 "
                        "scale?=float softcap=0.0 left_window_size=-1 right_window_size=-1 qk_matmul_output_mode=0 "
                        "softmax_precision=1=1", attention, 3},
      {"RotaryEmbedding", 23, "X cos sin position_ids? interleaved=0 num_heads=0 rotary_embedding_dim=0", rotary_embedding},
      {"LinearAttention", 27, "query key value past_state? decay? beta? q_num_heads=int kv_num_heads=int "
                              "update_rule=gated_delta|linear|gated|delta scale=0.0 chunk_size=64", attention_by_state, 2},
  };
}
// clang-format on

}  // namespace heed::onnx
