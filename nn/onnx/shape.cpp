#include "autograd/ops/loss.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/products.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/sort.h"
#include "nn/onnx/operator.h"

namespace heed::onnx {
namespace {

using C = const Call&;
using Ints = std::vector<int64_t>;

// The values of an int64 tensor, such as a shape or axes; none if it is undefined.
Ints ints(const Tensor& x) {
  if (!x.defined()) return {};
  check_indices(x);
  return x.to_vector<int64_t>();
}
Tensor list(const Ints& x) { return from_vector(x, {static_cast<int64_t>(x.size())}); }
Scalar scalar(const Tensor& x) { return x.dtype() == int64 ? Scalar(x.item<int64_t>()) : Scalar(x.item()); }
// Positions, of which negative ones count from the back.
Tensor positions(const Tensor& index, int64_t size) { return where(index < 0, index + size, index); }

Tensor constant(C c) {
  if (c.has("value")) return c.attribute("value").t.values;
  if (c.has("value_int")) return full({}, c.i("value_int"), int64);
  if (c.has("value_ints")) return list(c.ints("value_ints"));
  if (c.has("value_float")) return full({}, c.f("value_float"));
  const std::vector<float>& floats = c.attribute("value_floats").floats;
  check(c.has("value_floats"), "it has no value");
  return from_vector(floats, {static_cast<int64_t>(floats.size())});
}
Tensor constant_of_shape(C c) {
  const Tensor value = c.has("value") ? c.attribute("value").t.values : zeros({});
  return full(ints(c[0]), scalar(value), value.dtype());
}
Tensor range(C c) {
  const double count = std::ceil((c[1].item() - c[0].item()) / c[2].item());
  check(std::isfinite(count), "delta is 0, or a bound is infinite");
  return count <= 0 ? zeros({0}, c[0].dtype())
                    : arange(scalar(c[0]), scalar(c[1]), scalar(c[2]), c[0].dtype());
}
Tensor one_hot_values(C c) {
  const int64_t classes = c[1].item<int64_t>();
  const Tensor index = unsqueeze(to(c[0], int64), c.i("axis"));
  const Shape along = Shape::filled(index.dim(), 1).with(check_dim(index.dim(), c.i("axis")), classes);
  return where(positions(index, classes) == reshape(arange(classes, int64), along), select(c[2], 0, 1),
               select(c[2], 0, 0));
}

Tensor shape_between(C c) {
  const Tensor shape = list({c[0].shape().begin(), c[0].shape().end()});
  return slice(shape, 0, c.i("start"), c.has("end") ? c.i("end") : c[0].dim());
}
Tensor reshape_to(C c) {
  Ints shape = ints(c[1]);
  for (size_t i = 0; i < shape.size() && c.i("allowzero") == 0; ++i)
    if (shape[i] == 0) shape[i] = c[0].size(static_cast<int64_t>(i));
  return reshape(c[0], shape);
}
Tensor flatten_at(C c) {
  const int64_t dim = c[0].dim(), axis = c.i("axis") == dim ? dim : check_dim(dim, c.i("axis"));
  const int64_t* const sizes = c[0].shape().data();
  return reshape(c[0], {numel(Shape(sizes, axis)), numel(Shape(sizes + axis, dim - axis))});
}
Tensor squeeze_at(C c) {
  const Ints axes = ints(c[1]);
  for (const int64_t axis : axes)
    check(c[0].size(axis) == 1, c[0].shape(), " has not the size 1 on axis ", axis);
  return c[1].defined() && axes.empty() ? c[0] : squeeze(c[0], Shape(axes));
}
Tensor unsqueeze_at(C c) {
  Tensor y = c[0];
  if (const Ints axes = ints(c[1]); !axes.empty())
    for (const int64_t axis : check_dims(y.dim() + static_cast<int64_t>(axes.size()), axes))
      y = unsqueeze(y, axis);
  return y;
}
Tensor transpose_by(C c) {
  Ints perm = c.ints("perm");
  for (int64_t i = c.has("perm") ? 0 : c[0].dim(); i-- > 0;) perm.push_back(i);
  return permute(c[0], perm);
}
Values split_into(C c) {
  const int64_t size = c[0].size(c.i("axis")), parts = c.outputs;
  check(!c.has("num_outputs") || c.i("num_outputs") == parts, "num_outputs is ", c.i("num_outputs"), ", not ",
        parts);
  return c[1].defined() ? split(c[0], ints(c[1]), c.i("axis"))
                        : split(c[0], std::max<int64_t>(1, (size + parts - 1) / parts), c.i("axis"));
}
// x[start], x[start + step], ... before `end`; a negative step counts down.
Tensor slice_along(const Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  const int64_t size = x.size(axis);
  check(step != 0, "a step is 0");
  if (step > 0 || size == 0) return slice(x, axis, start, end, std::clamp<int64_t>(step, 1, size + 1));
  const auto from_back = [&](int64_t at, int64_t least) {
    return size - 1 - std::clamp(at < 0 ? at + size : at, least, size - 1);
  };
  return slice(flip(x, {axis}), axis, from_back(start, 0), from_back(end, -1), -std::max(step, -size));
}
Tensor slice_of(C c) {
  const Ints starts = ints(c[1]), ends = ints(c[2]),
             steps = c[4].defined() ? ints(c[4]) : Ints(starts.size(), 1);
  const Ints axes = ints(c[3].defined() ? c[3] : arange(static_cast<int64_t>(starts.size()), int64));
  check(starts.size() == axes.size() && ends.size() == axes.size() && steps.size() == axes.size(),
        "starts, ends, axes and steps have different lengths");
  Tensor y = c[0];
  for (size_t i = 0; i < axes.size(); ++i) y = slice_along(y, axes[i], starts[i], ends[i], steps[i]);
  return y;
}
Tensor pad_by(C c) {
  const Ints pads = ints(c[1]), axes = ints(c[3].defined() ? c[3] : arange(c[0].dim(), int64));
  check(pads.size() == 2 * axes.size(), pads.size(), " pads for ", axes.size(), " axes");
  IntList all(static_cast<size_t>(2 * c[0].dim()), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = all.size() - 2 * static_cast<size_t>(check_dim(c[0], axes[i])) - 2;
    all[at] = pads[i], all[at + 1] = pads[i + axes.size()];
  }
  return pad(c[0], all, c[2].defined() ? scalar(c[2]) : Scalar(0));
}

// y[..., i..., ...] = x[..., index[i...], ...] along one axis.
Tensor gather_along(const Tensor& x, int64_t axis, const Tensor& index) {
  axis = check_dim(x.dim(), axis);
  Shape shape = x.shape().erased(axis);
  for (int64_t d = 0; d < index.dim(); ++d) shape.insert(axis + d, index.size(d));
  return reshape(index_select(x, axis, reshape(positions(index, x.size(axis)), {-1})), shape);
}
Tensor scatter_along(C c) {
  const Tensor index = positions(c[1], c[0].size(c.i("axis")));
  return (c.s("reduction") == "add" ? scatter_add : scatter)(c[0], c.i("axis"), index, c[2]);
}
Values top_k(C c) {
  const auto [values, indices] = topk(c[0], c[1].item<int64_t>(), c.i("axis"), c.i("largest") != 0);
  return {values, indices};
}
// Over the axes of the second input, or of the attribute in older opsets, or over all.
Operator reduction(const char* name, Tensor (*f)(const Tensor& x, const Dims& dims, bool keepdim)) {
  const auto run = [f](C c) {
    return f(c[0], Shape(c[1].defined() ? ints(c[1]) : c.ints("axes")), c.i("keepdims") != 0);
  };
  return {name, 11, "X axes?", "axes=ints? keepdims=1 noop_with_empty_axes=0=0", run};
}
Tensor product_over(const Tensor& x, const Dims& dims, bool keepdim) {
  Tensor y = x;
  const Shape all = check_dims(x.dim(), dims);
  for (int64_t i = all.dim(); i-- > 0;) y = prod(y, all[i], keepdim);
  return y;
}

Tensor gemm(C c) {
  const Tensor a = c.i("transA") ? t(c[0]) : c[0], b = c.i("transB") ? c[1] : t(c[1]);
  if (c.f("alpha") == 1 && c.f("beta") == 1 && c[2].defined() && c[2].shape() == Shape{b.size(0)})
    return linear(a, b, c[2]);
  const Tensor y = linear(a, b) * c.f("alpha");
  return c[2].defined() ? y + c[2] * c.f("beta") : y;
}
Tensor cross_entropy_loss(C c) {
  const std::map<std::string, Reduction> reductions = {
      {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}};
  CrossEntropyOptions options{.weight = c[2], .reduction = reductions.at(c.s("reduction")), .class_dim = 1};
  if (c.has("ignore_index")) options.ignore_index = c.i("ignore_index");
  return softmax_cross_entropy(c[0], c[1], options);
}

}  // namespace

// clang-format off
std::vector<Operator> shape_operators() {
  using X = const Tensor&;
  using D = const Dims&;
  return {
      {"Constant", 9, "", "value=tensor? value_int=int? value_ints=ints? value_float=float? value_floats=floats?", constant},
      {"ConstantOfShape", 9, "shape", "value=tensor?", constant_of_shape},
      {"Range", 11, "start limit delta", "stash_type=1=1", range},
      {"OneHot", 9, "indices depth values", "axis=-1", one_hot_values},

      {"Shape", 1, "X", "start=0 end=int?", shape_between},
      {"Size", 1, "X", "", [](C c) { return full({}, c[0].numel(), int64); }},
      {"Reshape", 5, "X shape", "allowzero=0", reshape_to}, {"Flatten", 1, "X", "axis=1", flatten_at},
      {"Squeeze", 13, "X axes?", "", squeeze_at}, {"Unsqueeze", 13, "X axes", "", unsqueeze_at},
      {"Transpose", 1, "X", "perm=ints?", transpose_by},
      {"Expand", 8, "X shape", "", [](C c) { return expand(c[0], broadcast_shapes(c[0].shape(), ints(c[1]))); }},
      {"Tile", 6, "X repeats", "", [](C c) { return repeat(c[0], ints(c[1])); }},
      {"Concat", 4, "X...", "axis=int", [](C c) { return cat(c.inputs, c.i("axis")); }},
      {"Split", 13, "X split?", "axis=0 num_outputs=int?", split_into, -1},
      {"Slice", 10, "X starts ends axes? steps?", "", slice_of},
      {"Pad", 11, "X pads value? axes?", "mode=constant|constant", pad_by},
      {"Trilu", 14, "X k?", "upper=1", [](C c) { return (c.i("upper") ? triu : tril)(c[0], c[1].defined() ? c[1].item<int64_t>() : 0); }},

      {"Gather", 1, "X indices", "axis=0", [](C c) { return gather_along(c[0], c.i("axis"), c[1]); }},
      {"GatherElements", 11, "X indices", "axis=0",
       [](C c) { return gather(c[0], c.i("axis"), positions(c[1], c[0].size(c.i("axis")))); }},
      {"ScatterElements", 11, "X indices updates", "axis=0 reduction=none|add", scatter_along},
      {"NonZero", 9, "X", "", [](C c) { return transpose(nonzero(c[0])); }},
      {"CumSum", 11, "X axis", "exclusive=0=0 reverse=0=0", [](C c) { return cumsum(c[0], c[1].item<int64_t>()); }},
      {"TopK", 10, "X K", "axis=-1 largest=1 sorted=1", top_k, 2},
      {"ArgMax", 1, "X", "axis=0 keepdims=1 select_last_index=0=0", [](C c) { return argmax(c[0], c.i("axis"), c.i("keepdims") != 0); }},
      {"ArgMin", 1, "X", "axis=0 keepdims=1 select_last_index=0=0", [](C c) { return argmin(c[0], c.i("axis"), c.i("keepdims") != 0); }},

      reduction("ReduceSum", [](X x, D dims, bool keep) { return sum(x, dims, keep); }),
      reduction("ReduceMean", [](X x, D dims, bool keep) { return mean(x, dims, keep); }),
      reduction("ReduceMax", [](X x, D dims, bool keep) { return amax(x, dims, keep); }),
      reduction("ReduceMin", [](X x, D dims, bool keep) { return amin(x, dims, keep); }),
      reduction("ReduceProd", product_over),
      reduction("ReduceL1", [](X x, D dims, bool keep) { return sum(abs(x), dims, keep); }),
      reduction("ReduceL2", [](X x, D dims, bool keep) { return norm(x, 2, dims, keep); }),
      reduction("ReduceSumSquare", [](X x, D dims, bool keep) { return sum(square(x), dims, keep); }),
      reduction("ReduceLogSum", [](X x, D dims, bool keep) { return log(sum(x, dims, keep)); }),
      reduction("ReduceLogSumExp", [](X x, D dims, bool keep) { return logsumexp(x, dims, keep); }),

      {"Softmax", 13, "X", "axis=-1", [](C c) { return softmax(c[0], c.i("axis")); }},
      {"LogSoftmax", 13, "X", "axis=-1", [](C c) { return log_softmax(c[0], c.i("axis")); }},
      {"SoftmaxCrossEntropyLoss", 12, "scores labels weights?", "ignore_index=int? reduction=mean|sum|none", cross_entropy_loss},
      {"MatMul", 1, "A B", "", [](C c) { return matmul(c[0], c[1]); }},
      {"Gemm", 7, "A B C?", "alpha=1.0 beta=1.0 transA=0 transB=0", gemm},
      {"Einsum", 12, "X...", "equation=string", [](C c) { return einsum(c.s("equation"), c.inputs); }},
  };
}
// clang-format on

}  // namespace heed::onnx
