#include "tensor/kernels/elementwise.h"

#include "autograd/ops/activation.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/rounding.h"
#include "autograd/ops/scan.h"
#include "tensor/kernels/loop.h"
#include "tests/support/references.h"

namespace {

// Random tensors with many strides, and for float32 also with sizes around a block.
Tensors operands(DType dtype, double low, double high) {
  Generator generator(3);
  const auto random = [&](const Shape& shape) {
    const Tensor unit = rand(shape, float64, &generator);
    return to(low + (high - low) * unit, dtype);
  };
  Tensors made = {random({}),
                  random({7}),
                  random({2, 3, 5}),
                  random({0, 4}),
                  random({1, 1, 1, 1, 1, 2, 3}),
                  transpose(random({37, 41})),
                  permute(random({2, 3, 4}), {2, 0, 1}),
                  slice(random({3, 20}), 1, 1, 20, 3),
                  select(random({4, 5}), 1, 2),
                  expand(random({3, 1}), {2, 3, 4}),
                  expand(random({}), {5})};
  if (dtype == float32) {
    for (const int64_t n : {kernel::kBlock - 1, kernel::kBlock, kernel::kBlock + 1})
      made.push_back(random({n}));
    made.push_back(slice(random({2 * kernel::kBlock + 2}), 0, 1, 2 * kernel::kBlock + 2, 2));
  }
  return made;
}

bool new_and_contiguous(const Tensor& y, const Shape& shape, DType dtype) {
  return TensorImpl::unique(y) && y.is_contiguous() && y.shape() == shape && y.dtype() == dtype;
}

struct Map {
  std::string name;
  std::function<Tensor(const Tensor&)> call;
  double low, high;
  bool of_integers = false;
};

const Map maps[] = {
    {"exp", heed::exp, -3, 3},
    {"expm1", heed::expm1, -3, 3},
    {"log", heed::log, -1, 5},
    {"log1p", heed::log1p, -2, 5},
    {"sqrt", heed::sqrt, -1, 5},
    {"rsqrt", heed::rsqrt, -1, 5},
    {"reciprocal", heed::reciprocal, -4, 4},
    {"sin", heed::sin, -9, 9},
    {"cos", heed::cos, -9, 9},
    {"tanh", heed::tanh, -4, 4},
    {"sigmoid", heed::sigmoid, -9, 9},
    {"erf", heed::erf, -3, 3},
    {"silu", heed::silu, -9, 9},
    {"gelu", [](auto& x) { return gelu(x); }, -4, 4},
    {"gelu_tanh", [](auto& x) { return gelu(x, Gelu::tanh); }, -4, 4},
    {"leaky_relu", [](auto& x) { return heed::leaky_relu(x, 0.25); }, -3, 3},
    {"elu", [](auto& x) { return heed::elu(x, 0.5); }, -3, 3},
    {"softplus", [](auto& x) { return heed::softplus(x, 2, 3); }, -3, 3},
    {"abs", heed::abs, -9, 9, true},
    {"neg", heed::neg, -9, 9, true},
    {"square", heed::square, -9, 9, true},
    {"sign", heed::sign, -3, 3, true},
    {"floor", heed::floor, -9, 9, true},
    {"relu", heed::relu, -9, 9, true},
    {"clamp", [](auto& x) { return heed::clamp(x, -2, 3); }, -9, 9, true},
    {"clamp below", [](auto& x) { return heed::clamp(x, {}, 3); }, -9, 9, true},
    {"clone", kernel::clone, -9, 9, true},
    {"isnan", heed::isnan, -1, 1, true},
    {"isfinite", heed::isfinite, -1, 1, true},
    {"logical_not", heed::logical_not, -1, 1, true},
};

struct Zip {
  std::string name;
  std::function<Tensor(const Tensor&, const Tensor&)> call;
  bool of_integers = true;
};

const Zip zips[] = {
    {"add", [](auto& a, auto& b) { return heed::add(a, b); }},
    {"add 3", [](auto& a, auto& b) { return heed::add(a, b, 3); }},
    {"sub", [](auto& a, auto& b) { return heed::sub(a, b); }},
    {"sub 3", [](auto& a, auto& b) { return heed::sub(a, b, 3); }},
    {"mul", kernel::mul},
    {"div", [](auto& a, auto& b) { return a / b; }, false},
    {"pow", [](auto& a, auto& b) { return heed::pow(heed::abs(a), b); }, false},
    {"maximum", heed::maximum},
    {"minimum", heed::minimum},
    {"eq", heed::eq},
    {"ne", heed::ne},
    {"lt", heed::lt},
    {"le", heed::le},
};

// The result must be a new tensor and equal the plain loop and, within rounding, the float64 result.
void check_elements(const std::string& name, const Call& call, const Tensors& in) {
  Shape shape;
  for (const Tensor& x : in) shape = broadcast_shapes(shape, x.shape());
  const DType dtype = in[0].dtype();
  INFO(name, " of ", to_string(in[0].shape()), " to ", to_string(shape), " ", to_string(dtype));
  const bool logical = call(Tensors(in.size(), ones({}))).dtype() == boolean;
  CHECK(new_and_contiguous(call(in), shape, logical ? boolean : dtype));
  Tensors exact;
  for (const Tensor& x : in) exact.push_back(to(x, float64));
  const double tolerance = dtype == float32 ? 2e-6 : 4e-15;
  CHECK(distance({call(in)}, {call(exact)}) <= tolerance);
  CHECK(from_plain([&] { return Tensors{call(in)}; }) <= tolerance);
}

}  // namespace

TEST_CASE("maps and zips compute one element at a time, for any strides and broadcasting") {
  for (const DType dtype : {float32, float64, int64}) {
    for (const Map& map : maps) {
      if (dtype == int64 && !map.of_integers) continue;
      for (const Tensor& x : operands(dtype, map.low, map.high))
        check_elements(map.name, [&](auto& in) { return map.call(in[0]); }, {x});
    }
    const Tensors as = operands(dtype, -3, 3), bs = operands(dtype, -2, 4);
    std::vector<Tensors> pairs = {{as[1], unsqueeze(bs[1], 1)},
                                  {unsqueeze(bs[1], 1), as[1]}};  // [7] and [7, 1]
    for (size_t i = 0; i < as.size(); ++i)
      pairs.insert(pairs.end(), {{as[i], bs[i]}, {as[i], bs[0]}, {bs[0], as[i]}});  // the first is a scalar
    for (const Zip& zip : zips) {
      if (dtype == int64 && !zip.of_integers) continue;
      for (const Tensors& pair : pairs)
        check_elements(
            zip.name, [&](auto& in) { return zip.call(in[0], in[1]); }, pair);
    }
  }
}

// edges_test.cpp tests functions of one number.
TEST_CASE("elementwise operations: infinities and NaN") {
  const Tensor a = tensor({kNaN, 1, kInf, -kInf, kNaN, 0, -0.0}), b = tensor({1, kNaN, 1, 1, kNaN, -0.0, 0});
  const auto same = [](const Tensor& got, const Values& want) {
    return largest_difference(values(got), want) < 1e-6;
  };
  CHECK(same(heed::maximum(a, b), {kNaN, kNaN, kInf, 1, kNaN, 0, 0}));
  CHECK(same(heed::minimum(a, b), {kNaN, kNaN, 1, -kInf, kNaN, 0, 0}));
  CHECK(same(heed::eq(a, b), {0, 0, 0, 0, 0, 1, 1}));
  CHECK(same(heed::ne(a, b), {1, 1, 1, 1, 1, 0, 0}));
  CHECK(same(heed::lt(a, b), {0, 0, 0, 1, 0, 0, 0}));
  CHECK(same(heed::le(a, b), {0, 0, 0, 1, 0, 1, 1}));
  CHECK(same(heed::isnan(a), {1, 0, 0, 0, 1, 0, 0}));
  CHECK(same(heed::isfinite(a), {0, 1, 0, 0, 0, 1, 1}));
  CHECK(same(heed::clamp(a, -1, 1), {kNaN, 1, 1, -1, kNaN, 0, 0}));
  CHECK(same(heed::clamp(a, {}, 0.5), {kNaN, 0.5, 0.5, -kInf, kNaN, 0, 0}));
}

TEST_CASE("casts between all dtypes") {
  const Tensor x = tensor({{0, 1, -2.75}, {2.5, 100, 0}}, float64);
  for (const DType from : {float32, float64, int64, boolean})
    for (const DType to_dtype : {float32, float64, int64, boolean}) {
      const Tensor source = transpose(kernel::cast(x, from));
      Values want = values(source);
      for (double& v : want) v = to_dtype == boolean ? v != 0 : to_dtype == int64 ? std::trunc(v) : v;
      const Tensor y = kernel::cast(source, to_dtype);
      CHECK(new_and_contiguous(y, {3, 2}, to_dtype));
      CHECK(values(y) == want);
    }
  CHECK(values(kernel::cast(x, boolean)) == Values{0, 1, 1, 1, 1, 0});
}

TEST_CASE("contiguous copies strided tensors only") {
  const Tensor x = ones({2, 3});
  CHECK(kernel::contiguous(x).same_as(x));
  CHECK_FALSE(share_memory(kernel::clone(x), x));
  CHECK(kernel::contiguous(transpose(x)).is_contiguous());
}

TEST_CASE("writes into tensors of any strides") {
  for (const DType dtype : {float32, float64, int64}) {
    const auto updated = [&](const auto& update) {
      const Tensor whole_tensor = to(reshape(arange(1, 13), {3, 4}), dtype);
      update(transpose(slice(whole_tensor, 1, 0, 4, 2)));  // [[1, 5, 9], [3, 7, 11]]
      return values(whole_tensor);
    };
    const Tensor row = to(tensor({2, 4, 8}), dtype);
    CHECK(updated([&](const Tensor& x) { kernel::add_into(x, row); }) ==
          Values{3, 2, 5, 4, 9, 6, 11, 8, 17, 10, 19, 12});
    CHECK(updated([&](const Tensor& x) { kernel::mul_into(x, row); }) ==
          Values{2, 2, 6, 4, 20, 6, 28, 8, 72, 10, 88, 12});
    CHECK(updated([&](const Tensor& x) { kernel::fill(x, 7); }) ==
          Values{7, 2, 7, 4, 7, 6, 7, 8, 7, 10, 7, 12});
    CHECK(updated([&](const Tensor& x) {
            kernel::copy_into(x, tensor({0, 1, 0}, boolean));
          }) == Values{0, 2, 0, 4, 1, 6, 1, 8, 0, 10, 0, 12});
  }
}

TEST_CASE("where broadcasts; bools can be compared") {
  const Tensor condition = tensor({{true}, {false}}, boolean);
  CHECK(values(kernel::where(condition, tensor({1, 2, 3}), tensor(kInf))) ==
        Values{1, 2, 3, kInf, kInf, kInf});
  CHECK(values(kernel::where(condition, tensor({1}, int64), tensor({2}, int64))) == Values{1, 2});
  CHECK(values(heed::eq(tensor({0, 1}, boolean), tensor({1, 1}, boolean))) == Values{0, 1});
}

TEST_CASE("integers beyond 2^53 stay exact") {
  const int64_t large = (int64_t{1} << 60) + 1;
  const Tensor x = from_vector(std::vector<int64_t>{large, -large}, {2}), one = ones({}, int64);
  CHECK(kernel::add(x, one).to_vector<int64_t>() == std::vector<int64_t>{large + 1, 1 - large});
  CHECK(heed::add(x, one, 3).to_vector<int64_t>() == std::vector<int64_t>{large + 3, 3 - large});
  CHECK(heed::maximum(x, heed::neg(x)).to_vector<int64_t>() == std::vector<int64_t>{large, large});
  CHECK(heed::floor(x).to_vector<int64_t>() == std::vector<int64_t>{large, -large});
}

TEST_CASE("kernels name operands that they do not accept") {
  CHECK_ERROR_HAS(heed::exp(ones({2}, int64)),
                  "exp: x is int64 [2]; this operation is for float32 and float64");
  CHECK_ERROR_HAS(kernel::add(ones({2}, boolean), ones({2}, boolean)), "expected numbers");
  CHECK_ERROR_HAS(kernel::mul(ones({2}), ones({3})), "a is [2], b is [3]: they do not broadcast");
}

TEST_CASE("sums and products of int64 wrap around") {
  using Whole = std::vector<int64_t>;
  const Tensor x = from_vector(Whole{INT64_MAX, INT64_MIN}, {2}), y = from_vector(Whole{INT64_MAX, 2}, {2});
  CHECK((x + 1).to_vector<int64_t>() == Whole{INT64_MIN, INT64_MIN + 1});
  CHECK((x - 1).to_vector<int64_t>() == Whole{INT64_MAX - 1, INT64_MAX});
  CHECK(sub(x, x, 2).to_vector<int64_t>() == Whole{-INT64_MAX, INT64_MIN});
  CHECK((x * 2).to_vector<int64_t>() == Whole{-2, 0});
  CHECK(square(x).to_vector<int64_t>() == Whole{1, 0});
  CHECK((-x).to_vector<int64_t>() == Whole{-INT64_MAX, INT64_MIN});
  CHECK(sum(y).item<int64_t>() == INT64_MIN + 1);
  CHECK(prod(y).item<int64_t>() == -2);
  CHECK(cumsum(y, 0).to_vector<int64_t>() == Whole{INT64_MAX, INT64_MIN + 1});
}
