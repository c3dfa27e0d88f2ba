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

using X = const Tensor&;
using Tensors = std::vector<Tensor>;

// The dimensions of x from one on, and their sizes.
Dims dims_from(X x, int64_t dim) { return Shape(int_list(arange(check_dim(x, dim), x.dim(), 1, int64))); }
Shape sizes_from(X x, int64_t dim) {
  return int_list(slice(list(IntList(x.shape())), 0, check_dim(x, dim), x.dim()));
}

// The padding of images: equal on both sides, which operations add themselves, and the rest for pad().
struct Sides {
  Shape both;
  IntList rest;  // empty if there is none
  Tensor pad(X x, Scalar value = 0) const { return rest.empty() ? x : heed::pad(x, rest, value); }
};
// The attributes of windows in images.
struct Windows {
  explicit Windows(Call& call)
      : valid(call.take<bool>()),
        pads(call.take<IntList>()),
        stride(call.take<Dims>()),
        dilation(call.take<Dims>()) {}

  // The padding for windows of this size; pooling adds at most half of it on both sides.
  Sides sides(const Shape& size, bool pooling = false) const {
    const int64_t dims = size.dim();
    check(pads.empty() || (std::ssize(pads) == 2 * dims && !valid), "pads has ", pads.size(),
          " numbers, not ", 2 * dims, ", or auto_pad is VALID");
    Sides y{Shape::filled(dims, 0), {}};
    for (int64_t i = pads.empty() ? 0 : dims; i-- > 0;) {
      const int64_t before = pads.begin()[i], after = pads.begin()[dims + i];
      y.both[i] = std::max<int64_t>(0, std::min({before, after, pooling ? size[i] / 2 : INT64_MAX}));
      y.rest.insert(y.rest.end(), {before - y.both[i], after - y.both[i]});
    }
    if (std::ranges::count(y.rest, 0) == std::ssize(y.rest)) y.rest.clear();
    return y;
  }
  ConvOptions options(const Sides& padding, int64_t groups = 1) const {
    return {.stride = stride, .padding = padding.both, .dilation = dilation, .groups = groups};
  }

  bool valid;  // no padding
  IntList pads;
  Dims stride, dilation;
};

Tensor conv(X x, X weight, X bias, const Windows& windows, int64_t groups,
            const std::optional<Shape>& kernel) {
  const Shape size = sizes_from(weight, 2);
  check(!kernel || *kernel == size, "kernel_shape is not that of W");
  const Sides padding = windows.sides(size);
  return (size.dim() == 1 ? conv1d : conv2d)(padding.pad(x), weight, bias, windows.options(padding, groups));
}
Tensor conv_transpose(X x, X weight, X bias, const Windows& windows, int64_t groups,
                      const Dims& output_padding) {
  const Shape size = sizes_from(weight, 2);
  const Sides padding = windows.sides(size);
  check(padding.rest.empty(), "pads differ before and after the images");
  ConvOptions options = windows.options(padding, groups);
  options.output_padding = output_padding;
  return (size.dim() == 1 ? conv_transpose1d : conv_transpose2d)(x, weight, bias, options);
}
Tensor fold_columns(X x, const Shape& images, const Shape& size, const Windows& windows) {
  const Sides padding = windows.sides(size);
  check(padding.rest.empty(), "pads differ before and after the images");
  return fold(x, images, size, windows.options(padding));
}
Tensor pool_max(X x, const Windows& windows, const Shape& size, bool ceil) {
  const Sides padding = windows.sides(size, true);
  check(padding.rest.empty() || !ceil,
        "ceil_mode, and pads that are large or differ before and after the images");
  return (size.dim() == 1 ? max_pool1d : max_pool2d)(padding.pad(x, -INFINITY), size,
                                                     {windows.stride, padding.both, windows.dilation, ceil});
}
Tensor pool_mean(X x, const Windows& windows, const Shape& size, bool ceil, bool counts_padding) {
  const Sides padding = windows.sides(size, true);
  check(padding.rest.empty() || !ceil,
        "ceil_mode, and pads that are large or differ before and after the images");
  const auto means = [&](X in) {
    return (size.dim() == 1 ? avg_pool1d : avg_pool2d)(padding.pad(in), size,
                                                       {windows.stride, padding.both, ceil, counts_padding});
  };
  return padding.rest.empty() || counts_padding ? means(x) : means(x) / means(ones_like(x));
}

Tensors layer_normalization(X x, X scale, X bias, int64_t axis, double epsilon, const Call& call) {
  const Shape shape = sizes_from(x, axis);
  const Dims dims = dims_from(x, axis);
  Tensors y{layer_norm(x, shape, expand(scale, shape), bias.defined() ? expand(bias, shape) : bias, epsilon)};
  if (call.outputs > 1) y.insert(y.end(), {mean(x, dims, true), rsqrt(var(x, dims, 0, true) + epsilon)});
  return y;
}
Tensor rms_normalization(X x, X scale, int64_t axis, double epsilon) {
  const Shape shape = sizes_from(x, axis);
  return rms_norm(x, shape, expand(scale, shape), epsilon);
}

// RNN, GRU and LSTM.
template <Recurrence kind>
Tensors recurrent(X x, X w, X r, X b, X lengths, X initial, Call call) {
  constexpr bool lstm = kind == Recurrence::lstm;
  const Tensor initial_c = lstm ? call.take<Tensor>() : Tensor();
  const auto direction = call.take<int64_t>();  // forward, reverse, or both
  const auto functions = call.take<IntList>();
  check(x.dim() == 3 && w.dim() == 3 && r.dim() == 3, "X, W and R must have 3 dimensions");
  const int64_t B = x.size(1), H = r.size(2), directions = direction == 2 ? 2 : 1;
  const Tensor bias = b.defined() ? b : zeros({directions, 2 * r.size(1)}, x.dtype());
  check(w.size(0) == directions && bias.shape() == Shape{directions, 2 * r.size(1)}, "W is ", w.shape(),
        ", R ", r.shape(), " and B ", bias.shape(), " for ",
        directions == 2 ? "bidirectional" : "one direction");

  // heed's gates among those of ONNX
  const IntList order = lstm ? IntList{0, 2, 3, 1} : kind == Recurrence::gru ? IntList{1, 0, 2} : IntList{0};
  const auto in_order = [&](X rows) {  // [gates H, ...]
    return reshape(index_select(reshape(rows, {std::ssize(order), -1}), 0, list(order)), rows.shape());
  };
  const auto or_zero = [&](X state) {
    return state.defined() ? state : zeros({directions, B, H}, x.dtype());
  };
  const Tensor start = lstm ? cat({or_zero(initial), or_zero(initial_c)}, 2) : or_zero(initial);
  Tensors states, last;
  for (int64_t d = 0; d < directions; ++d) {
    const bool reverse = direction == 1 || d == 1,
               relu = d < std::ssize(functions) && functions.begin()[d] == 1;
    const Tensors biases = chunk(select(bias, 0, d), 2);
    states.push_back(recurrence(relu ? Recurrence::rnn_relu : kind,
                                linear(x, in_order(select(w, 0, d)), in_order(biases.at(0))),
                                select(start, 0, d), in_order(select(r, 0, d)), in_order(biases.at(1)),
                                {.lengths = lengths, .reverse = reverse}));
    last.push_back(select(states.back(), 0, reverse ? 0 : -1));
  }
  Tensor y = narrow(stack(states, 1), 3, 0, H);  // [T, directions, B, H]
  if (lengths.defined())                         // 0 after the end of a sequence
    y = where(reshape(arange(x.size(0), int64), {-1, 1, 1, 1}) < reshape(lengths, {1, 1, B, 1}), y, 0);
  Tensors results{y, narrow(stack(last), 2, 0, H)};
  if (lstm) results.push_back(narrow(stack(last), 2, H, H));
  return results;
}

// [B, T, heads D] -> [B, heads, T, D]; x itself if it has 4 dimensions.
Tensor split_heads(X x, int64_t heads) {
  if (!x.defined() || x.dim() == 4) return x;
  check(x.dim() == 3 && heads > 0 && x.size(2) % heads == 0, "an input is ", x.shape(), " for ", heads,
        " heads");
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
// The inverse, if the input had 3 dimensions.
Tensor join_heads(X y, X input) { return input.dim() == 4 ? y : flatten(transpose(y, 1, 2), 2); }

Tensors attention(X query, X key, X value, X mask, X past_key, X past_value, X lengths, int64_t q_heads,
                  int64_t kv_heads, bool is_causal, std::optional<double> scale, double soft_cap,
                  int64_t before, int64_t after) {
  const Tensor q = split_heads(query, q_heads);
  Tensor k = split_heads(key, kv_heads), v = split_heads(value, kv_heads);
  check(past_key.defined() == past_value.defined() && !(past_key.defined() && lengths.defined()),
        "past_key and past_value must be given together, and without nonpad_kv_seqlen");
  if (past_key.defined()) k = cat({past_key, k}, 2), v = cat({past_value, v}, 2);
  const int64_t past = past_key.defined() ? past_key.size(2) : 0, T = q.size(2), keys = k.size(2);

  AttentionOptions options{.is_causal = is_causal && !lengths.defined(),
                           .past = past,
                           .scale = scale,
                           .soft_cap = soft_cap,
                           .enable_gqa = true};
  Mask allowed;
  if (mask.defined()) {  // one that ends early allows no keys after its end
    const int64_t missing = std::max<int64_t>(0, keys - mask.size(-1));
    if (mask.dtype() == boolean)
      allowed = pad(mask, {0, missing}, false);
    else
      options.bias = pad(mask, {0, missing}, -INFINITY);
  }
  // Positions of queries minus those of keys: [Tq, Tk], or [B, 1, Tq, Tk] if the queries are the last of
  // `lengths`.
  Tensor distance = unsqueeze(arange(past, past + T, 1, int64), 1) - arange(keys, int64);
  if (lengths.defined()) {
    const Tensor length = reshape(lengths, {-1, 1, 1, 1});
    distance = distance + length - T;
    allowed = allowed & (arange(keys, int64) < length);
    if (is_causal) allowed = allowed & (distance >= 0);
  }
  if (before >= 0) allowed = allowed & (distance <= before);
  if (after >= 0) allowed = allowed & (distance >= -after);
  options.mask = allowed;
  return {join_heads(F::scaled_dot_product_attention(q, k, v, options).output, query), k, v};
}

// Rotates pairs (a, b), neighbors if `interleaved`, else from both halves: (a cos - b sin, b cos + a sin).
Tensor rotary_embedding(X input, X cos_cache, X sin_cache, X positions, bool interleaved, int64_t heads,
                        int64_t rotated) {
  const Tensor x = split_heads(input, heads);  // [B, H, T, D]
  const int64_t D = x.size(3), width = rotated > 0 ? rotated : D, of_pair = interleaved ? 4 : 3;
  const auto angle = [&](X cache) {  // [B, 1, T, width / 2]
    return unsqueeze(positions.defined() ? embedding(cache, positions) : cache, 1);
  };
  const Tensor cos = angle(cos_cache), sin = angle(sin_cache);
  const Shape split = Shape(x.shape()).with(3, width / 2).inserted(of_pair, 2);
  const Tensor pairs = reshape(narrow(x, 3, 0, width), split);
  const Tensor a = select(pairs, of_pair, 0), b = select(pairs, of_pair, 1);
  const Tensor y = flatten(stack({a * cos - b * sin, b * cos + a * sin}, of_pair), 3);
  return join_heads(cat({y, narrow(x, 3, width, D - width)}, 3), input);
}

Tensors linear_rule(X query, X key, X value, X past, X decay, X beta, int64_t kv_heads, int64_t q_heads,
                    size_t rule, double scale) {
  constexpr std::array rules{LinearRule::gated_delta, LinearRule::linear, LinearRule::gated,
                             LinearRule::delta};
  LinearAttentionOptions options{
      .rule = rules.at(rule), .decay = split_heads(decay, kv_heads), .state = past};
  if (beta.defined())
    options.beta = split_heads(expand(beta, {beta.size(0), beta.size(1), kv_heads}), kv_heads);
  if (scale != 0) options.scale = scale;
  const auto [y, state] = F::linear_attention(split_heads(query, q_heads), split_heads(key, kv_heads),
                                              split_heads(value, kv_heads), options);
  return {join_heads(y, query), state};
}

}  // namespace

// clang-format off
std::vector<Operator> layer_operators() {
  const std::string padding = "auto_pad=NOTSET|VALID pads=ints? strides=ints?1 ", windows = padding + "dilations=ints?1 ";
  const std::string recurrence = "direction=forward|reverse|bidirectional activations=";
  return {
      {"Conv", 1, "X W B? " + windows + "group=1 kernel_shape=ints?", conv},
      {"ConvTranspose", 1, "X W B? " + windows + "group=1 output_padding=ints?0 kernel_shape=ints?", conv_transpose},
      {"Col2Im", 18, "X image_shape block_shape " + windows, fold_columns},
      {"MaxPool", 8, "X " + windows + "kernel_shape=ints ceil_mode=0 storage_order=0", pool_max},
      {"AveragePool", 7, "X " + padding + "dilations=ints?1=1 kernel_shape=ints ceil_mode=0 count_include_pad=0", pool_mean},
      {"GlobalAveragePool", 1, "X", [](X x) { return mean(x, dims_from(x, 2), true); }},
      {"GlobalMaxPool", 1, "X", [](X x) { return amax(x, dims_from(x, 2), true); }},

      {"BatchNormalization", 9, "X scale B mean var epsilon=0.00001 momentum=0.9 training_mode=0=0",
       [](X x, X scale, X bias, X mean, X var, double epsilon) { return batch_norm(x, mean, var, scale, bias, false, 0, epsilon); }},
      {"GroupNormalization", 21, "X scale bias num_groups=int epsilon=0.00001 stash_type=1=1",
       [](X x, X scale, X bias, int64_t groups, double epsilon) { return group_norm(x, groups, scale, bias, epsilon); }},
      {"InstanceNormalization", 6, "X scale B epsilon=0.00001",
       [](X x, X scale, X bias, double epsilon) { return group_norm(x, x.size(1), scale, bias, epsilon); }},
      {"LayerNormalization", 17, "X scale B? axis=-1 epsilon=0.00001 stash_type=1=1", layer_normalization, 3},
      {"RMSNormalization", 23, "X scale axis=-1 epsilon=0.00001 stash_type=1=1", rms_normalization},

      {"RNN", 7, "X W R B? sequence_lens? initial_h? " + recurrence + "[Tanh|Relu] hidden_size=int? layout=0=0",
       recurrent<Recurrence::rnn_tanh>, 2},
      {"GRU", 7, "X W R B? sequence_lens? initial_h? " + recurrence + "[Sigmoid,Tanh] hidden_size=int? layout=0=0 linear_before_reset=0=1",
       recurrent<Recurrence::gru>, 2},
      {"LSTM", 7, "X W R B? sequence_lens? initial_h? initial_c? " + recurrence + "[Sigmoid,Tanh,Tanh] hidden_size=int? layout=0=0 input_forget=0=0",
       recurrent<Recurrence::lstm>, 3},
      {"Attention", 23, "Q K V attn_mask? past_key? past_value? nonpad_kv_seqlen? q_num_heads=0 kv_num_heads=0 is_causal=0 scale=float? "
                        "softcap=0.0 left_window_size=-1 right_window_size=-1 qk_matmul_output_mode=0 softmax_precision=1=1",
       attention, 3},
      {"RotaryEmbedding", 23, "X cos sin position_ids? interleaved=0 num_heads=0 rotary_embedding_dim=0", rotary_embedding},
      {"LinearAttention", 27, "query key value past_state? decay? beta? kv_num_heads=int q_num_heads=int "
                              "update_rule=gated_delta|linear|gated|delta scale=0.0 chunk_size=64", linear_rule, 2},
  };
}
// clang-format on

}  // namespace heed::onnx
