#include "tensor/tensor.h"

#include "tests/support/compile.h"
#include "tests/support/expect.h"

constexpr int64_t kLarge = int64_t{1} << 40;

TEST_CASE("a tensor has a shape, strides, a dtype and storage") {
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0}, Shape{2, 0, 3},
                             Shape{1, 2, 1, 2, 1, 2, 1, 2}, Shape{0, kLarge, kLarge}})
    for (const DType dtype : {float32, float64, int64, boolean}) {
      const Tensor x = Tensor::empty(shape, dtype);
      CHECK(x.defined());
      CHECK(x.shape() == shape);
      CHECK(x.strides() == contiguous_strides(shape));
      CHECK(x.dtype() == dtype);
      CHECK(x.dim() == shape.dim());
      CHECK(x.numel() == numel(shape));
      CHECK(x.is_contiguous());
      CHECK(TensorImpl::unique(x));
      CHECK(reinterpret_cast<uintptr_t>(TensorImpl::of(x).storage->data) % 64 == 0);
      CHECK(x.detach().is_contiguous());
      CHECK(zeros(shape, dtype).to_vector<double>().size() == static_cast<size_t>(numel(shape)));
    }
  const Tensor x = Tensor::empty({2, 3});
  CHECK(x.size(0) == 2);
  CHECK(x.size(-1) == 3);
  CHECK_ERROR(x.size(2), "size: dim 2 is out of range for a tensor of rank 2: use -2 to 1");
}

TEST_CASE("copies are the same tensor, views share memory") {
  const Tensor x = counted({2, 3}), name = x;
  CHECK(name.same_as(x));
  CHECK_FALSE(TensorImpl::unique(x));
  const Tensor row = TensorImpl::view(x, {3}, {1}, 3), column = TensorImpl::view(x, {2}, {3}, 1);
  CHECK_FALSE(row.same_as(x));
  CHECK(values(row) == Values{3, 4, 5});
  CHECK(values(column) == Values{1, 4});
  row.mutable_data<float>()[1] = 9;
  CHECK(values(x) == Values{0, 1, 2, 3, 9, 5});
  const Tensor detached = x.detach();
  CHECK_FALSE(detached.same_as(x));
  CHECK(detached.data<float>() == x.data<float>());
  Tensor alone = counted({2});
  CHECK(TensorImpl::unique(alone));
  const Tensor view = alone.detach();
  CHECK_FALSE(TensorImpl::unique(alone));  // the handle is the only one, but the storage is shared
}

TEST_CASE("is_contiguous") {
  const Tensor x = counted({4, 6});
  const auto contiguous = [&](const Shape& shape, const Strides& strides) {
    return TensorImpl::view(x, shape, strides).is_contiguous();
  };
  CHECK(contiguous({4, 6}, {6, 1}));
  CHECK(contiguous({24}, {1}));
  CHECK(contiguous({}, {}));
  CHECK(contiguous({1}, {17}));  // the stride of a single element is never used
  CHECK(contiguous({4, 1, 6}, {6, 3, 1}));
  CHECK(contiguous({0, 6}, {1, 4}));  // nor are those of an empty tensor
  CHECK(contiguous({3, 6}, {6, 1}));
  CHECK_FALSE(contiguous({6, 4}, {1, 6}));
  CHECK_FALSE(contiguous({4, 3}, {6, 1}));
  CHECK_FALSE(contiguous({4, 3}, {6, 2}));
  CHECK_FALSE(contiguous({4}, {0}));
}

TEST_CASE("elements are visited in row-major order for any strides") {
  const Tensor x = counted({2, 3});
  CHECK(values(TensorImpl::view(x, {3, 2}, {1, 3})) == Values{0, 3, 1, 4, 2, 5});
  CHECK(values(TensorImpl::view(x, {2, 2}, {3, 2})) == Values{0, 2, 3, 5});
  CHECK(values(TensorImpl::view(x, {2, 2}, {0, 1}, 4)) == Values{4, 5, 4, 5});
  CHECK(values(TensorImpl::view(x, {}, {}, 5)) == Values{5});
  CHECK(values(TensorImpl::view(x, {0, 3}, {3, 1})).empty());
  CHECK(values(TensorImpl::view(x, {1, 1, 1, 1, 1, 3, 2}, {0, 0, 0, 0, 0, 1, 3})) ==
        Values{0, 3, 1, 4, 2, 5});
  std::vector<int64_t> offsets;
  for_each_offset({2, 2}, {1, 10}, [&](int64_t offset) { offsets.push_back(offset); });
  CHECK(offsets == std::vector<int64_t>{0, 10, 1, 11});
}

TEST_CASE("values are read in the element's type or converted") {
  const Tensor x = counted({2}, int64);
  CHECK(x.data<int64_t>()[1] == 1);
  CHECK(values(x) == Values{0, 1});
  CHECK(tensor(2.75).item() == 2.75);
  CHECK(tensor({{2.75}}).item<int>() == 2);
  CHECK(tensor({true}, boolean).item<bool>());
  CHECK(from_vector(std::vector<int64_t>{(int64_t{1} << 60) + 1}, {}).item<int64_t>() ==
        (int64_t{1} << 60) + 1);
  CHECK_ERROR(zeros({0}).item(), "item: x is [0] with 0 elements, not one; index it, or sum(x)");
}

TEST_CASE("an undefined tensor throws") {
  const Tensor none;
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  const std::string text =
      "a tensor that is needed here is undefined: default-constructed, moved from, or a plain number was "
      "given";
  CHECK_ERROR(none.shape(), text);
  CHECK_ERROR(none.data<float>(), text);
  CHECK_ERROR(none.item(), "item: " + text);
  CHECK_ERROR(none.detach(), text);
  Tensor x = zeros({1});
  const Tensor moved = std::move(x);
  CHECK_FALSE(x.defined());  // NOLINT: tests the moved-from tensor
  CHECK(moved.defined());
}

TEST_CASE("invalid sizes throw before memory is allocated") {
  CHECK_ERROR(Tensor::empty({3, -2}), "shape [3, -2]: a size is negative");
  CHECK_ERROR_HAS(Tensor::empty({kLarge, kLarge}), "too many elements");
  CHECK_ERROR(Tensor::empty({kLarge, 1 << 22}),
              "a tensor of shape [1099511627776, 4194304] and dtype float32 does not fit into memory");
  CHECK_ERROR_HAS(Tensor::empty({int64_t{1} << 46}, float64), "does not fit into memory");
}
