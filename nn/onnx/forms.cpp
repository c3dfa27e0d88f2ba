#include "nn/onnx/forms.h"

#include "autograd/ops/shape.h"
#include "nn/onnx/model.h"
#include "tensor/create.h"

namespace heed::onnx {
namespace {

// Names may be followed by an attribute that is true or not 0, or by its text; the form of the last one in
// the operation's order counts. @20 is the form below opset 23. Operations with one form share a row.
// clang-format off
constexpr std::pair<std::string_view, std::string_view> kForms[] = {
    // elementwise
    {"abs", "Abs(a)"}, {"neg", "Neg(a)"}, {"sign", "Sign(a)"}, {"square", "Mul(a, a)"}, {"sqrt", "Sqrt(a)"},
    {"rsqrt", "Reciprocal(Sqrt(a))"}, {"reciprocal", "Reciprocal(a)"}, {"exp", "Exp(a)"}, {"log", "Log(a)"},
    {"expm1", "Sub(Exp(a), 1)"}, {"log1p", "Log(Add(a, 1))"}, {"log2", "Div(Log(a), 0.6931471805599453)"},
    {"erf", "Erf(a)"}, {"sin", "Sin(a)"}, {"cos", "Cos(a)"}, {"tanh", "Tanh(a)"}, {"sigmoid", "Sigmoid(a)"},
    {"relu", "Relu(a)"}, {"leaky_relu", "LeakyRelu(a; alpha=negative_slope)"}, {"elu", "Elu(a; alpha)"},
    {"silu", "Mul(a, Sigmoid(a))"}, {"gelu", "Gelu(a)"}, {"gelu tanh", "Gelu(a; approximate)"},
    {"softplus", "Where(Greater(Mul(a, beta), threshold), a, Div(Softplus(Mul(a, beta)), beta))"},
    {"normal_cdf", "Mul(Add(Erf(Mul(a, 0.7071067811865476)), 1), 0.5)"}, {"clamp", "Clip(a, min, max)"},
    {"floor", "Floor(a)"}, {"ceil", "Ceil(a)"}, {"round", "Round(a)"}, {"floor int64|ceil int64|round int64", "a"},
    {"round decimals", "p=Pow(10, Cast(decimals; to=dtype)) | Div(Round(Mul(a, p)), p)"},
    // elementwise, two or three operands
    {"add", "Add(a, b)"}, {"add alpha", "Add(a, Mul(b, alpha))"}, {"sub", "Sub(a, b)"},
    {"sub alpha", "Sub(a, Mul(b, alpha))"}, {"mul", "Mul(a, b)"}, {"div", "Div(a, b)"},
    {"div floor", "Floor(Div(a, b))"}, {"div trunc", "q=Div(a, b) | Mul(Sign(q), Floor(Abs(q)))"},
    {"fmod", "Mod(a, b; fmod=1)"}, {"pow", "Pow(a, b)"}, {"maximum", "Max(a, b)"}, {"minimum", "Min(a, b)"},
    {"atan2", "t=Where(And(Equal(a, 0), Equal(b, 0)), 0, Atan(Div(a, b))) | "
              "Add(t, Where(Less(b, 0), Where(Less(a, 0), -3.141592653589793, 3.141592653589793), 0))"},
    {"where", "Where(condition, a, b)"},
    // comparisons and logic
    {"eq", "Equal(a, b)"}, {"ne", "Not(Equal(a, b))"}, {"lt", "Less(a, b)"}, {"le", "LessOrEqual(a, b)"},
    {"gt", "Greater(a, b)"}, {"ge", "GreaterOrEqual(a, b)"}, {"isnan", "IsNaN(a)"}, {"isinf", "IsInf(a)"},
    {"isfinite", "Not(Or(IsNaN(a), IsInf(a)))"}, {"logical_not", "Not(Cast(a; to=bool))"},
    {"logical_and", "And(Cast(a; to=bool), Cast(b; to=bool))"},
    {"logical_or", "Or(Cast(a; to=bool), Cast(b; to=bool))"},
    // reductions
    {"sum", "ReduceSum(a, dims; keepdims)"}, {"mean", "ReduceMean(a, dims; keepdims)"},
    {"amax|max", "ReduceMax(a, dims; keepdims)"}, {"amin|min", "ReduceMin(a, dims; keepdims)"},
    {"max indices", "indices=ArgMax(a; axis, keepdims) | ReduceMax(a, dim; keepdims)"},
    {"min indices", "indices=ArgMin(a; axis, keepdims) | ReduceMin(a, dim; keepdims)"},
    {"argmax", "ArgMax(a; axis, keepdims)"}, {"argmax dims", "Reshape(ArgMax(Reshape(a, [-1]); axis=0), shape)"},
    {"argmin", "ArgMin(a; axis, keepdims)"}, {"argmin dims", "Reshape(ArgMin(Reshape(a, [-1]); axis=0), shape)"},
    {"any", "Cast(ReduceMax(Cast(Cast(a; to=bool); to=int64), dims; keepdims); to=bool)"},
    {"all", "Cast(ReduceMin(Cast(Cast(a; to=bool); to=int64), dims; keepdims); to=bool)"},
    {"logsumexp", "ReduceLogSumExp(a, dims; keepdims)"}, {"cumsum", "CumSum(a, dim; reverse)"},
    {"var", "n=Cast(ReduceProd(Gather(Shape(a), dims); keepdims=0); to=dtype) | s=Sub(a, ReduceMean(a, dims)) | "
            "Div(ReduceSumSquare(s, dims; keepdims), Max(Sub(n, correction), 0))"},
    {"sum_to", "Reshape(ReduceSum(a, dims), shape)"},
    // products
    {"matmul|mm|bmm|outer", "MatMul(a, b)"}, {"addmm", "Gemm(b, c, a; alpha, beta)"},
    {"linear", "Add(MatMul(a, Transpose(b)), c)"},
    // shape
    {"alias|clone|contiguous", "a"}, {"to", "Cast(a; to=dtype)"}, {"transpose|permute", "Transpose(a; perm=dims)"},
    {"reshape|view|squeeze|unsqueeze", "Reshape(a, shape)"}, {"expand", "Expand(a, sizes)"},
    {"narrow|slice", "Slice(a, start, end, dim, step)"}, {"select", "Squeeze(Gather(a, index; axis), dim)"},
    {"cat", "Concat(...; axis)"}, {"flip", "Slice(a, last, first, dims, last)"}, {"pad", "Pad(a, padding, value)"},
    // indexing
    {"gather", "GatherElements(a, index; axis)"}, {"index_select", "Gather(a, Reshape(index, [-1]); axis)"},
    {"embedding", "Gather(a, index)"}, {"topk", "TopK(a, k; axis, largest).1"},
    {"scatter_add", "ScatterElements(a, index, b; axis, reduction='add')"},
    {"index_add", "i=Expand(Unsqueeze(index, behind), Shape(a)) | "
                  "ScatterElements(Expand(0, sizes), i, a; axis, reduction='add')"},
    // softmax and normalization
    {"softmax|masked_softmax", "Softmax(a; axis)"}, {"log_softmax", "LogSoftmax(a; axis)"},
    {"masked_softmax mask", "Where(mask, Softmax(Where(mask, a, -inf); axis), 0)"},
    {"sparsemax", "z=Where(mask, a, -inf) | s=TopK(z, Gather(Shape(z), dim); axis) | "
                  "i=CumSum(Expand(1, Shape(z)), dim) | u=Greater(Add(Mul(i, s), 1), CumSum(s, dim)) | "
                  "n=ReduceSum(Cast(u; to=dtype), dim) | t=Div(Sub(ReduceSum(Where(u, s, 0), dim), 1), n) | "
                  "Where(mask, Max(Sub(z, t), 0), 0)"},
    {"layer_norm", "LayerNormalization(a, gain, c; axis=norm_axis, epsilon=eps)"},
    {"rms_norm", "RMSNormalization(a, gain; axis=norm_axis, epsilon=eps)"},
    {"rms_norm @20", "Mul(Div(a, Sqrt(Add(ReduceMean(Mul(a, a), norm_dims), eps))), b)"},
    {"batch_norm", "d=Sub(a, ReduceMean(a, dims)) | z=Div(d, Sqrt(Add(ReduceMean(Mul(d, d), dims), eps))) | "
                   "Add(Mul(z, Reshape(b, column)), Reshape(c, column))"},
    // convolutions; a convolution with one filter for each position of a window unfolds
    {"conv1d|conv2d", "Conv(a, b, c; strides, pads, dilations, group)"},
    {"conv_transpose1d|conv_transpose2d", "ConvTranspose(a, b, c; strides, pads, dilations, group, output_padding)"},
    {"unfold", "Reshape(Conv(a, filters; strides, pads, dilations, group=channels), shape)"},
    {"fold", "Col2Im(a, image_shape, kernel_shape; strides, pads, dilations)"},
    // recurrence: the input's part of the gates is there already, so its weight is a permutation
    {"recurrence rnn_tanh", "y=RNN(a, $w, $r, $s, $n, $h; hidden_size, direction) | $kept"},
    {"recurrence rnn_relu", "y=RNN(a, $w, $r, $s, $n, $h; hidden_size, direction, activations='Relu') | $kept"},
    {"recurrence gru", "y=GRU(a, $w, $r, $s, $n, $h; hidden_size, direction, linear_before_reset=1) | $kept"},
    {"recurrence lstm", "y=LSTM(a, $w, $r, $s, $n, $h, $c; hidden_size, direction) | $kept"},
    {"$w", "Unsqueeze(Gather(eye, gates), [0])"}, {"$r", "Unsqueeze(Gather(c, gates), [0])"},
    {"$s", "Unsqueeze(Pad(Gather(d, gates), front), [0])"}, {"$n", "Cast(Max(lengths, [1]); to=int32)"},
    {"$h", "Unsqueeze(b, [0])"}, {"$h lstm", "Unsqueeze(Slice(b, [0], hidden_size, [1]), [0])"},
    {"$c", "Unsqueeze(Slice(b, hidden_size, Mul(hidden_size, [2]), [1]), [0])"}, {"$all", "Squeeze(y, [1])"},
    {"$all lstm", "h=Squeeze(y, [1]) | Concat(h, Expand(y.2, Shape(h)); axis=-1)"}, {"$end", "y.1"},
    {"$end lstm", "Concat(y.1, y.2; axis=-1)"}, {"$start|$last reverse", "Add(Unsqueeze(b, [0]), 0)"},
    {"$last", "Where(Greater(Unsqueeze(lengths, [0, 2]), [0]), $end, $start)"},
    {"$kept", "Where(Greater(Unsqueeze(lengths, [0, 2]), Unsqueeze(steps, [1, 2])), $all, $last)"},
    // losses, attention
    {"cross_entropy", "SoftmaxCrossEntropyLoss(Flatten(a; axis=-1), Reshape(target, [-1]), weight; "
                      "ignore_index, reduction)"},
    {"cross_entropy none", "Reshape(SoftmaxCrossEntropyLoss(Flatten(a; axis=-1), Reshape(target, [-1]), weight; "
                           "ignore_index, reduction), shape)"},
    {"cross_entropy label_smoothing", ""},
    {"blocked_attention", "Attention(a, b, c; scale, softcap=soft_cap, is_causal)"},
    {"blocked_attention bias", "Attention(a, b, c, Expand(bias, scores); scale, softcap=soft_cap)"},
    {"blocked_attention mask", "m=Expand(mask, scores) | Where(Cast(ReduceMax(Cast(m; to=int64), [-1]); to=bool), "
                               "Attention(a, b, c, m; scale, softcap=soft_cap), 0)"},
};
// clang-format on

using S = const Step&;
using Ints = std::vector<int64_t>;

const Tensor& x_of(S s) { return s.inputs[0].tensor; }
Ints int_range(int64_t from, int64_t to) { return arange(from, to, 1, int64).to_vector<int64_t>(); }
Ints list_of(const Shape& shape) { return {shape.begin(), shape.end()}; }
int64_t number_of(DType dtype) { return static_cast<int64_t>(element_type(dtype)); }

// Before and after each dimension, from the first; those of heed are from the last.
Ints padding(S s) {
  const Ints& given = s.get<Ints>("pads");
  Ints all(static_cast<size_t>(2 * x_of(s).dim()));
  for (size_t i = 0; i < given.size(); ++i) all[all.size() / 2 * (i % 2 + 1) - 1 - i / 2] = given[i];
  return all;
}
// [C k, 1, size, size]: one for each channel and position of a window.
Traced filters(S s) {
  const Ints& window = s.get<Ints>("kernel_shape");
  const Tensor each = eye(window[0] * window[1], -1, x_of(s).dtype());
  return Traced(reshape(expand(each, {x_of(s).size(1), -1, -1}), {-1, 1, window[0], window[1]}));
}
// Rows of a weight in the order of ONNX: z, r, n and i, o, f, g.
Ints gates(S s) {
  const int64_t hidden = s.get("hidden_size"), count = x_of(s).size(2) / hidden;
  Ints rows;
  for (const int64_t gate : count == 3 ? Ints{1, 0, 2} : count == 4 ? Ints{0, 3, 1, 2} : Ints{0})
    for (int64_t i = 0; i < hidden; ++i) rows.push_back(gate * hidden + i);
  return rows;
}

// Null if there is none.
const std::string_view* find_form(const std::string& name) {
  for (const auto& [names, form] : kForms)
    if (("|" + std::string(names) + "|").find("|" + name + "|") != std::string::npos) return &form;
  return nullptr;
}

// What an attribute adds to the name of a form; "" if nothing.
std::string suffix(const std::string& name, const TracedValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  const auto* list = std::get_if<Ints>(&value);
  const bool set = list ? list->size() != 1 : std::visit([]<class T>(const T& x) { return x != T(); }, value);
  return text ? *text : set ? name : "";
}

}  // namespace

std::string_view form_of(const Step& step, int64_t opset, const std::string& part) {
  const std::string name = part.empty() ? step.name : part;
  std::string best = name;
  const auto try_suffix = [&](const std::string& added) {
    if (find_form(name + " " + added)) best = name + " " + added;
  };
  if (step.value.tensor.dtype() == int64) try_suffix("int64");
  for (const auto& [key, value] : step.attributes) try_suffix(suffix(key, value));
  if (opset < 23) try_suffix("@20");
  const std::string_view* form = find_form(best);
  check(form && !form->empty(), "save_onnx: ", step.described(), " has no form in ONNX (", best, ")");
  return *form;
}

// clang-format off
TracedValue argument(const std::string& name, const Step& step) {
  static const std::map<std::string, std::function<TracedValue(S)>> computed = {
      {"shape", [](S s) { return list_of(s.value.tensor.shape()); }},  // in Reshape, which may infer one size
      {"sizes", [](S s) { return list_of(s.value.tensor.shape()); }},
      {"scores", [](S s) { return Ints{x_of(s).size(-2), s.inputs[1].tensor.size(-2)}; }},  // [Tq, Tk]
      {"axis", [](S s) { return s.find<int64_t>("dim") ? s.get("dim") : s.get<Ints>("dims").at(0); }},
      {"keepdims", [](S s) { return s.get("keepdim"); }},
      {"norm_axis", [](S s) { return -std::ssize(s.get<Ints>("normalized_shape")); }},
      {"norm_dims", [](S s) { return int_range(-std::ssize(s.get<Ints>("normalized_shape")), 0); }},
      {"gain", [](S s) {
         const Tensor given = s.inputs[1].tensor;
         return Traced(given.defined() ? given : ones(s.get<Ints>("normalized_shape"), x_of(s).dtype()));
       }},
      {"end", [](S s) {
         const int64_t dim = s.get("dim"), end = s.get("start") + s.value.tensor.size(dim) * s.get("step");
         return std::min(end, x_of(s).size(dim));
       }},
      {"behind", [](S s) { return int_range(1, x_of(s).dim() - s.get("dim")); }},  // the dimensions behind `dim`
      {"first", [](S s) { return Ints(s.get<Ints>("dims").size(), INT64_MIN); }},
      {"last", [](S s) { return Ints(s.get<Ints>("dims").size(), -1); }},
      {"padding", padding}, {"filters", filters}, {"gates", gates},
      {"channels", [](S s) { return x_of(s).size(1); }},
      {"eye", [](S s) { return Traced(eye(x_of(s).size(2), -1, x_of(s).dtype())); }},
      {"front", [](S s) { return Ints{x_of(s).size(2), 0}; }},
      {"steps", [](S s) { return Traced(arange(x_of(s).size(0), int64)); }},
      {"dtype", [](S s) { return number_of(s.value.tensor.dtype()); }},
      {"bool", [](S) { return number_of(boolean); }}, {"int64", [](S) { return number_of(int64); }},
      {"int32", [](S) { return static_cast<int64_t>(ElementType::int32); }},
  };
  if (const auto row = computed.find(name); row != computed.end()) return row->second(step);
  if (std::isdigit(name[0]) || name[0] == '-') return int64_t{std::stoll(name)};
  if (name[0] == '\'') return name.substr(1, name.size() - 2);
  const TracedValue* held = step.attribute(name);
  check(held, "save_onnx: ", step.described(), " has no ", name);
  return *held;
}
// clang-format on

}  // namespace heed::onnx
