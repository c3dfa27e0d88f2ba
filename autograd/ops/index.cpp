#include "tensor/index.h"

#include "autograd/node.h"
#include "autograd/ops.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/index.h"

namespace heed {
namespace {

// x and index have the same rank, and outside of dim index is nowhere larger.
void check_lattice(const char* name, const Tensor& x, int64_t dim, const Tensor& index) {
  bool fits = x.dim() == index.dim();
  for (int64_t d = 0; d < x.dim() && fits; ++d) fits = d == dim || index.shape()[d] <= x.shape()[d];
  check(fits, "the index ", index.shape(), " must have the rank of ", name, " ", x.shape(),
        " and be no larger outside of dimension ", dim);
}

// The transpose of index_select: zeros of `size` along dim, to whose positions index the slices of g are
// added.
Tensor index_add(Operand g, int64_t dim, int64_t size, const Saved& index) {
  Shape shape = g->shape();
  shape[dim] = size;
  Tensor y = zeros(shape, g->dtype());
  kernel::index_add_into(y, dim, index(), g);
  return record("index_add", std::move(y),
                {{g, [dim, index](const Tensor& h) { return index_select(h, dim, index()); }}});
}

}  // namespace

Tensor gather(Operand x, int64_t dim, Operand index) {
  const Calling here("gather", x.line());
  check_indices(index);
  if (x->dim() == 0) x.become(reshape(x, {1}));
  if (index->dim() == 0) return reshape(gather(x, dim, reshape(index, {1})), {});
  dim = check_dim(x, dim);
  check_lattice("x", x, dim, index);
  return record("gather", kernel::gather(x, dim, index),
                {{x, [dim, shape = x->shape(), i = save(index)](const Tensor& g) {
                    return scatter_add(zeros(shape, g.dtype()), dim, i(), g);
                  }}});
}

Tensor index_select(Operand x, int64_t dim, Operand index) {
  const Calling here("index_select", x.line());
  check_indices(index);
  check(index->dim() <= 1, "the index is ", index->shape(),
        "; it must be a vector of positions, or use x[{...}]");
  if (x->dim() == 0) return reshape(index_select(reshape(x, {1}), dim, index), {});
  dim = check_dim(x, dim);
  return record("index_select", kernel::index_select(x, dim, index),
                {{x, [dim, size = x->shape()[dim], i = save(index)](const Tensor& g) {
                    return index_add(g, dim, size, i);
                  }}});
}

// dx = g,  dsrc = g at the positions
Tensor scatter_add(Operand x, int64_t dim, Operand index, Operand src) {
  const Calling here("scatter_add", x.line());
  check_indices(index);
  check(x->dtype() == src->dtype(), "x is ", x->dtype(), " ", x->shape(), ", src is ", src->dtype(), " ",
        src->shape(), "; they must have one dtype");
  if (x->dim() == 0) return reshape(scatter_add(reshape(x, {1}), dim, flatten(index), flatten(src)), {});
  if (index->dim() == 0) index.become(reshape(index, {1}));
  if (src->dim() == 0) src.become(reshape(src, {1}));
  dim = check_dim(x, dim);
  check_lattice("x", x, dim, index);
  check_lattice("src", src, dim, index);
  check(index->shape()[dim] <= src->shape()[dim], "the index ", index->shape(), " is larger than src ",
        src->shape());
  for (int64_t d = 0; d < src->dim(); ++d)
    if (src->shape()[d] != index->shape()[d]) src.become(narrow(src, d, 0, index->shape()[d]));
  Tensor y = kernel::clone(x);
  kernel::scatter_add_into(y, dim, index, src);
  return record("scatter_add", std::move(y),
                {{x, [](const Tensor& g) { return g; }},
                 {src, [dim, i = save(index)](const Tensor& g) { return gather(g, dim, i()); }}});
}

namespace {

// Positions of one index tensor, counted over the `count` dimensions from `dim` on taken as one.
struct Picked {
  int64_t dim, count, size;
  Tensor positions;
};

// Negative positions count from the back.
Tensor wrapped(const Tensor& positions, int64_t dim, const Tensor& x) {
  const int64_t size = x.shape()[dim];
  Tensor y = Tensor::empty(positions.shape(), int64);
  auto* out = y.mutable_data<int64_t>();
  positions.for_each([&](auto element) {
    const auto position = static_cast<int64_t>(element);
    check(-size <= position && position < size, "position ", position, " is out of range for dimension ", dim,
          " of ", x.shape());
    *out++ = position < 0 ? position + size : position;
  });
  return y;
}

// A mask over the dimensions from `dim` on.
Picked picked_by(const Tensor& mask, int64_t dim, const Tensor& x) {
  const Shape covered(x.shape().data() + dim, std::min(mask.dim(), x.dim() - dim));
  check(mask.shape() == covered, "a mask of shape ", mask.shape(), " stands at dimension ", dim, " of ",
        x.shape(), "; it must have the sizes there");
  return {dim, mask.dim(), mask.numel(), kernel::positions_of_true(mask)};
}

int64_t dims_taken(const Index& item) {
  if (item.kind == Index::Kind::tensor && item.tensor.dtype() == boolean) return item.tensor.dim();
  return item.kind != Index::Kind::ellipsis && item.kind != Index::Kind::new_axis;
}

// y with the picked elements in place of the dimensions that were picked from.
Tensor pick(Operand y, const std::vector<Picked>& picked) {
  Shape shape = picked[0].positions.shape();
  bool adjacent = true;
  int64_t taken = 0, size = 1;
  Shape front;
  for (size_t i = 0; i < picked.size(); ++i) {
    shape = broadcast_shapes(shape, picked[i].positions.shape());
    adjacent &= i == 0 || picked[i].dim == picked[i - 1].dim + picked[i - 1].count;
    taken += picked[i].count;
    size *= picked[i].size;
    for (int64_t d = 0; d < picked[i].count; ++d) front.push_back(picked[i].dim + d);
  }
  Tensor linear = picked[0].positions;
  for (size_t i = 1; i < picked.size(); ++i)
    linear = kernel::add(kernel::mul(linear, kernel::full({}, double(picked[i].size), int64)),
                         picked[i].positions);

  const int64_t begin = adjacent ? picked[0].dim : 0;
  if (!adjacent) {
    for (int64_t d = 0; d < y->dim(); ++d)
      if (std::find(front.begin(), front.begin() + taken, d) == front.begin() + taken) front.push_back(d);
    y.become(permute(y, front));
  }
  Shape joined(y->shape().data(), begin), result = joined;
  joined.push_back(size);
  for (const int64_t n : shape) result.push_back(n);
  for (int64_t d = begin + taken; d < y->dim(); ++d) {
    joined.push_back(y->shape()[d]);
    result.push_back(y->shape()[d]);
  }
  return reshape(index_select(reshape(y, joined), begin, reshape(linear, {-1})), result);
}

}  // namespace

Tensor index(Operand x, const std::vector<Index>& items) {
  const Calling here("index", x.line());
  int64_t taken = 0, ellipses = 0;
  for (const Index& item : items) {
    taken += dims_taken(item);
    ellipses += item.kind == Index::Kind::ellipsis;
  }
  check(ellipses <= 1, "an index has one ellipsis at most");
  check(taken <= x->dim(), "the items stand for ", taken, " dimensions, and x is ", x->shape());

  const int64_t rank = x->dim();
  const std::source_location line = x.line();
  Tensor y = x;
  std::vector<Picked> picked;
  int64_t dim = 0;
  const auto take_position = [&](int64_t position) {
    const int64_t size = y.shape()[dim];
    check(-size <= position && position < size, "position ", position, " is out of range for dimension ", dim,
          " of ", y.shape());
    y = select({y, line}, dim, position);
  };
  for (const Index& item : items) switch (item.kind) {
      case Index::Kind::position:
        take_position(item.position);
        break;
      case Index::Kind::slice: {
        const Slice& range = item.range;
        if (range.start || range.end || range.step != 1)
          y = slice({y, line}, dim, range.start.value_or(0), range.end.value_or(y.shape()[dim]), range.step);
        ++dim;
        break;
      }
      case Index::Kind::ellipsis:
        dim += rank - taken;
        break;
      case Index::Kind::new_axis:
        y = unsqueeze({y, line}, dim++);
        break;
      case Index::Kind::tensor:
        check(item.tensor.dtype() == int64 || item.tensor.dtype() == boolean,
              "an index tensor must hold int64 positions or bools, and this is ", item.tensor.dtype(), " ",
              item.tensor.shape());
        if (item.tensor.dtype() == boolean) {
          if (item.tensor.dim() == 0) y = unsqueeze({y, line}, dim);  // a scalar mask picks from a new axis
          picked.push_back(picked_by(item.tensor.dim() ? item.tensor : reshape(item.tensor, {1}), dim, y));
          dim += picked.back().count;
        } else if (item.tensor.dim() == 0) {
          take_position(item.tensor.item<int64_t>());
        } else {
          picked.push_back({dim, 1, y.shape()[dim], wrapped(item.tensor, dim, y)});
          ++dim;
        }
    }
  return picked.empty() ? y : pick({y, line}, picked);
}

Tensor Tensor::operator[](const Index& item) const { return index({*this, item.line}, {item}); }
Tensor Tensor::operator[](std::initializer_list<Index> items) const {
  return items.size() ? index({*this, items.begin()->line}, items) : *this;
}

// y[..., :] = weight[index[...], :];  dweight[n, :] = sum of g where index is n
Tensor embedding(Operand weight, Operand index, std::optional<int64_t> padding_idx) {
  const Calling here("embedding", weight.line());
  check_indices(index);
  check(weight->dim() == 2, "weight is ", weight->shape(), "; it must be [N, E]");
  const int64_t n = weight->shape()[0], e = weight->shape()[1];
  check(!padding_idx || (-n <= *padding_idx && *padding_idx < n), "padding_idx ", padding_idx.value_or(0),
        " is out of range for weight ", weight->shape());
  if (padding_idx && *padding_idx < 0) *padding_idx += n;
  const Tensor flat = reshape(index, {index->numel()});
  Shape shape = index->shape();
  shape.push_back(e);
  const Tensor rows = kernel::index_select(weight, 0, flat);
  return record("embedding", rows.view_as(shape, contiguous_strides(shape), 0),
                {{weight, [n, e, padding_idx, i = save(flat)](const Tensor& g) {
                    Tensor flat_g = reshape(g, {i().numel(), e});
                    if (padding_idx) flat_g = where(unsqueeze(i() == *padding_idx, 1), 0, flat_g);
                    return index_add(flat_g, 0, n, i);
                  }}});
}

Tensor one_hot(Operand index, int64_t num_classes) {
  const Calling here("one_hot", index.line());
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

// The places are found first; the values are gathered from them, and so is the gradient.
ValuesIndices topk(Operand x, int64_t k, int64_t dim, bool largest) {
  const Calling here("topk", x.line());
  if (x->dim() == 0) {
    const auto [values, indices] = topk(reshape(x, {1}), k, dim, largest);
    return {reshape(values, {}), reshape(indices, {})};
  }
  dim = check_dim(x, dim);
  check(0 <= k && k <= x->shape()[dim], "k is ", k, ", and x ", x->shape(), " has ", x->shape()[dim],
        " elements along dimension ", dim);
  const Tensor places = kernel::order(x, dim, k, largest);
  return {gather(x, dim, places), places};
}

ValuesIndices sort(Operand x, int64_t dim, bool descending) {
  const Calling here("sort", x.line());
  return topk(x, x->dim() ? x->size(dim) : 1, dim, descending);
}

Tensor argsort(Operand x, int64_t dim, bool descending) {
  const Calling here("argsort", x.line());
  return sort(x.tensor().detach(), dim, descending).indices;
}

}  // namespace heed
