#include "autograd/ops/index.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/index.h"

namespace heed {
namespace {

// Throws unless x and index have the same rank, and index is not larger than x in dimensions other than dim.
void check_index_shape(const char* name, const Tensor& x, int64_t dim, const Tensor& index) {
  bool fits = x.dim() == index.dim();
  for (int64_t d = 0; d < x.dim() && fits; ++d) fits = d == dim || index.shape()[d] <= x.shape()[d];
  check(fits, "the index ", index.shape(), " must have the rank of ", name, " ", x.shape(),
        " and be no larger outside of dimension ", dim);
}

// Makes the operands of a scatter into x fit: dim counts from the front, and src is cut to the index.
void fit_scatter(const Operand& x, int64_t& dim, Operand& index, Operand& src) {
  if (index->dim() == 0) index.assign(reshape(index, {1}));
  if (src->dim() == 0) src.assign(reshape(src, {1}));
  dim = check_dim(x, dim);
  check_index_shape("x", x, dim, index);
  check_index_shape("src", src, dim, index);
  check(index->shape()[dim] <= src->shape()[dim], "the index ", index->shape(), " is larger than src ",
        src->shape());
  for (int64_t d = 0; d < src->dim(); ++d)
    if (src->shape()[d] != index->shape()[d]) src.assign(narrow(src, d, 0, index->shape()[d]));
}

// Throws unless the index is int64, and x and src have one dtype.
void check_scatter(const Operand& x, const Operand& index, const Operand& src) {
  check_indices(index);
  check(x->dtype() == src->dtype(), "x is ", x->dtype(), " ", x->shape(), ", src is ", src->dtype(), " ",
        src->shape(), "; they must have one dtype");
}

// The transpose of index_select: adds the slices of g to zeros of `size` along dim, at the positions index.
Tensor added_at(Operand g, int64_t dim, int64_t size, const Saved& index) {
  Tensor y = zeros(g->shape().with(dim, size), g->dtype());
  kernel::index_add_into(y, dim, index(), g);
  return record(
      "index_add", std::move(y),
      {{g, "g at the positions", [dim, index](const Tensor& h) { return index_select(h, dim, index()); }}},
      {{"dim", dim}, {"index", index()}});
}

using Kind = Index::Kind;

bool is_mask(const Index& item) { return item.kind == Kind::tensor && item.tensor.dtype() == boolean; }

// The state of x[{...}], which takes item by item from the left. Positions, slices and new axes become views
// at once; index tensors are collected and applied together at the end.
struct Indexing {
  // An index tensor of nonnegative positions in one dimension.
  struct Picked {
    int64_t dim;
    Tensor positions;
  };

  Tensor y;
  int64_t next_dim = 0;  // of y, the next one to be indexed
  std::vector<Picked> picked = {};

  void take_position(int64_t position) { y = select(y, next_dim, wrapped(position)); }

  void take_slice(const Slice& range) {
    if (range.start || range.end || range.step != 1)
      y = slice(y, next_dim, range.start.value_or(0), range.end.value_or(y.size(next_dim)), range.step);
    ++next_dim;
  }

  // Flattens the dimensions that the mask covers and picks from them; a scalar mask picks from a new
  // dimension.
  void take_mask(const Tensor& mask) {
    const Shape covered(y.shape().data() + next_dim, std::min(mask.dim(), y.dim() - next_dim));
    check(mask.shape() == covered, "a mask of shape ", mask.shape(), " at dimension ", next_dim, " of ",
          y.shape(), " must have the sizes there");
    y = mask.dim() == 0 ? unsqueeze(y, next_dim) : flatten(y, next_dim, next_dim + mask.dim() - 1);
    picked.push_back({next_dim++, kernel::positions_of_true(mask)});
  }

  void take_positions(const Tensor& index) {
    check(index.dtype() == int64, "an index tensor must hold int64 positions or bools, and this is ",
          index.dtype(), " ", index.shape());
    if (index.dim() == 0) return take_position(index.item<int64_t>());
    const Tensor positions = Tensor::empty(index.shape(), int64);
    auto* next = positions.mutable_data<int64_t>();
    index.for_each([&](auto position) { *next++ = wrapped(static_cast<int64_t>(position)); });
    picked.push_back({next_dim++, positions});
  }

  // The position counted from the front of dimension next_dim.
  int64_t wrapped(int64_t position) const {
    const int64_t size = y.size(next_dim);
    check(-size <= position && position < size, "position ", position, " is out of range for dimension ",
          next_dim, " of ", y.shape());
    return position < 0 ? position + size : position;
  }

  // Flattens the indexed dimensions, selects from them by linear positions, and gives the result the shape
  // that the index tensors broadcast to. Indexed dimensions that are not adjacent are moved to the front
  // first.
  Tensor pick() {
    const auto count = static_cast<int64_t>(picked.size());
    Shape shape, order;
    Tensor linear = zeros({}, int64);
    const bool adjacent = picked.back().dim == picked[0].dim + count - 1;
    for (const auto& [dim, positions] : picked) {
      shape = broadcast_shapes(shape, positions.shape());
      linear = linear * y.size(dim) + positions;
      order.push_back(dim);
    }
    if (!adjacent) {
      for (int64_t d = 0; d < y.dim(); ++d)
        if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
      y = permute(y, order);
    }
    const int64_t begin = adjacent ? picked[0].dim : 0;
    const Tensor values = index_select(flatten(y, begin, begin + count - 1), begin, flatten(linear));
    Shape result = values.shape().erased(begin);
    for (int64_t d = 0; d < shape.dim(); ++d) result.insert(begin + d, shape[d]);
    return reshape(values, result);
  }
};

}  // namespace

Tensor gather(Operand x, int64_t dim, Operand index) {
  const OpScope scope("gather", x.line());
  check_indices(index);
  if (x->dim() == 0) x.assign(reshape(x, {1}));
  if (index->dim() == 0) return reshape(gather(x, dim, reshape(index, {1})), {});
  dim = check_dim(x, dim);
  check_index_shape("x", x, dim, index);
  return record("gather", kernel::gather(x, dim, index),
                {{x, "g, added at the positions that were read",
                  [dim, shape = x->shape(), i = save(index)](const Tensor& g) {
                    return scatter_add(zeros(shape, g.dtype()), dim, i(), g);
                  }}},
                {{"dim", dim}, {"index", index}});
}

Tensor index_select(Operand x, int64_t dim, Operand index) {
  const OpScope scope("index_select", x.line());
  check_indices(index);
  check(index->dim() <= 1, "the index is ", index->shape(),
        "; it must be a vector of positions, or use x[{...}]");
  if (x->dim() == 0) return reshape(index_select(reshape(x, {1}), dim, index), {});
  dim = check_dim(x, dim);
  return record(
      "index_select", kernel::index_select(x, dim, index),
      {{x, "g, added at the positions that were read",
        [dim, size = x->size(dim), i = save(index)](const Tensor& g) { return added_at(g, dim, size, i); }}},
      {{"dim", dim}, {"index", index}});
}

// dx = g,  dsrc = g at the positions
Tensor scatter_add(Operand x, int64_t dim, Operand index, Operand src) {
  const OpScope scope("scatter_add", x.line());
  check_scatter(x, index, src);
  if (x->dim() == 0) return reshape(scatter_add(reshape(x, {1}), dim, flatten(index), flatten(src)), {});
  fit_scatter(x, dim, index, src);
  Tensor y = kernel::clone(x);
  kernel::scatter_add_into(y, dim, index, src);
  return record(
      "scatter_add", std::move(y),
      {{x, "g", [](const Tensor& g) { return g; }},
       {src, "g at the positions", [dim, i = save(index)](const Tensor& g) { return gather(g, dim, i()); }}},
      {{"dim", dim}, {"index", index}});
}

// Positions in src of the elements that are left, each the last of those at one position of x, are scattered
// first: the rest is a choice between x and these.
Tensor scatter(Operand x, int64_t dim, Operand index, Operand src) {
  const OpScope scope("scatter", x.line());
  if (src.is_number()) src.assign(broadcast_to(kernel::full({}, src.number(), x->dtype()), index->shape()));
  check_scatter(x, index, src);
  if (x->dim() == 0) return reshape(scatter(reshape(x, {1}), dim, flatten(index), flatten(src)), {});
  fit_scatter(x, dim, index, src);
  if (index->numel() == 0) return clone(x);
  const Tensor from = full(x->shape(), -1, int64);
  kernel::scatter_into(from, dim, index, reshape(arange(index->numel(), int64), index->shape()));
  const Tensor left = index_select(flatten(src), 0, flatten(clamp(from, 0)));
  return where(from < 0, x, reshape(left, x->shape()));
}

Tensor index_add(Operand x, int64_t dim, Operand index, Operand src, Scalar alpha) {
  const OpScope scope("index_add", x.line());
  check_scatter(x, index, src);
  if (x->dim() == 0) return reshape(index_add(reshape(x, {1}), dim, index, flatten(src), alpha), {});
  dim = check_dim(x, dim);
  const Shape wanted = x->shape().with(dim, index->numel());
  check(index->dim() <= 1 && src->shape() == wanted, "x is ", x->shape(), ", the index ", index->shape(),
        ", src ", src->shape(), "; the index must be a vector, and src ", wanted);
  return add(x, added_at(src, dim, x->size(dim), save(index)), alpha);
}

Tensor masked_select(Operand x, Operand mask) {
  const OpScope scope("masked_select", x.line());
  check(mask->dtype() == boolean, "the mask is ", mask->dtype(), " ", mask->shape(),
        "; it must be bool, such as x > 0");
  const Shape shape = broadcast_shapes(x->shape(), mask->shape(), "x", "the mask");
  return index_select(flatten(broadcast_to(x, shape)), 0,
                      kernel::positions_of_true(broadcast_to(mask, shape)));
}

Tensor nonzero(Operand x) {
  const OpScope scope("nonzero", x.line());
  const std::vector<int64_t> found = kernel::positions_of_true(kernel::cast(x, boolean)).to_vector<int64_t>();
  const Strides strides = contiguous_strides(x->shape());
  Tensor y = Tensor::empty({std::ssize(found), x->dim()}, int64);
  auto* out = y.mutable_data<int64_t>();
  for (const int64_t position : found)
    for (int64_t d = 0; d < x->dim(); ++d) *out++ = position / strides[d] % x->shape()[d];
  return record("nonzero", std::move(y), {x});
}

Tensor repeat_interleave(Operand x, Operand repeats, std::optional<int64_t> dim) {
  const OpScope scope("repeat_interleave", x.line());
  if (repeats.is_number()) repeats.assign(kernel::full({}, repeats.number(), int64));
  if (!dim || x->dim() == 0) x.assign(flatten(x));
  const int64_t along = check_dim(x, dim.value_or(0)), n = x->size(along);
  check(repeats->dtype() == int64 && repeats->dim() <= 1 && (repeats->numel() == 1 || repeats->numel() == n),
        "repeats are ", repeats->dtype(), " ", repeats->shape(), " and x is ", x->shape(),
        "; give an int64 number, or one for each of the ", n, " slices along dimension ", along);
  std::vector<int64_t> from;
  int64_t position = 0;
  for (const int64_t count : expand(flatten(repeats), {n}).to_vector<int64_t>()) {
    check(count >= 0, "repeats has ", count, "; it must not be negative");
    from.insert(from.end(), static_cast<size_t>(count), position++);
  }
  return index_select(x, along, from_vector(from, {std::ssize(from)}));
}

Tensor diag(Operand x, int64_t diagonal) {
  const OpScope scope("diag", x.line());
  check(x->dim() == 1 || x->dim() == 2, "x is ", x->shape(), "; it must be a vector or a matrix");
  const int64_t k = std::clamp<int64_t>(diagonal, INT32_MIN, INT32_MAX), right = std::max<int64_t>(k, 0);
  const Shape shape = x->dim() == 2 ? x->shape() : Shape::filled(2, x->numel() + std::abs(k));
  const Tensor on = arange(shape[1], int64) - unsqueeze(arange(shape[0], int64), 1) == k;
  return x->dim() == 2 ? masked_select(x, on) : where(on, pad(x, {right, right - k}), 0);
}

Tensor index(Operand x, const std::vector<Index>& items) {
  const OpScope scope("index", x.line());
  int64_t covered = 0;  // the dimensions that items other than an ellipsis index
  for (const Index& item : items)
    covered += is_mask(item) ? item.tensor.dim() : item.kind != Kind::ellipsis && item.kind != Kind::new_axis;
  check(std::ranges::count(items, Kind::ellipsis, &Index::kind) <= 1, "an index has one ellipsis at most");
  check(covered <= x->dim(), "the items stand for ", covered, " dimensions, and x is ", x->shape());

  Indexing state{x};
  for (const Index& item : items) {
    if (item.kind == Kind::position) state.take_position(item.position);
    if (item.kind == Kind::slice) state.take_slice(item.range);
    if (item.kind == Kind::ellipsis) state.next_dim += x->dim() - covered;
    if (item.kind == Kind::new_axis) state.y = unsqueeze(state.y, state.next_dim++);
    if (item.kind == Kind::tensor)
      is_mask(item) ? state.take_mask(item.tensor) : state.take_positions(item.tensor);
  }
  return state.picked.empty() ? state.y : state.pick();
}

Tensor Tensor::operator[](const Index& item) const { return index({*this, item.line}, {item}); }
Tensor Tensor::operator[](std::initializer_list<Index> items) const {
  return items.size() ? index({*this, items.begin()->line}, items) : *this;
}

// y[..., :] = weight[index[...], :].   dweight[n, :] = sum of g[..., :] where index[...] = n
Tensor embedding(Operand weight, Operand index, std::optional<int64_t> padding_idx) {
  const OpScope scope("embedding", weight.line());
  check_indices(index);
  check(weight->dim() == 2, "weight is ", weight->shape(), "; it must be [N, E]");
  const int64_t n = weight->shape()[0], e = weight->shape()[1];
  check(!padding_idx || (-n <= *padding_idx && *padding_idx < n), "padding_idx ", padding_idx.value_or(0),
        " is out of range for weight ", weight->shape());
  if (padding_idx && *padding_idx < 0) *padding_idx += n;
  const Tensor flat = reshape(index, {index->numel()});
  const Shape shape = index->shape().inserted(index->dim(), e);
  return record("embedding", TensorImpl::view(kernel::index_select(weight, 0, flat), shape),
                {{weight, "rows of g, added at their indices",
                  [n, e, padding_idx, i = save(flat)](const Tensor& g) {
                    Tensor flat_g = reshape(g, {i().numel(), e});
                    if (padding_idx) flat_g = where(unsqueeze(i() == *padding_idx, 1), 0, flat_g);
                    return added_at(flat_g, 0, n, i);
                  }}},
                {{"index", index}, {"padding_idx", padding_idx.value_or(-1)}});
}

Tensor one_hot(Operand index, int64_t num_classes) {
  const OpScope scope("one_hot", index.line());
  check_indices(index);
  int64_t least = 0, most = -1;
  index->for_each([&](auto element) {
    least = std::min(least, static_cast<int64_t>(element));
    most = std::max(most, static_cast<int64_t>(element));
  });
  check(num_classes != -1 || index->numel() > 0, "an empty index of shape ", index->shape(),
        " does not tell the number of classes; give it");
  check(num_classes >= -1 && 0 <= least && (num_classes == -1 ? most < 0x1p53 : most < num_classes),
        "the index reaches from ", least, " to ", most, " for num_classes = ", num_classes,
        "; classes count from 0");
  if (num_classes == -1) num_classes = most + 1;
  return to(unsqueeze(index, -1) == arange(0, static_cast<double>(num_classes), 1, int64), int64);
}

}  // namespace heed
