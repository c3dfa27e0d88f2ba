#include "autograd/ops/loss.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/products.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/sort.h"
#include "nn/onnx/operator.h"

namespace heed::onnx {
namespace {

// Positions, of which negative ones count from the back.
Tensor positions(X index, int64_t size) { return where(index < 0, index + size, index); }
// Axes, by default the first ones.
Ints axes_or_first(X axes, int64_t count) { return int_list(axes.defined() ? axes : arange(count, int64)); }

Tensor constant(X value, X value_int, X value_ints, X value_float, X value_floats) {
  for (X given : {value, value_int, value_ints, value_float, value_floats})
    if (given.defined()) return given;
  fail("it has no value");
}
Tensor range(X start, X limit, X delta) {
  const double count = std::ceil((limit - start).item() / delta.item());
  check(std::isfinite(count), "delta is 0, or a bound is infinite");
  return start + delta * arange(std::max(0.0, count), start.dtype());
}
Tensor one_hot_values(X indices, int64_t classes, X off_and_on, int64_t axis) {
  const Tensor index = unsqueeze(to(indices, int64), axis);
  const Shape along = Shape::filled(index.dim(), 1).with(check_dim(index, axis), classes);
  return where(positions(index, classes) == reshape(arange(classes, int64), along), select(off_and_on, 0, 1),
               select(off_and_on, 0, 0));
}

Tensor reshape_to(X x, Ints shape, bool allow_zero) {
  for (size_t i = 0; i < shape.size() && !allow_zero; ++i)
    if (shape[i] == 0) shape[i] = x.size(static_cast<int64_t>(i));
  return reshape(x, shape);
}
Tensor flatten_at(X x, int64_t axis) {
  const int64_t dim = x.dim(), before = axis == dim ? dim : check_dim(x, axis);
  const int64_t* const sizes = x.shape().data();
  return reshape(x, {numel(Shape(sizes, before)), numel(Shape(sizes + before, dim - before))});
}
Tensor squeeze_at(X x, const std::optional<Dims>& axes) {
  if (!axes) return squeeze(x);
  for (const int64_t axis : *axes) check(x.size(axis) == 1, x.shape(), " has not the size 1 on axis ", axis);
  return axes->empty() ? x : squeeze(x, *axes);
}
Tensor unsqueeze_at(X x, const Ints& axes) {
  Tensor y = x;
  if (!axes.empty())
    for (const int64_t axis : check_dims(y.dim() + std::ssize(axes), axes)) y = unsqueeze(y, axis);
  return y;
}
Tensors split_into(X x, X sizes, int64_t axis, std::optional<int64_t> count, const Call& call) {
  const int64_t parts = call.outputs, size = x.size(axis);
  check(count.value_or(parts) == parts, "num_outputs is ", count.value_or(0), ", not ", parts);
  return sizes.defined() ? split(x, IntList(int_list(sizes)), axis)
                         : split(x, std::max<int64_t>(1, (size + parts - 1) / parts), axis);
}
// x[start], x[start + step], ... before `end`; a negative step counts down.
Tensor slice_along(X x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  const int64_t size = x.size(axis);
  check(step != 0, "a step is 0");
  if (step > 0) return slice(x, axis, start, end, std::min(step, size + 1));
  return slice(flip(x, {axis}), axis, std::min(-1 - start, size - 1), -1 - end, -std::max(step, -size - 1));
}
Tensor slice_of(X x, const Ints& starts, const Ints& ends, X given_axes, const std::optional<Ints>& each) {
  const Ints axes = axes_or_first(given_axes, std::ssize(starts));
  const Ints steps = each.value_or(Ints(starts.size(), 1));
  check(starts.size() == axes.size() && ends.size() == axes.size() && steps.size() == axes.size(),
        "starts, ends, axes and steps have different lengths");
  Tensor y = x;
  for (size_t i = 0; i < axes.size(); ++i) y = slice_along(y, axes[i], starts[i], ends[i], steps[i]);
  return y;
}
Tensor pad_by(X x, const Ints& pads, Scalar value, X given_axes) {
  const Ints axes = axes_or_first(given_axes, x.dim());
  check(pads.size() == 2 * axes.size(), pads.size(), " pads for ", axes.size(), " axes");
  IntList all(static_cast<size_t>(2 * x.dim()), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<size_t>(2 * (x.dim() - 1 - check_dim(x, axes[i])));
    all[at] = pads[i], all[at + 1] = pads[i + axes.size()];
  }
  return pad(x, all, value);
}

// y[..., i..., ...] = x[..., index[i...], ...] along one axis.
Tensor gather_along(X x, X index, int64_t axis) {
  axis = check_dim(x, axis);
  Shape shape = x.shape().erased(axis);
  for (int64_t d = 0; d < index.dim(); ++d) shape.insert(axis + d, index.size(d));
  return reshape(index_select(x, axis, reshape(positions(index, x.size(axis)), {-1})), shape);
}
// A reduction over the axes of an input, or of an attribute in older opsets, or over all.
template <auto f>
Tensor reduced(X x, const std::optional<Dims>& axes, const Dims& attribute, bool keepdim) {
  return f(x, axes.value_or(attribute), keepdim);
}
Tensor product_over(X x, const Dims& dims, bool keepdim) {
  Tensor y = x;
  const Shape all = check_dims(x.dim(), dims);
  for (int64_t i = all.dim(); i-- > 0;) y = prod(y, all[i], keepdim);
  return y;
}

Tensor gemm(X a, X b, X c, double alpha, double beta, bool a_transposed, bool b_transposed) {
  const Tensor left = a_transposed ? t(a) : a, right = b_transposed ? b : t(b);
  if (alpha == 1 && beta == 1 && c.defined() && c.shape() == Shape{right.size(0)})
    return linear(left, right, c);
  const Tensor y = linear(left, right) * alpha;
  return c.defined() ? y + c * beta : y;
}
Tensor cross_entropy_loss(X scores, X labels, X weights, std::optional<int64_t> ignored, size_t reduction) {
  constexpr std::array reductions{Reduction::mean, Reduction::sum, Reduction::none};
  CrossEntropyOptions options{.weight = weights, .reduction = reductions.at(reduction), .class_dim = 1};
  if (ignored) options.ignore_index = *ignored;
  return softmax_cross_entropy(scores, labels, options);
}

}  // namespace

// clang-format off
std::vector<Operator> shape_operators() {
  using D = const Dims&;
  const std::string axes = "X axes? axes?=ints keepdims=1 noop_with_empty_axes=0=0";
  return {
      {"Constant", 9, "value?=tensor value_int?=int value_ints?=ints value_float?=float value_floats?=floats", constant},
      {"ConstantOfShape", 9, "shape value?=tensor",
       [](const Shape& shape, X value) { return value.defined() ? expand(reshape(value, {}), shape) : zeros(shape); }},
      {"Range", 11, "start limit delta stash_type=1=1", range},
      {"OneHot", 9, "indices depth values axis=-1", one_hot_values},

      {"Size", 1, "X", [](X x) { return full({}, x.numel(), int64); }},
      {"Shape", 1, "X start=0 end?=int", [](X x, int64_t start, std::optional<int64_t> end) {
         return slice(list(IntList(x.shape())), 0, start, end.value_or(x.dim())); }},
      {"Reshape", 5, "X shape allowzero=0", reshape_to}, {"Flatten", 1, "X axis=1", flatten_at},
      {"Squeeze", 13, "X axes?", squeeze_at}, {"Unsqueeze", 13, "X axes", unsqueeze_at},
      {"Tile", 6, "X repeats", repeat},
      {"Transpose", 1, "X perm?=ints", [](X x, X perm) {
         return permute(x, int_list(perm.defined() ? perm : arange(x.dim() - 1, -1, -1, int64))); }},
      {"Expand", 8, "X shape", [](X x, const Shape& shape) { return expand(x, broadcast_shapes(x.shape(), shape)); }},
      {"Concat", 4, "axis=int X...", [](int64_t axis, const Tensors& xs) { return cat(xs, axis); }},
      {"Split", 13, "X split? axis=0 num_outputs?=int", split_into, -1},
      {"Slice", 10, "X starts ends axes? steps?", slice_of},
      {"Pad", 11, "X pads value? axes? mode=constant|constant", pad_by},
      {"Trilu", 14, "X k? upper=1", [](X x, int64_t k, bool upper) { return (upper ? triu : tril)(x, k); }},

      {"Gather", 1, "X indices axis=0", gather_along},
      {"GatherElements", 11, "X indices axis=0",
       [](X x, X index, int64_t axis) { return gather(x, axis, positions(index, x.size(axis))); }},
      {"ScatterElements", 11, "X indices updates axis=0 reduction=none|add",
       [](X x, X index, X updates, int64_t axis, bool adds) {
         return (adds ? scatter_add : scatter)(x, axis, positions(index, x.size(axis)), updates); }},
      {"NonZero", 9, "X", [](X x) { return transpose(nonzero(x)); }},
      {"CumSum", 11, "X axis exclusive=0=0 reverse=0=0", cumsum},
      {"TopK", 10, "X K axis=-1 largest=1 sorted=1", [](X x, int64_t k, int64_t axis, bool largest) {
         const auto [values, indices] = topk(x, k, axis, largest);
         return Tensors{values, indices}; }, 2},
      {"ArgMax", 1, "X axis=0 keepdims=1 select_last_index=0=0", argmax},
      {"ArgMin", 1, "X axis=0 keepdims=1 select_last_index=0=0", argmin},

      {"ReduceSum", 11, axes, reduced<sum>}, {"ReduceMean", 11, axes, reduced<mean>},
      {"ReduceMax", 11, axes, reduced<amax>}, {"ReduceMin", 11, axes, reduced<amin>},
      {"ReduceProd", 11, axes, reduced<product_over>}, {"ReduceLogSumExp", 11, axes, reduced<logsumexp>},
      {"ReduceL1", 11, axes, reduced<[](X x, D dims, bool keep) { return sum(abs(x), dims, keep); }>},
      {"ReduceL2", 11, axes, reduced<[](X x, D dims, bool keep) { return norm(x, 2, dims, keep); }>},
      {"ReduceSumSquare", 11, axes, reduced<[](X x, D dims, bool keep) { return sum(square(x), dims, keep); }>},
      {"ReduceLogSum", 11, axes, reduced<[](X x, D dims, bool keep) { return log(sum(x, dims, keep)); }>},

      {"Softmax", 13, "X axis=-1", softmax}, {"LogSoftmax", 13, "X axis=-1", log_softmax},
      {"SoftmaxCrossEntropyLoss", 12, "scores labels weights? ignore_index?=int reduction=mean|sum|none", cross_entropy_loss},
      {"MatMul", 1, "A B", matmul}, {"Gemm", 7, "A B C? alpha=1.0 beta=1.0 transA=0 transB=0", gemm},
      {"Einsum", 12, "equation=string X...",
       [](const Ints& codes, const Tensors& xs) { return einsum(std::string(codes.begin(), codes.end()), xs); }},
  };
}
// clang-format on

}  // namespace heed::onnx
