#include "nn/onnx/forms.h"

namespace heed::onnx {
namespace {

// Names may be followed by an attribute that is true or not 0, or by its text; the form of the last one in
// the operation's order counts. @20 is the form below opset 23.
// clang-format off
constexpr std::pair<std::string_view, std::string_view> kForms[] = {
    // elementwise
    {"abs", "Abs(a)"}, {"neg", "Neg(a)"}, {"sign", "Sign(a)"}, {"square", "Mul(a, a)"}, {"sqrt", "Sqrt(a)"},
    {"rsqrt", "Reciprocal(Sqrt(a))"}, {"reciprocal", "Reciprocal(a)"}, {"exp", "Exp(a)"}, {"expm1", "Sub(Exp(a), 1)"},
    {"log", "Log(a)"}, {"log1p", "Log(Add(a, 1))"}, {"log2", "Div(Log(a), 0.6931471805599453)"}, {"erf", "Erf(a)"},
    {"sin", "Sin(a)"}, {"cos", "Cos(a)"}, {"tanh", "Tanh(a)"}, {"sigmoid", "Sigmoid(a)"}, {"relu", "Relu(a)"},
    {"silu", "Mul(a, Sigmoid(a))"}, {"leaky_relu", "LeakyRelu(a; alpha=negative_slope)"}, {"elu", "Elu(a; alpha)"},
    {"gelu", "Gelu(a)"}, {"gelu tanh", "Gelu(a; approximate)"}, {"clamp", "Clip(a, min, max)"},
    {"normal_cdf", "Mul(Add(Erf(Mul(a, 0.7071067811865476)), 1), 0.5)"},
    {"softplus", "Where(Greater(Mul(a, beta), threshold), a, Div(Softplus(Mul(a, beta)), beta))"},
    {"floor", "Floor(a)"}, {"ceil", "Ceil(a)"}, {"round", "Round(a)"}, {"floor int64", "a"}, {"ceil int64", "a"},
    {"round int64", "a"}, {"round decimals", "p=Pow(10, Cast(decimals; to=dtype)) | Div(Round(Mul(a, p)), p)"},
    // elementwise, two or three operands
    {"add", "Add(a, b)"}, {"add alpha", "Add(a, Mul(b, alpha))"}, {"sub", "Sub(a, b)"}, {"sub alpha", "Sub(a, Mul(b, alpha))"},
    {"mul", "Mul(a, b)"}, {"div", "Div(a, b)"}, {"div floor", "Floor(Div(a, b))"}, {"pow", "Pow(a, b)"},
    {"div trunc", "q=Div(a, b) | Mul(Sign(q), Floor(Abs(q)))"}, {"fmod", "Mod(a, b; fmod=1)"},
    {"maximum", "Max(a, b)"}, {"minimum", "Min(a, b)"}, {"where", "Where(condition, a, b)"},
    {"atan2", "t=Where(And(Equal(a, 0), Equal(b, 0)), 0, Atan(Div(a, b))) | "
              "Add(t, Where(Less(b, 0), Where(Less(a, 0), -3.141592653589793, 3.141592653589793), 0))"},
    // comparisons and logic
    {"eq", "Equal(a, b)"}, {"ne", "Not(Equal(a, b))"}, {"lt", "Less(a, b)"}, {"le", "LessOrEqual(a, b)"},
    {"gt", "Greater(a, b)"}, {"ge", "GreaterOrEqual(a, b)"}, {"isnan", "IsNaN(a)"}, {"isinf", "IsInf(a)"},
    {"isfinite", "Not(Or(IsNaN(a), IsInf(a)))"}, {"logical_not", "Not(Cast(a; to=bool))"},
    {"logical_and", "And(Cast(a; to=bool), Cast(b; to=bool))"}, {"logical_or", "Or(Cast(a; to=bool), Cast(b; to=bool))"},
    // reductions
    {"sum", "ReduceSum(a, dims; keepdims=keepdim)"}, {"mean", "ReduceMean(a, dims; keepdims=keepdim)"},
    {"amax", "ReduceMax(a, dims; keepdims=keepdim)"}, {"amin", "ReduceMin(a, dims; keepdims=keepdim)"},
    {"max", "ReduceMax(a, dims; keepdims=keepdim)"}, {"min", "ReduceMin(a, dims; keepdims=keepdim)"},
    {"max indices", "indices=ArgMax(a; axis=dim, keepdims=keepdim) | ReduceMax(a, dim; keepdims=keepdim)"},
    {"min indices", "indices=ArgMin(a; axis=dim, keepdims=keepdim) | ReduceMin(a, dim; keepdims=keepdim)"},
    {"argmax", "ArgMax(a; axis=dims, keepdims=keepdim)"}, {"argmin", "ArgMin(a; axis=dims, keepdims=keepdim)"},
    {"argmax dims", "Reshape(ArgMax(Reshape(a, [-1]); axis=0), shape)"}, {"argmin dims", "Reshape(ArgMin(Reshape(a, [-1]); axis=0), shape)"},
    {"any", "Cast(ReduceMax(Cast(Cast(a; to=bool); to=int64), dims; keepdims=keepdim); to=bool)"},
    {"all", "Cast(ReduceMin(Cast(Cast(a; to=bool); to=int64), dims; keepdims=keepdim); to=bool)"},
    {"logsumexp", "ReduceLogSumExp(a, dims; keepdims=keepdim)"}, {"cumsum", "CumSum(a, dim; reverse)"},
    {"var", "n=Cast(ReduceProd(Gather(Shape(a), dims); keepdims=0); to=dtype) | "
            "Div(ReduceSumSquare(Sub(a, ReduceMean(a, dims; keepdims=1)), dims; keepdims=keepdim), Max(Sub(n, correction), 0))"},
    {"sum_to", "Reshape(ReduceSum(a, dims; keepdims=1), shape)"},
    // products
    {"matmul", "MatMul(a, b)"}, {"mm", "MatMul(a, b)"}, {"bmm", "MatMul(a, b)"}, {"outer", "MatMul(a, b)"},
    {"addmm", "Gemm(b, c, a; alpha, beta)"}, {"linear", "Add(MatMul(a, Transpose(b)), c)"},
    // shape
    {"alias", "a"}, {"clone", "a"}, {"contiguous", "a"}, {"to", "Cast(a; to=dtype)"}, {"transpose", "Transpose(a; perm=dims)"},
    {"permute", "Transpose(a; perm=dims)"}, {"reshape", "Reshape(a, shape)"}, {"view", "Reshape(a, shape)"},
    {"squeeze", "Reshape(a, shape)"}, {"unsqueeze", "Reshape(a, shape)"}, {"expand", "Expand(a, shape)"},
    {"narrow", "Slice(a, start, end, dim, step)"}, {"slice", "Slice(a, start, end, dim, step)"},
    {"select", "Squeeze(Gather(a, index; axis=dim), dim)"}, {"cat", "Concat(...; axis=dim)"},
    {"flip", "Slice(a, last, first, dims, last)"}, {"pad", "Pad(a, pads, value)"},
    // indexing
    {"gather", "GatherElements(a, index; axis=dim)"}, {"index_select", "Gather(a, Reshape(index, [-1]); axis=dim)"},
    {"embedding", "Gather(a, index)"}, {"topk", "TopK(a, k; axis=dim, largest).1"},
    {"scatter_add", "ScatterElements(a, index, b; axis=dim, reduction='add')"},
    {"index_add", "i=Expand(Unsqueeze(index, behind), Shape(a)) | ScatterElements(Expand(0, shape), i, a; axis=dim, reduction='add')"},
    // softmax and normalization
    {"softmax", "Softmax(a; axis=dim)"}, {"log_softmax", "LogSoftmax(a; axis=dim)"}, {"masked_softmax", "Softmax(a; axis=dim)"},
    {"masked_softmax mask", "Where(mask, Softmax(Where(mask, a, -inf); axis=dim), 0)"},
    {"sparsemax", "z=Where(mask, a, -inf) | s=TopK(z, Gather(Shape(z), dim); axis=dim) | i=CumSum(Expand(1, Shape(z)), dim) | "
                  "u=Greater(Add(Mul(i, s), 1), CumSum(s, dim)) | n=ReduceSum(Cast(u; to=dtype), dim; keepdims=1) | "
                  "t=Div(Sub(ReduceSum(Where(u, s, 0), dim; keepdims=1), 1), n) | Where(mask, Max(Sub(z, t), 0), 0)"},
    {"layer_norm", "LayerNormalization(a, gain, c; axis=normalized, epsilon=eps)"},
    {"rms_norm", "RMSNormalization(a, gain; axis=normalized, epsilon=eps)"},
    {"rms_norm @20", "Mul(Div(a, Sqrt(Add(ReduceMean(Mul(a, a), normalized; keepdims=1), eps))), b)"},
    {"batch_norm", "d=Sub(a, ReduceMean(a, dims; keepdims=1)) | z=Div(d, Sqrt(Add(ReduceMean(Mul(d, d), dims; keepdims=1), eps))) | "
                   "Add(Mul(z, Reshape(b, column)), Reshape(c, column))"},
    // convolutions; a convolution with one filter for each position of a window unfolds
    {"conv1d", "Conv(a, b, c; strides, pads, dilations, group)"}, {"conv2d", "Conv(a, b, c; strides, pads, dilations, group)"},
    {"conv_transpose1d", "ConvTranspose(a, b, c; strides, pads, dilations, group, output_padding)"},
    {"conv_transpose2d", "ConvTranspose(a, b, c; strides, pads, dilations, group, output_padding)"},
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
    {"$c", "Unsqueeze(Slice(b, hidden_size, Mul(hidden_size, [2]), [1]), [0])"},
    {"$all", "Squeeze(y, [1])"}, {"$all lstm", "h=Squeeze(y, [1]) | Concat(h, Expand(y.2, Shape(h)); axis=-1)"},
    {"$end", "y.1"}, {"$end lstm", "Concat(y.1, y.2; axis=-1)"}, {"$start", "Add(Unsqueeze(b, [0]), 0)"},
    {"$last", "Where(Greater(Unsqueeze(lengths, [0, 2]), [0]), $end, $start)"}, {"$last reverse", "$start"},
    {"$kept", "Where(Greater(Unsqueeze(lengths, [0, 2]), Unsqueeze(steps, [1, 2])), $all, $last)"},
    // losses, attention
    {"cross_entropy none", "Reshape(SoftmaxCrossEntropyLoss(Flatten(a; axis=-1), Reshape(target, [-1]), weight; ignore_index, reduction), shape)"},
    {"cross_entropy", "SoftmaxCrossEntropyLoss(Flatten(a; axis=-1), Reshape(target, [-1]), weight; ignore_index, reduction)"},
    {"cross_entropy label_smoothing", ""}, {"blocked_attention", "Attention(a, b, c; scale, softcap=soft_cap, is_causal)"},
    {"blocked_attention bias", "Attention(a, b, c, Expand(bias, scores); scale, softcap=soft_cap)"},
    {"blocked_attention mask", "m=Expand(mask, scores) | "
        "Where(Cast(ReduceMax(Cast(m; to=int64), [-1]; keepdims=1); to=bool), Attention(a, b, c, m; scale, softcap=soft_cap), 0)"},
};
// clang-format on

const std::string_view* find(const std::string& name) {
  for (const auto& [key, form] : kForms)
    if (key == name) return &form;
  return nullptr;
}

// What an attribute adds to the name of a form; "" if nothing.
std::string suffix(const std::string& name, const TracedValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto set = []<class T>(const T& x) {
    if constexpr (std::is_arithmetic_v<T>) return x != 0;
    if constexpr (std::is_same_v<T, std::vector<int64_t>>) return x.size() != 1;
    if constexpr (std::is_same_v<T, Traced>) return !x.key.empty();
    return false;
  };
  return std::visit(set, value) ? name : "";
}

}  // namespace

std::string_view form_of(std::string_view name, const Step& step, int64_t opset) {
  std::string best(name);
  const auto try_name = [&](const std::string& longer) {
    if (find(std::string(name) + " " + longer)) best = std::string(name) + " " + longer;
  };
  if (step.value.tensor.dtype() == int64) try_name("int64");
  for (const auto& [key, value] : step.attributes) try_name(suffix(key, value));
  if (opset < 23) try_name("@20");
  const std::string_view* form = find(best);
  check(form && !form->empty(), "save_onnx: ", step.described(), " has no form in ONNX (", best, ")");
  return *form;
}

std::string_view form_of(const Step& step, int64_t opset) { return form_of(step.name, step, opset); }

}  // namespace heed::onnx
