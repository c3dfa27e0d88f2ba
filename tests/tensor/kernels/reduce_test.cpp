#include "tensor/kernels/reduce.h"

#include "tensor/kernels/outer_inner.h"
#include "tests/support/references.h"

static Tensor random(const Shape& shape, DType dtype) {
  Generator generator(6);
  if (dtype == int64) return randint(-3, 4, shape, &generator);
  return rand(shape, dtype, &generator) * 2 - 0.9;
}

// The other reductions use these three.
static void check_reductions(const Tensor& x, const Shape& dims) {
  INFO(to_string(x.shape()), " of ", to_string(x.strides()), " over ", to_string(dims), " ",
       to_string(x.dtype()));
  const auto reduced = [&](bool keepdim) {
    return Tensors{kernel::sum(x, dims, keepdim), kernel::amax(x, dims, keepdim),
                   kernel::amin(x, dims, keepdim)};
  };
  for (const bool keepdim : {false, true})
    CHECK(from_plain([&] { return reduced(keepdim); }) < (x.dtype() == float32 ? 1e-5 : 1e-12));
  CHECK(kernel::sum(x, dims, false).is_contiguous());
}

TEST_CASE("reductions over every choice of dimensions, for any strides") {
  for (const DType dtype : {float32, float64, int64}) {
    for (const Tensor& x :
         {random({3, 4, 5}, dtype), permute(random({5, 3, 4}, dtype), {1, 2, 0}),
          permute(random({4, 5, 3}, dtype), {2, 0, 1}), slice(random({3, 4, 11}, dtype), 2, 1, 11, 2),
          expand(random({4, 1}, dtype), {3, 4, 5}), random({1, 4, 1}, dtype)})
      for (const Shape& dims :
           {Shape{}, Shape{0}, Shape{1}, Shape{2}, Shape{0, 1}, Shape{0, 2}, Shape{1, 2}, Shape{0, 1, 2}})
        check_reductions(x, dims);
    check_reductions(random({}, dtype), {});
  }
}

TEST_CASE("reductions: sizes around blocks, runs and groups of lines") {
  constexpr int64_t block = kernel::kBlock;
  const auto numbers = [](const Shape& shape) { return random(shape, float64); };
  for (const Shape& shape :
       {Shape{block - 1}, Shape{block}, Shape{block + 1}, Shape{2 * block + 1}, Shape{3, block + 1},
        Shape{block + 1, 3}, Shape{129, 513}, Shape{700, 511}, Shape{2, 7, 512}, Shape{2, 9, 513}})
    for (int64_t dim = 0; dim < shape.dim(); ++dim) check_reductions(numbers(shape), {dim});
  check_reductions(transpose(numbers({600, 70})), {0});
  check_reductions(transpose(numbers({600, 70})), {1});
  check_reductions(permute(numbers({2, 300, 120}), {0, 2, 1}), {0, 2});
  check_reductions(permute(numbers({2, block + 5, 3}), {0, 2, 1}), {0, 2});
}

TEST_CASE("reductions of no elements") {
  const Tensor x = zeros({2, 0});
  const auto pair = [](double value) { return full({2}, value); };
  CHECK(
      distance({kernel::sum(x, {1}, false), kernel::mean(x, {1}, false), kernel::amax(x, {1}, false),
                kernel::amin(x, {1}, false), kernel::logsumexp(x, {1}, false), kernel::var(x, {1}, 1, false),
                kernel::sum(x, {0}, false), kernel::cumsum(x, 1), kernel::max(x, 0, false).values},
               {pair(0), pair(kNaN), pair(-kInf), pair(kInf), pair(-kInf), pair(0), zeros({0}), x,
                zeros({0})}) == 0);
}

TEST_CASE("int64 and bool are summed in int64") {
  const Tensor mask = tensor({{true, false, true}, {true, true, true}}, boolean);
  CHECK(kernel::sum(mask, {1}, false).dtype() == int64);
  CHECK(values(kernel::cumsum(mask, 1)) == Values{1, 1, 2, 1, 2, 3});
  CHECK(kernel::amax(mask, {0}, false).dtype() == boolean);
  CHECK(values(kernel::amin(mask, {0}, false)) == Values{1, 0, 1});
  const int64_t large = (int64_t{1} << 60) + 1;
  CHECK(kernel::sum(from_vector(std::vector<int64_t>{large, 1}, {2}), {0}, false).item<int64_t>() ==
        large + 1);
  CHECK(message([] { kernel::mean(ones({2}, int64), {0}, false); }).find("expected a floating tensor") == 0);
}

TEST_CASE("long float32 sums are accurate to float32 precision") {
  constexpr int64_t n = 10'000'000;
  const Tensor x = full({n}, 0.1);
  const double exact = 0.1f * double(n);
  CHECK(std::fabs(kernel::sum(x, {0}, false).item() - exact) < 1e-6 * exact);
  for (const double v : values(kernel::sum(reshape(x, {n / 10, 10}), {0}, false)))
    CHECK(std::fabs(v - exact / 10) < 1e-7 * exact);
  CHECK(kernel::var(full({100000}, 1000.1), {0}, 1e5, false).item() <
        1e-6);  // no cancellation of large squares
  CHECK(kernel::cumsum(ones({(1 << 24) + 4}), 0).data<float>()[(1 << 24) + 3] == (1 << 24) + 4);
}

TEST_CASE("reductions: infinities and NaN") {
  const Tensor x = tensor({{1, kNaN, 3}, {kInf, 1, -kInf}, {-kInf, -kInf, -kInf}, {kInf, kInf, 0}});
  CHECK(distance({kernel::amax(x, {1}, false), kernel::amin(x, {1}, false), kernel::logsumexp(x, {1}, false),
                  kernel::sum(x, {1}, false)},
                 {tensor({kNaN, kInf, -kInf, kInf}), tensor({kNaN, -kInf, -kInf, 0}),
                  tensor({kNaN, kInf, -kInf, kInf}), tensor({kNaN, kNaN, -kInf, kInf})}) == 0);
  CHECK(kernel::logsumexp(tensor({1000, 1000}), {0}, false).item() == doctest::Approx(1000 + std::log(2)));
  // NaN is the extremum at any position in a line of any length.
  for (const int64_t n : {5, 16, 64, 200})
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      const Tensor line = zeros({n, 3});
      line.mutable_data<float>()[at * 3 + 1] = static_cast<float>(kNaN);
      CHECK(distance({kernel::amax(line, {0}, false), kernel::amin(transpose(line), {1}, false),
                      kernel::amax(line, {0, 1}, false)},
                     {tensor({0, kNaN, 0}), tensor({0, kNaN, 0}), full({}, kNaN)}) == 0);
    }
}

TEST_CASE("max and min return the first position of the extremum") {
  const Tensor x = tensor({{3, 1, 3, 1}, {-1, kNaN, 7, kNaN}, {-kInf, -kInf, -kInf, -kInf}});
  const kernel::MaxResult high = kernel::max(x, 1, false), low = kernel::min(x, 1, true);
  CHECK(distance({high.values, high.indices}, {tensor({3, kNaN, -kInf}), tensor({0, 1, 0})}) == 0);
  CHECK(distance({low.values, low.indices}, {tensor({{1}, {kNaN}, {-kInf}}), tensor({{1}, {1}, {0}})}) == 0);
  const Tensor wide = random({9, 600}, float32);  // more lines than are processed together
  const kernel::MaxResult found = kernel::max(wide, 0, false);
  CHECK(values(found.values) == values(kernel::amax(wide, {0}, false)));
  CHECK(values(gather(wide, 0, unsqueeze(found.indices, 0))) == values(found.values));
}

TEST_CASE("cumsum, forward and reverse: differences of neighbors are the inputs") {
  for (const Shape& shape :
       {Shape{4, 5, 6}, Shape{7}, Shape{3, 2, kernel::kWidth - 1}, Shape{2, 3, kernel::kWidth},
        Shape{2, 2, 2 * kernel::kWidth + 1}, Shape{300, 400}})
    for (int64_t dim = 0; dim < shape.dim(); ++dim)
      for (const bool reverse : {false, true}) {
        const Tensor x = random(shape, int64), y = kernel::cumsum(x, dim, reverse);
        const Tensor end = narrow(y, dim, reverse ? shape[dim] - 1 : 0, 1),
                     rest = narrow(y, dim, 0, shape[dim] - 1);
        const Tensor steps = narrow(y, dim, 1, shape[dim] - 1) - rest;
        CHECK(values(reverse ? cat({-steps, end}, dim) : cat({end, steps}, dim)) == values(x));
      }
  CHECK(values(kernel::cumsum(transpose(tensor({{1, 2, 3}, {4, 5, 6}})), 0)) == Values{1, 4, 3, 9, 6, 15});
}
