#include "autograd/ops/shape.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/loop.h"

namespace heed {
namespace {

// The strides of a view of x in another shape with the elements in the same row-major order, if there is one.
// From the right, each new dimension takes its elements from a run of memory; old dimensions are added to the
// run as long as they continue it.
std::optional<Strides> strides_for(const Tensor& x, const Shape& shape) {
  if (x.numel() == 0) return contiguous_strides(shape);
  Strides strides = shape;
  int64_t rest = 1, step = 1, old = x.dim();  // the run has `rest` more elements, `step` apart
  for (int64_t d = shape.dim() - 1; d >= 0; --d) {
    while (rest % shape[d] != 0) {
      --old;
      if (x.shape()[old] == 1) continue;
      if (rest == 1) step = x.strides()[old];
      if (x.strides()[old] != rest * step) return {};
      rest *= x.shape()[old];
    }
    strides[d] = step;
    step *= shape[d];
    rest /= shape[d];
  }
  return strides;
}

// Replaces -1 by the size that gives x's number of elements.
Shape infer_shape(const Tensor& x, const Shape& wanted) {
  Shape shape = wanted;
  if (int64_t* open = std::find(shape.begin(), shape.end(), -1); open != shape.end()) {
    *open = 1;
    check(std::find(open + 1, shape.end(), -1) == shape.end(), "shape ", wanted,
          " leaves more than one size open; only one may be -1");
    const int64_t rest = numel(shape);
    check(rest != 0 && x.numel() % rest == 0, "x is ", x.shape(), " with ", x.numel(),
          " elements, and no size in place of -1 makes ", wanted, " hold as many");
    *open = x.numel() / rest;
  }
  check(numel(shape) == x.numel(), "x is ", x.shape(), " with ", x.numel(), " elements, and ", wanted,
        " has ", numel(shape), "; the number must stay the same");
  return shape;
}

// The same elements in the same order in another shape, recorded as `op`.
Tensor reshaped(const char* op, const Operand& x, const Shape& shape, bool may_copy) {
  const std::optional<Strides> strides = strides_for(x, shape);
  check(strides.has_value() || may_copy, "x of shape ", x->shape(), " and strides ", x->strides(),
        " cannot be seen as ", shape, " without a copy; use reshape");
  Tensor y = strides ? TensorImpl::view(x, shape, *strides) : TensorImpl::view(kernel::clone(x), shape);
  return record(
      op, std::move(y),
      {{x, "g in the shape of $1", [from = x->shape()](const Tensor& g) { return reshape(g, from); }}});
}

// The dimensions of x in the order `dims`, recorded as `op`; the gradient takes them back in the inverse
// order.
Tensor permuted(const char* op, const char* text, const Operand& x, const Shape& dims) {
  Shape shape = x->shape(), inverse = x->shape();
  Strides strides = x->strides();
  for (int64_t d = 0; d < x->dim(); ++d) {
    shape[d] = x->shape()[dims[d]];
    strides[d] = x->strides()[dims[d]];
    inverse[dims[d]] = d;
  }
  return record(op, TensorImpl::view(x, shape, strides),
                {{x, text, [=](const Tensor& g) { return permuted(op, text, g, inverse); }}},
                {{"dims", dims}});
}

int64_t check_part(const Tensor& x, int64_t dim) {
  check(x.dim() > 0, "x is a scalar and has no dimension to take a part of");
  return check_dim(x, dim);
}

// A view of `count` positions start, start + step, ... along dim, all in range.
Tensor positions(const Tensor& x, int64_t dim, int64_t start, int64_t count, int64_t step) {
  const int64_t stride = x.strides()[dim], offset = count ? start * stride : 0;
  return TensorImpl::view(x, x.shape().with(dim, count), x.strides().with(dim, step * stride), offset);
}

// The transpose of `positions`: zeros, except x at positions start, start + step, ... of a dimension of
// `size`.
Tensor scatter_slice(Operand x, int64_t dim, int64_t size, int64_t start, int64_t step) {
  const int64_t count = x->shape()[dim];
  Tensor y = kernel::full(x->shape().with(dim, size), 0, x->dtype());
  kernel::copy_into(positions(y, dim, start, count, step), x);
  return record("scatter_slice", std::move(y),
                {{x, "g at the positions",
                  [=](const Tensor& g) { return slice(g, dim, start, start + count * step, step); }}},
                {{"dim", dim}, {"start", start}, {"step", step}});
}

constexpr const char* kScattered = "g at the positions, 0 elsewhere";

Tensor strided(const char* op, Operand x, int64_t dim, int64_t start, int64_t count, int64_t step) {
  return record(op, positions(x, dim, start, count, step),
                {{x, kScattered,
                  [dim, size = x->size(dim), start, step](const Tensor& g) {
                    return scatter_slice(g, dim, size, start, step);
                  }}},
                {{"dim", dim}, {"start", start}, {"step", step}});
}

// x where keep(column - row, diagonal) holds in its last two dimensions, and 0 elsewhere.
Tensor triangle(const char* op, Operand x, int64_t diagonal, Tensor (*keep)(Operand, Operand)) {
  const OpScope scope(op, x.line());
  check(x->dim() >= 2, "x is ", x->shape(), "; it must be a matrix or a batch of them");
  const Tensor to_right = arange(x->size(-1), int64) - unsqueeze(arange(x->size(-2), int64), 1);
  return where(keep(to_right, diagonal), x, 0);
}

}  // namespace

Tensor alias(Operand x) {
  const OpScope scope("alias", x.line());
  return record("alias", x->detach(), {{x, "g", [](const Tensor& g) { return g; }}});
}

Tensor clone(Operand x) {
  const OpScope scope("clone", x.line());
  return record("clone", kernel::clone(x), {{x, "g", [](const Tensor& g) { return g; }}});
}

Tensor contiguous(Operand x) {
  const OpScope scope("contiguous", x.line());
  if (x->is_contiguous()) return x.tensor();
  return record("contiguous", kernel::clone(x), {{x, "g", [](const Tensor& g) { return g; }}});
}

Tensor to(Operand x, DType dtype) {
  const OpScope scope("to", x.line());
  if (x->dtype() == dtype) return x.tensor();
  Tensor y = kernel::cast(x, dtype);
  if (!is_floating(dtype)) return record("to", std::move(y), {x});
  return record("to", std::move(y),
                {{x, "g in the dtype of $1", [from = x->dtype()](const Tensor& g) { return to(g, from); }}});
}

Tensor transpose(Operand x, int64_t dim0, int64_t dim1) {
  const OpScope scope("transpose", x.line());
  Shape dims = check_dims(x->dim(), {});
  std::swap(dims[check_dim(x, dim0)], dims[check_dim(x, dim1)]);
  return permuted("transpose", "gᵀ", x, dims);
}

Tensor t(Operand x) {
  const OpScope scope("t", x.line());
  check(x->dim() <= 2, "x is ", x->shape(), "; only matrices are transposed by t, use transpose or permute");
  return x->dim() < 2 ? x.tensor() : transpose(x, 0, 1);
}

Tensor permute(Operand x, const Shape& dims) {
  const OpScope scope("permute", x.line());
  check(dims.dim() == x->dim(), "x is ", x->shape(), " and dims are ", dims, "; name each of its ", x->dim(),
        " dimensions once");
  check_dims(x->dim(), dims);
  Shape order = dims;
  for (int64_t& dim : order) dim = check_dim(x, dim);
  return permuted("permute", "g in the order of $1", x, order);
}

Tensor reshape(Operand x, const Shape& shape) {
  const OpScope scope("reshape", x.line());
  if (shape == x->shape()) return x.tensor();
  return reshaped("reshape", x, infer_shape(x, shape), true);
}

Tensor view(Operand x, const Shape& shape) {
  const OpScope scope("view", x.line());
  return reshaped("view", x, infer_shape(x, shape), false);
}

// Repeated dimensions have stride 0. The engine sums the gradient to the shape of x.
Tensor expand(Operand x, const Shape& shape) {
  const OpScope scope("expand", x.line());
  const int64_t lead = shape.dim() - x->dim();
  check(lead >= 0, "x is ", x->shape(), " and the shape ", shape,
        " has fewer dimensions; new ones are added in front");
  Shape sizes = shape;
  for (int64_t d = 0; d < shape.dim(); ++d) {
    const int64_t own = d < lead ? 1 : x->shape()[d - lead];
    if (shape[d] == -1 && d >= lead) sizes[d] = own;
    check(sizes[d] >= 0 && (sizes[d] == own || own == 1), "x is ", x->shape(), " and the wanted shape ",
          shape, "; aligned at the right, only sizes of 1 can grow",
          d < lead ? ", and -1 keeps only a size that is there" : "");
  }
  return record("expand", TensorImpl::view(x, sizes, kernel::broadcast_strides(x, sizes)),
                {{x, "Σ of g over the repeated dimensions", [](const Tensor& g) { return g; }}});
}

Tensor broadcast_to(Operand x, const Shape& shape) {
  const OpScope scope("broadcast_to", x.line());
  return shape == x->shape() ? x.tensor() : expand(x, shape);
}

Tensor squeeze(Operand x, Dims dims) {
  const OpScope scope("squeeze", x.line());
  Shape ones;
  for (const int64_t d : check_dims(x->dim(), dims))
    if (x->shape()[d] == 1) ones.push_back(d);
  return reshaped("squeeze", x, reduced_shape(x->shape(), ones, false), false);
}

Tensor unsqueeze(Operand x, int64_t dim) {
  const OpScope scope("unsqueeze", x.line());
  dim = check_dim(x->dim() + 1, dim);
  return reshaped("unsqueeze", x, x->shape().inserted(dim, 1), false);
}

Tensor flatten(Operand x, int64_t start_dim, int64_t end_dim) {
  const OpScope scope("flatten", x.line());
  start_dim = check_dim(x, start_dim);
  end_dim = check_dim(x, end_dim);
  check(start_dim <= end_dim, "start_dim ", start_dim, " comes after end_dim ", end_dim,
        " of a tensor of shape ", x->shape());
  if (x->dim() == 0) return reshape(x, {1});
  Shape shape = x->shape();
  for (; end_dim > start_dim; --end_dim) {
    shape[start_dim] *= shape[end_dim];
    shape.erase(end_dim);
  }
  return reshape(x, shape);
}

Tensor narrow(Operand x, int64_t dim, int64_t start, int64_t length) {
  const OpScope scope("narrow", x.line());
  dim = check_part(x, dim);
  const int64_t size = x->shape()[dim];
  const int64_t first = start < 0 ? start + size : start;
  check(0 <= first && first <= size && 0 <= length && length <= size - first, "start ", start, " and length ",
        length, " do not lie in dimension ", dim, " of x ", x->shape());
  return strided("narrow", x, dim, first, length, 1);
}

Tensor select(Operand x, int64_t dim, int64_t index) {
  const OpScope scope("select", x.line());
  dim = check_part(x, dim);
  const int64_t size = x->shape()[dim];
  check(-size <= index && index < size, "index ", index, " is out of range for dimension ", dim, " of x ",
        x->shape());
  if (index < 0) index += size;
  const int64_t offset = index * x->strides()[dim];
  return record("select", TensorImpl::view(x, x->shape().erased(dim), x->strides().erased(dim), offset),
                {{x, kScattered,
                  [=](const Tensor& g) { return scatter_slice(unsqueeze(g, dim), dim, size, index, 1); }}},
                {{"dim", dim}, {"index", index}});
}

Tensor slice(Operand x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  const OpScope scope("slice", x.line());
  dim = check_part(x, dim);
  check(step > 0, "step ", step, " is not positive");
  const int64_t size = x->shape()[dim];
  const auto inside = [size](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  const int64_t first = inside(start);
  const int64_t span = std::max<int64_t>(inside(end) - first, 0);
  const int64_t count = span / step + (span % step != 0);
  return strided("slice", x, dim, first, count, count > 1 ? step : 1);
}

std::vector<Tensor> split(Operand x, int64_t size, int64_t dim) {
  const OpScope scope("split", x.line());
  dim = check_part(x, dim);
  const int64_t whole = x->shape()[dim];
  check(size > 0 || (size == 0 && whole == 0), "parts of size ", size, " of dimension ", dim, " of x ",
        x->shape(), "; the size must be positive");
  std::vector<Tensor> parts;
  for (int64_t start = 0; start < whole || parts.empty(); start += size)
    parts.push_back(narrow(x, dim, start, std::min(size, whole - start)));
  return parts;
}

std::vector<Tensor> split(Operand x, const IntList& sizes, int64_t dim) {
  const OpScope scope("split", x.line());
  dim = check_part(x, dim);
  const int64_t whole = x->shape()[dim];
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > whole - start) break;
    parts.push_back(narrow(x, dim, start, size));
    start += size;
  }
  check(start == whole && parts.size() == sizes.size(), "sizes ", sizes, " do not add up to dimension ", dim,
        " of x ", x->shape());
  return parts;
}

std::vector<Tensor> chunk(Operand x, int64_t chunks, int64_t dim) {
  const OpScope scope("chunk", x.line());
  check(chunks > 0, chunks, " parts of x ", x->shape(), "; there must be at least one");
  dim = check_part(x, dim);
  const int64_t whole = x->shape()[dim];
  if (whole == 0) return std::vector<Tensor>(static_cast<size_t>(chunks), narrow(x, dim, 0, 0));
  return split(x, (whole - 1) / chunks + 1, dim);
}

Tensor cat(const std::vector<Tensor>& tensors, int64_t dim, SourceLocation line) {
  const OpScope scope("cat", line);
  check(!tensors.empty(), "there are no tensors to join");
  const auto adds_nothing = [](const Tensor& x) { return x.shape() == Shape{0}; };
  const auto first = std::find_if_not(tensors.begin(), tensors.end(), adds_nothing);
  const Tensor& model = first == tensors.end() ? tensors.front() : *first;
  dim = check_part(model, dim);

  struct Part {
    int64_t start, size;
    Shape shape;
  };
  std::vector<Part> parts;
  Shape shape = model.shape().with(dim, 0);
  for (const Tensor& x : tensors) {
    check(x.dtype() == model.dtype(), "tensors of dtypes ", model.dtype(), " and ", x.dtype(),
          "; convert one with to()");
    Shape rest = adds_nothing(x) ? model.shape() : x.shape();
    if (rest.dim() == model.dim()) rest[dim] = model.shape()[dim];
    check(rest == model.shape(), "shapes ", model.shape(), " and ", x.shape(),
          " differ outside of dimension ", dim);
    parts.push_back({shape[dim], adds_nothing(x) ? 0 : x.size(dim), x.shape()});
    shape[dim] += parts.back().size;
  }

  Tensor y = Tensor::empty(shape, model.dtype());
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].size > 0) kernel::copy_into(positions(y, dim, parts[i].start, parts[i].size, 1), tensors[i]);
  JointRule rule = [dim, parts = std::move(parts)](const Tensor& g, const Tensor&) {
    return detail::mapped(
        parts, [&](const Part& part) { return reshape(narrow(g, dim, part.start, part.size), part.shape); });
  };
  return record("cat", std::move(y), {tensors.begin(), tensors.end()}, std::move(rule), nullptr, nullptr,
                {{"dim", dim}}, {"each input gets its part of g: "});
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t dim, SourceLocation line) {
  const OpScope scope("stack", line);
  check(!tensors.empty(), "there are no tensors to join");
  dim = check_dim(tensors.front().dim() + 1, dim);
  std::vector<Tensor> rows;
  for (const Tensor& x : tensors) {
    check(x.shape() == tensors.front().shape(), "shapes ", tensors.front().shape(), " and ", x.shape(),
          " differ");
    rows.push_back(unsqueeze(x, dim));
  }
  return cat(rows, dim, line);
}

// A copy of the view that starts at the last element and has negative strides.
Tensor flip(Operand x, const Shape& dims) {
  const OpScope scope("flip", x.line());
  Strides strides = x->strides();
  int64_t offset = 0;
  for (const int64_t d : dims.empty() ? dims : check_dims(x->dim(), dims)) {
    if (x->numel() > 0) offset += (x->shape()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return record("flip", kernel::clone(TensorImpl::view(x, x->shape(), strides, offset)),
                {{x, "g flipped back", [dims](const Tensor& g) { return flip(g, dims); }}}, {{"dims", dims}});
}

// The last positions become the first.
Tensor roll(Operand x, Dims shifts, Dims dims) {
  const OpScope scope("roll", x.line());
  check(shifts.dim() == std::max<int64_t>(dims.dim(), 1), "shifts are ", shifts, " and dims are ", dims,
        "; give one shift for each dim, or one shift alone");
  if (dims.empty()) return reshape(roll(flatten(x), shifts, 0), x->shape());
  Tensor y = x;
  for (int64_t i = 0; i < dims.dim(); ++i) {
    const int64_t d = check_part(y, dims[i]), n = std::max<int64_t>(y.size(d), 1);
    const int64_t front = (n - shifts[i] % n) % n;
    y = cat({narrow(y, d, front, y.size(d) - front), narrow(y, d, 0, front)}, d);
  }
  return y;
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, GridIndexing indexing, SourceLocation line) {
  const OpScope scope("meshgrid", line);
  Shape shape;
  for (const Tensor& x : tensors) {
    check(x.dim() <= 1 && x.dtype() == tensors[0].dtype(), "a tensor is ", x.dtype(), " ", x.shape(),
          "; all must be vectors of one dtype");
    shape.push_back(x.numel());
  }
  const bool swaps = indexing == GridIndexing::xy && shape.dim() > 1;
  std::vector<Tensor> grids;
  for (const Tensor& x : tensors) {
    const Shape own = Shape::filled(shape.dim(), 1).with(std::ssize(grids), x.numel());
    const Tensor grid = expand(reshape(x, own), shape);
    grids.push_back(swaps ? transpose(grid, 0, 1) : grid);
  }
  return grids;
}

// One dimension after the other: [before, 1, n] is expanded to [before, times, n].
Tensor repeat(Operand x, const Shape& sizes) {
  const OpScope scope("repeat", x.line());
  const int64_t rank = sizes.dim();
  check(rank >= x->dim(), "x is ", x->shape(), " and sizes are ", sizes, "; give one for each dimension");
  Shape shape = x->shape();
  while (shape.dim() < rank) shape.insert(0, 1);
  Tensor y = x;
  for (int64_t d = 0; d < rank; ++d) {
    check(sizes[d] >= 0, "sizes ", sizes, ": a number of times is negative");
    const int64_t before = numel(Shape(shape.data(), d)), n = numel(Shape(shape.data() + d, rank - d));
    shape[d] = numel({sizes[d], shape[d]});
    y = reshape(expand(reshape(y, {before, 1, n}), {before, sizes[d], n}), shape);
  }
  return TensorImpl::of(y).storage.get() == TensorImpl::of(x).storage.get() ? clone(y) : y;
}

Tensor tril(Operand x, int64_t diagonal) { return triangle("tril", x, diagonal, le); }
Tensor triu(Operand x, int64_t diagonal) { return triangle("triu", x, diagonal, ge); }

// Padding and cropping are inverse: the gradient is padded by the negative amounts.
Tensor pad(Operand x, const IntList& pads, Scalar value) {
  const OpScope scope("pad", x.line());
  check(pads.size() % 2 == 0 && std::ssize(pads) <= 2 * x->dim(), "x is ", x->shape(), " and pads are ", pads,
        "; give two for each dimension, the last dimension first");
  Shape shape = x->shape();
  IntList back;
  for (size_t i = 0; i < pads.size(); ++i) {
    int64_t& size = shape[x->dim() - 1 - static_cast<int64_t>(i / 2)];
    check(!__builtin_add_overflow(size, pads[i], &size) && (i % 2 == 0 || size >= 0), "x is ", x->shape(),
          " and pads are ", pads, "; no size may become negative");
    back.push_back(-pads[i]);
  }
  Tensor y = kernel::full(shape, value, x->dtype());
  Tensor from = x->detach(), into = y;
  for (size_t i = 0; i < pads.size(); i += 2) {
    const int64_t d = x->dim() - 1 - static_cast<int64_t>(i / 2);
    const int64_t cropped = std::max<int64_t>(-pads[i], 0), added = std::max<int64_t>(pads[i], 0);
    const int64_t count = std::max<int64_t>(std::min(x->shape()[d] - cropped, shape[d] - added), 0);
    from = positions(from, d, cropped, count, 1);
    into = positions(into, d, added, count, 1);
  }
  kernel::copy_into(into, from);
  return record("pad", std::move(y),
                {{x, "g cut to the size of $1", [back](const Tensor& g) { return pad(g, back); }}},
                {{"pads", pads}, {"value", value.to<double>()}});
}

}  // namespace heed
