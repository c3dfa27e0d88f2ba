#include "autograd/ops/conv.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/recurrent.h"
#include "nn/attention/linear_attention.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/onnx/operator.h"

namespace heed::onnx {
namespace {

using C = const Call&;

// The sizes of x from a dimension on.
Shape sizes_from(const Tensor& x, int64_t dim) {
  dim = check_dim(x.dim(), dim);
  return Shape(x.shape().data() + dim, x.dim() - dim);
}
Dims last_dims(const Tensor& x, int64_t count) {
  return Shape(arange(x.dim() - count, x.dim(), 1, int64).to_vector<int64_t>());
}

// A list with a number for each dimension of an image, or one number if it is not given.
Dims numbers(C c, const char* name, int64_t otherwise) {
  return c.has(name) ? Dims(Shape(c.ints(name))) : Dims(otherwise);
}
// The padding around images of `dims` dimensions, in the order of pad().
IntList pads_of(C c, int64_t dims) {
  const std::vector<int64_t>& given = c.ints("pads");
  check(given.empty() || (std::ssize(given) == 2 * dims && c.s("auto_pad") == "NOTSET"), "pads has ",
        given.size(), " numbers, not ", 2 * dims, ", or auto_pad is VALID");
  IntList pads;
  for (size_t i = given.size() / 2; i-- > 0;)
    pads.insert(pads.end(), {given[i], given[i + given.size() / 2]});
  return pads;
}
// The padding on each side if it is the same on both, else nullopt.
std::optional<Dims> equal_pads(const IntList& pads) {
  Dims padding(pads.empty() ? Dims(0) : Dims());
  for (size_t i = pads.size(); i > 0; i -= 2) {
    if (pads[i - 1] != pads[i - 2]) return {};
    padding.push_back(pads[i - 1]);
  }
  return padding;
}
ConvOptions conv_options(C c, const std::optional<Dims>& padding, int64_t groups = 1) {
  ConvOptions options{
      .stride = numbers(c, "strides", 1), .dilation = numbers(c, "dilations", 1), .groups = groups};
  static_cast<Dims&>(options.padding) = padding.value_or(0);
  return options;
}

Tensor conv(C c) {
  const Shape window = sizes_from(c[1], 2);
  check(!c.has("kernel_shape") || Shape(c.ints("kernel_shape")) == window, "kernel_shape is not that of W");
  const IntList pads = pads_of(c, window.dim());
  const std::optional<Dims> padding = equal_pads(pads);
  const Tensor x = padding ? c[0] : pad(c[0], pads);
  return (window.dim() == 1 ? conv1d : conv2d)(x, c[1], c[2], conv_options(c, padding, c.i("group")));
}
Tensor conv_transpose(C c) {
  const Shape window = sizes_from(c[1], 2);
  const std::optional<Dims> padding = equal_pads(pads_of(c, window.dim()));
  check(padding.has_value(), "pads differ before and after the images");
  ConvOptions options = conv_options(c, padding, c.i("group"));
  options.output_padding = numbers(c, "output_padding", 0);
  return (window.dim() == 1 ? conv_transpose1d : conv_transpose2d)(c[0], c[1], c[2], options);
}
Tensor fold_columns(C c) {
  const Shape window(c[2].to_vector<int64_t>());
  const std::optional<Dims> padding = equal_pads(pads_of(c, window.dim()));
  check(padding.has_value(), "pads differ before and after the images");
  return fold(c[0], Shape(c[1].to_vector<int64_t>()), window, conv_options(c, padding));
}
Tensor pool(C c, bool largest) {
  const Shape window(c.ints("kernel_shape"));
  const IntList pads = pads_of(c, window.dim());
  std::optional<Dims> padding = equal_pads(pads);
  const auto fits = [&](const Dims& sides) {  // else it is more than heed pads
    return std::ranges::equal(sides, window, [](int64_t side, int64_t size) { return 2 * side <= size; });
  };
  if (padding && padding->dim() == window.dim() && !fits(*padding)) padding.reset();
  const bool signal = window.dim() == 1, ceil = c.i("ceil_mode") != 0,
             counts = largest || c.i("count_include_pad");
  check(padding || !ceil, "ceil_mode, and pads that are large or differ before and after the images");
  const Dims stride = numbers(c, "strides", 1), both = padding.value_or(0);
  const Tensor x = padding ? c[0] : pad(c[0], pads, largest ? -INFINITY : 0.0);
  if (largest)
    return (signal ? max_pool1d : max_pool2d)(x, window, {stride, both, numbers(c, "dilations", 1), ceil});
  const auto mean = [&](const Tensor& in) {
    return (signal ? avg_pool1d : avg_pool2d)(in, window, {stride, both, ceil, counts});
  };
  return padding || counts ? mean(x) : mean(x) / mean(pad(ones_like(c[0]), pads));
}

Values layer_normalization(C c) {
  const Shape shape = sizes_from(c[0], c.i("axis"));
  const Tensor bias = c[2].defined() ? expand(c[2], shape) : c[2];
  const Tensor y = layer_norm(c[0], shape, expand(c[1], shape), bias, c.f("epsilon"));
  if (c.outputs == 1) return y;
  const Dims dims = last_dims(c[0], shape.dim());
  return {y, mean(c[0], dims, true), rsqrt(var(c[0], dims, 0, true) + c.f("epsilon"))};
}
Tensor rms_normalization(C c) {
  const Shape shape = sizes_from(c[0], c.i("axis"));
  return rms_norm(c[0], shape, expand(c[1], shape), c.f("epsilon"));
}

// RNN, GRU and LSTM: `order` are the gates of heed, in rows of a weight, among those of ONNX.
Values recurrent(C c, Recurrence kind, const std::vector<int64_t>& order) {
  const bool lstm = kind == Recurrence::lstm;
  check(c[0].dim() == 3 && c[1].dim() == 3 && c[2].dim() == 3, "X, W and R must have 3 dimensions");
  const int64_t B = c[0].size(1), H = c[2].size(2), directions = c[1].size(0);
  check(directions == (c.s("direction") == "bidirectional" ? 2 : 1), "W is ", c[1].shape(), " for ",
        c.s("direction"));
  const auto rows = [&](const Tensor& w) {  // [gates H, ...]
    std::vector<Tensor> gates;
    for (const int64_t gate : order) gates.push_back(narrow(w, 0, gate * H, H));
    return cat(gates);
  };
  const auto state = [&](const Tensor& of_all, int64_t d) {  // [B, H]
    return of_all.defined() ? select(of_all, 0, d) : zeros({B, H}, c[0].dtype());
  };
  const auto& functions = c.attribute("activations").strings;
  std::vector<Tensor> y, h, cells;
  for (int64_t d = 0; d < directions; ++d) {
    const bool reverse = d == 1 || c.s("direction") == "reverse";
    if (kind != Recurrence::gru && !lstm)
      kind = std::ssize(functions) > d && functions[static_cast<size_t>(d)] == "Relu" ? Recurrence::rnn_relu
                                                                                      : Recurrence::rnn_tanh;
    std::vector<Tensor> bias(2);
    if (c[3].defined()) bias = chunk(select(c[3], 0, d), 2);
    for (Tensor& b : bias) b = b.defined() ? rows(b) : b;
    const Tensor start = lstm ? cat({state(c[5], d), state(c[6], d)}, 1) : state(c[5], d);
    const Tensor states =
        recurrence(kind, linear(c[0], rows(select(c[1], 0, d)), bias.at(0)), start, rows(select(c[2], 0, d)),
                   bias.at(1), {.lengths = c[4], .reverse = reverse});
    const Tensor last = select(states, 0, reverse ? 0 : -1);
    y.push_back(narrow(states, 2, 0, H)), h.push_back(narrow(last, 1, 0, H));
    if (lstm) cells.push_back(narrow(last, 1, H, H));
  }
  Tensor all = stack(y, 1);  // [T, directions, B, H]
  if (c[4].defined())        // 0 after the end of a sequence
    all = where(reshape(arange(c[0].size(0), int64), {-1, 1, 1, 1}) < reshape(c[4], {1, 1, B, 1}), all, 0);
  Values results{all, stack(h)};
  if (lstm) results.push_back(stack(cells));
  return results;
}

// [B, T, heads D] -> [B, heads, T, D]; x itself if it has 4 dimensions.
Tensor split_heads(const Tensor& x, int64_t heads) {
  if (!x.defined() || x.dim() == 4) return x;
  check(x.dim() == 3 && heads > 0 && x.size(2) % heads == 0, "an input is ", x.shape(), " for ", heads,
        " heads");
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
// The inverse, if the input had 3 dimensions.
Tensor join_heads(const Tensor& y, const Tensor& input) {
  return input.dim() == 4 ? y : flatten(transpose(y, 1, 2), 2);
}

Values attention(C c) {
  const Tensor &past_key = c[4], &past_value = c[5], &lengths = c[6],
               q = split_heads(c[0], c.i("q_num_heads"));
  Tensor k = split_heads(c[1], c.i("kv_num_heads")), v = split_heads(c[2], c.i("kv_num_heads"));
  check(past_key.defined() == past_value.defined() && !(past_key.defined() && lengths.defined()),
        "past_key and past_value must be given together, and without nonpad_kv_seqlen");
  if (past_key.defined()) k = cat({past_key, k}, 2), v = cat({past_value, v}, 2);
  const int64_t past = past_key.defined() ? past_key.size(2) : 0, T = q.size(2), keys = k.size(2);
  const int64_t before = c.i("left_window_size"), after = c.i("right_window_size");

  AttentionOptions options{.past = past, .soft_cap = c.f("softcap"), .enable_gqa = true};
  if (c.has("scale")) options.scale = c.f("scale");
  if (c[3].defined()) {  // a mask that ends early allows no keys after its end
    const bool numbers = c[3].dtype() != boolean;
    const int64_t missing = std::max<int64_t>(0, keys - c[3].size(-1));
    (numbers ? options.bias : options.mask) =
        pad(c[3], {0, missing}, numbers ? Scalar(-INFINITY) : Scalar(false));
  }
  const auto allow = [&](const Tensor& mask) {
    options.mask = options.mask.defined() ? logical_and(options.mask, mask) : mask;
  };
  // Positions of queries minus those of keys: [Tq, Tk], or [B, 1, Tq, Tk] if the queries are the last of
  // `lengths`.
  Tensor distance = unsqueeze(arange(past, past + T, 1, int64), 1) - arange(keys, int64);
  if (lengths.defined()) {
    const Tensor length = reshape(lengths, {-1, 1, 1, 1});
    distance = distance + length - T;
    allow(arange(keys, int64) < length);
  }
  if (before >= 0) allow(distance <= before);
  if (after >= 0) allow(distance >= -after);
  options.is_causal = c.i("is_causal") && !lengths.defined();
  if (c.i("is_causal") && lengths.defined()) allow(distance >= 0);
  return {join_heads(F::scaled_dot_product_attention(q, k, v, options).output, c[0]), k, v};
}

// Rotates pairs (a, b), neighbors if `interleaved`, else from both halves: (a cos - b sin, b cos + a sin).
Tensor rotary_embedding(C c) {
  const Tensor x = split_heads(c[0], c.i("num_heads"));  // [B, H, T, D]
  const int64_t D = x.size(3), width = c.i("rotary_embedding_dim") > 0 ? c.i("rotary_embedding_dim") : D;
  const auto angle = [&](const Tensor& cache) {
    return unsqueeze(c[3].defined() ? embedding(cache, c[3]) : cache, 1);
  };
  const Tensor cos = angle(c[1]), sin = angle(c[2]), pairs = narrow(x, 3, 0, width);  // [B, 1, T, width / 2]
  const bool neighbors = c.i("interleaved") != 0;
  const Tensor a = neighbors ? slice(pairs, 3, 0, width, 2) : narrow(pairs, 3, 0, width / 2);
  const Tensor b = neighbors ? slice(pairs, 3, 1, width, 2) : narrow(pairs, 3, width / 2, width / 2);
  const std::vector<Tensor> y{a * cos - b * sin, b * cos + a * sin};
  return join_heads(
      cat({neighbors ? flatten(stack(y, -1), -2) : cat(y, -1), narrow(x, 3, width, D - width)}, 3), c[0]);
}

Values linear_attention(C c) {
  const std::map<std::string, LinearRule> rules = {{"linear", LinearRule::linear},
                                                   {"gated", LinearRule::gated},
                                                   {"delta", LinearRule::delta},
                                                   {"gated_delta", LinearRule::gated_delta}};
  const int64_t heads = c.i("kv_num_heads");
  LinearAttentionOptions options{
      .rule = rules.at(c.s("update_rule")), .decay = split_heads(c[4], heads), .state = c[3]};
  if (c[5].defined()) options.beta = split_heads(expand(c[5], {c[5].size(0), c[5].size(1), heads}), heads);
  if (c.f("scale") != 0) options.scale = c.f("scale");
  const auto [y, state] = F::linear_attention(split_heads(c[0], c.i("q_num_heads")), split_heads(c[1], heads),
                                              split_heads(c[2], heads), options);
  return {join_heads(y, c[0]), state};
}

}  // namespace

// clang-format off
std::vector<Operator> layer_operators() {
  const std::string padding = "auto_pad=NOTSET|VALID pads=ints? strides=ints? ", windows = padding + "dilations=ints? ";
  const std::string rnn = "direction=forward|reverse|bidirectional hidden_size=int? layout=0=0 ";
  const std::string attention_attributes = "is_causal=0 kv_num_heads=0 left_window_size=-1 q_num_heads=0 qk_matmul_output_mode=0 "
                                           "right_window_size=-1 scale=float? softcap=0.0 softmax_precision=1=1";
  return {
      {"Conv", 1, "X W B?", windows + "group=1 kernel_shape=ints?", conv},
      {"ConvTranspose", 1, "X W B?", windows + "group=1 kernel_shape=ints? output_padding=ints?", conv_transpose},
      {"MaxPool", 8, "X", windows + "ceil_mode=0 kernel_shape=ints storage_order=0", [](C c) { return pool(c, true); }},
      {"AveragePool", 7, "X", padding + "dilations=ints?=1 ceil_mode=0 count_include_pad=0 kernel_shape=ints", [](C c) { return pool(c, false); }},
      {"GlobalAveragePool", 1, "X", "", [](C c) { return mean(c[0], last_dims(c[0], sizes_from(c[0], 2).dim()), true); }},
      {"GlobalMaxPool", 1, "X", "", [](C c) { return amax(c[0], last_dims(c[0], sizes_from(c[0], 2).dim()), true); }},
      {"Col2Im", 18, "X image_shape block_shape", windows, fold_columns},
      {"BatchNormalization", 9, "X scale B mean var", "epsilon=0.00001 momentum=0.9 training_mode=0=0",
       [](C c) { return batch_norm(c[0], c[3], c[4], c[1], c[2], false, 0, c.f("epsilon")); }},
      {"GroupNormalization", 21, "X scale bias", "epsilon=0.00001 num_groups=int stash_type=1=1",
       [](C c) { return group_norm(c[0], c.i("num_groups"), c[1], c[2], c.f("epsilon")); }},
      {"InstanceNormalization", 6, "X scale B", "epsilon=0.00001",
       [](C c) { return group_norm(c[0], c[0].size(1), c[1], c[2], c.f("epsilon")); }},
      {"LayerNormalization", 17, "X scale B?", "axis=-1 epsilon=0.00001 stash_type=1=1", layer_normalization, 3},
      {"RMSNormalization", 23, "X scale", "axis=-1 epsilon=0.00001 stash_type=1=1", rms_normalization},
      {"RNN", 7, "X W R B? sequence_lens? initial_h?", rnn + "activations=[Tanh|Relu]",
       [](C c) { return recurrent(c, Recurrence::rnn_tanh, {0}); }, 2},
      {"GRU", 7, "X W R B? sequence_lens? initial_h?", rnn + "activations=[Sigmoid,Tanh] linear_before_reset=0=1",
       [](C c) { return recurrent(c, Recurrence::gru, {1, 0, 2}); }, 2},
      {"LSTM", 7, "X W R B? sequence_lens? initial_h? initial_c?", rnn + "activations=[Sigmoid,Tanh,Tanh] input_forget=0=0",
       [](C c) { return recurrent(c, Recurrence::lstm, {0, 2, 3, 1}); }, 3},
      {"Attention", 23, "Q K V attn_mask? past_key? past_value? nonpad_kv_seqlen?", attention_attributes, attention, 3},
      {"RotaryEmbedding", 23, "X cos sin position_ids?", "interleaved=0 num_heads=0 rotary_embedding_dim=0", rotary_embedding},
      {"LinearAttention", 27, "query key value past_state? decay? beta?",
       "chunk_size=64 kv_num_heads=int q_num_heads=int scale=0.0 update_rule=gated_delta|linear|gated|delta", linear_attention, 2},
  };
}
// clang-format on

}  // namespace heed::onnx
