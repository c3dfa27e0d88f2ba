#include "autograd/ops/sort.h"
#include "nn/functional.h"
#include "tests/nn/onnx/one_node.h"

namespace {

Tensor first(const std::string& op, const std::vector<Tensor>& inputs,
             const std::vector<onnx::Attribute>& attributes = {}) {
  return run_node(op, inputs, attributes)[0];
}
// Checks dtype, shape and values.
void same(const Tensor& y, const Tensor& expected) {
  CHECK(y.dtype() == expected.dtype());
  REQUIRE(y.shape() == expected.shape());
  CHECK(largest_difference(to(y, float64), to(expected, float64)) < 1e-5);
}
Tensor list(const std::vector<int64_t>& x) { return from_vector(x, {std::ssize(x)}); }

const Tensor kMatrix = counted({2, 3});  // 0 to 5

}  // namespace

TEST_CASE("onnx: constants") {
  same(first("Constant", {}, {attribute("value", kMatrix)}), kMatrix);
  same(first("Constant", {}, {attribute("value_int", int64_t{3})}), tensor(3, int64));
  same(first("Constant", {}, {attribute("value_ints", {3, 4})}), list({3, 4}));
  same(first("Constant", {}, {attribute("value_float", 0.5F)}), tensor(0.5));
  same(first("Constant", {},
             {{.name = "value_floats", .type = onnx::AttributeType::floats, .floats = {1, 2}}}),
       tensor({1, 2}));
  same(first("ConstantOfShape", {list({2, 1})}), zeros({2, 1}));
  same(first("ConstantOfShape", {list({2})}, {attribute("value", tensor({7}, int64))}), list({7, 7}));
  same(first("Range", {tensor(1, int64), tensor(6, int64), tensor(2, int64)}), list({1, 3, 5}));
  same(first("Range", {tensor(1), tensor(0.1), tensor(-0.5)}), tensor({1, 0.5}));
  same(first("Range", {tensor(1, int64), tensor(1, int64), tensor(2, int64)}), zeros({0}, int64));
  CHECK_THROWS_AS(first("Range", {tensor(1), tensor(2), tensor(0)}), Error);
  same(first("OneHot", {list({1, -1}), tensor(3, int64), tensor({0, 5})}), tensor({{0, 5, 0}, {0, 0, 5}}));
}

TEST_CASE("onnx: shapes") {
  const Tensor x = counted({2, 3, 4});
  same(first("Shape", {x}), list({2, 3, 4}));
  same(first("Shape", {x}, {attribute("start", int64_t{-2}), attribute("end", int64_t{-1})}), list({3}));
  same(first("Size", {x}), tensor(24, int64));
  same(first("Reshape", {x, list({0, -1})}), reshape(x, {2, 12}));
  CHECK_THROWS_AS(first("Reshape", {x, list({0, -1})}, {attribute("allowzero", int64_t{1})}), Error);
  same(first("Flatten", {x}, {attribute("axis", int64_t{2})}), reshape(x, {6, 4}));
  same(first("Flatten", {x}, {attribute("axis", int64_t{0})}), reshape(x, {1, 24}));
  same(first("Unsqueeze", {x, list({-1, 0})}), reshape(x, {1, 2, 3, 4, 1}));
  same(first("Squeeze", {counted({1, 2, 1}), list({0})}), counted({2, 1}));
  same(first("Squeeze", {counted({1, 2, 1})}), counted({2}));
  CHECK(contains(message([&] {
                   first("Squeeze", {x, list({1})});
                 }),
                 "[2, 3, 4] has not the size 1 on axis 1"));
  same(first("Transpose", {x}), permute(x, {2, 1, 0}));
  same(first("Transpose", {x}, {attribute("perm", {1, 0, 2})}), transpose(x, 0, 1));
  same(first("Expand", {tensor({{1}, {2}}), list({1, 2})}), tensor({{1, 1}, {2, 2}}));
  same(first("Tile", {tensor({{1, 2}}), list({2, 1})}), tensor({{1, 2}, {1, 2}}));
}

TEST_CASE("onnx: parts of tensors") {
  const Tensor x = counted({5, 4});
  const auto sliced = [&](int64_t start, int64_t end, int64_t step) {
    return first("Slice", {x, list({start}), list({end}), list({0}), list({step})});
  };
  same(sliced(1, INT64_MAX, 2), slice(x, 0, 1, 5, 2));
  same(sliced(-1, INT64_MIN, -1), flip(x, {0}));
  same(sliced(3, 0, -2), index_select(x, 0, list({3, 1})));
  same(sliced(10, -3, -1), index_select(x, 0, list({4, 3})));
  same(sliced(0, 9, INT64_MAX), slice(x, 0, 0, 1));
  same(sliced(4, -9, INT64_MIN), slice(x, 0, 4, 5));
  CHECK(contains(message([&] { sliced(0, 1, 0); }), "a step is 0"));
  same(first("Slice", {x, list({1, 1}), list({3, -1})}), narrow(narrow(x, 0, 1, 2), 1, 1, 2));
  CHECK_THROWS_AS(first("Slice", {x, list({1, 1}), list({3})}), Error);

  same(run_node("Split", {x}, {attribute("axis", int64_t{0})}, 2)[1], narrow(x, 0, 3, 2));
  same(run_node("Split", {x, list({1, 4})}, {}, 2)[1], narrow(x, 0, 1, 4));
  CHECK_THROWS_AS(run_node("Split", {x}, {attribute("num_outputs", int64_t{3})}, 2), Error);
  CHECK_THROWS_AS(run_node("Split", {x, list({1, 1, 3})}, {}, 2), Error);
  same(first("Concat", {x, x}, {attribute("axis", int64_t{-1})}), cat({x, x}, 1));
  same(first("Pad", {kMatrix, list({1, 0, 0, 2}), tensor(9)}), pad(kMatrix, {0, 2, 1, 0}, 9));
  same(first("Pad", {kMatrix, list({1, 1}), Tensor(), list({-1})}), pad(kMatrix, {1, 1}));
  CHECK_THROWS_AS(first("Pad", {kMatrix, list({1})}), Error);
  same(first("Trilu", {x}), triu(x));
  same(first("Trilu", {x, tensor(-1, int64)}, {attribute("upper", int64_t{0})}), tril(x, -1));
}

TEST_CASE("onnx: indices") {
  const Tensor index = tensor({{0, -1}}, int64);
  same(first("Gather", {kMatrix, index}, {attribute("axis", int64_t{1})}), tensor({{{0, 2}}, {{3, 5}}}));
  same(first("Gather", {kMatrix, tensor(-1, int64)}), tensor({3, 4, 5}));
  CHECK_THROWS_AS(first("Gather", {kMatrix, tensor(2, int64)}), Error);
  same(first("GatherElements", {kMatrix, index}, {attribute("axis", int64_t{1})}), tensor({{0, 2}}));
  const Tensor updates = tensor({{10, 20}});
  same(first("ScatterElements", {kMatrix, index, updates}, {attribute("axis", int64_t{1})}),
       tensor({{10, 1, 20}, {3, 4, 5}}));
  same(first("ScatterElements", {kMatrix, index, updates},
             {attribute("axis", int64_t{1}), attribute("reduction", "add")}),
       tensor({{10, 1, 22}, {3, 4, 5}}));
  same(first("NonZero", {tensor({{0, 1}, {1, 0}})}), tensor({{0, 1}, {1, 0}}, int64));
  same(first("CumSum", {kMatrix, tensor(1, int64)}), tensor({{0, 1, 3}, {3, 7, 12}}));
  const std::vector<Tensor> top =
      run_node("TopK", {kMatrix, list({2})}, {attribute("largest", int64_t{0})}, 2);
  same(top[0], tensor({{0, 1}, {3, 4}}));
  same(top[1], tensor({{0, 1}, {0, 1}}, int64));
  same(first("ArgMax", {kMatrix}), tensor({{1, 1, 1}}, int64));
  same(first("ArgMin", {kMatrix}, {attribute("axis", int64_t{1}), attribute("keepdims", int64_t{0})}),
       tensor({0, 0}, int64));
}

TEST_CASE("onnx: reductions over axes of an input, of an attribute, and over all") {
  const Tensor x = tensor({{1, -2, 3}, {4, 5, -6}});
  same(first("ReduceSum", {x, list({1})}), tensor({{2}, {3}}));
  same(first("ReduceMean", {x}, {attribute("axes", {0}), attribute("keepdims", int64_t{0})}),
       tensor({2.5, 1.5, -1.5}));
  same(first("ReduceMax", {x}), tensor({{5}}));
  same(first("ReduceMin", {x, list({-1})}), tensor({{-2}, {-6}}));
  same(first("ReduceProd", {x}, {attribute("keepdims", int64_t{0})}), tensor(720));
  same(first("ReduceL1", {x, list({1})}), tensor({{6}, {15}}));
  same(first("ReduceL2", {x, list({0, 1})}), tensor({{9.5393920}}));
  same(first("ReduceSumSquare", {x, list({1})}), tensor({{14}, {77}}));
  same(first("ReduceLogSum", {x, list({1})}), tensor({{0.6931472}, {1.0986123}}));
  same(first("ReduceLogSumExp", {x, list({1})}), tensor({{3.1328496}, {5.3132740}}));
}

TEST_CASE("onnx: products and softmax") {
  const Tensor a = counted({2, 3}), b = counted({4, 3}), c = counted({4});
  same(first("MatMul", {a, transpose(b)}), matmul(a, t(b)));
  same(first("Gemm", {a, b, c}, {attribute("transB", int64_t{1})}), linear(a, b, c));
  same(first("Gemm", {t(a), t(b), tensor({{1}, {2}})},
             {attribute("transA", int64_t{1}), attribute("alpha", 0.5F), attribute("beta", 2.0F)}),
       0.5 * linear(a, b) + tensor({{2}, {4}}));
  same(first("Gemm", {a, t(b)}), linear(a, b));
  same(first("Einsum", {a, b}, {attribute("equation", "ij,kj->k")}), sum(linear(a, b), 0));
  same(first("Softmax", {a}, {attribute("axis", int64_t{0})}), softmax(a, 0));
  same(first("LogSoftmax", {a}), log_softmax(a, 1));
  const Tensor target = tensor({2, 0}, int64);
  same(first("SoftmaxCrossEntropyLoss", {a, target}), F::cross_entropy(a, target));
  same(first("SoftmaxCrossEntropyLoss", {a, target},
             {attribute("ignore_index", int64_t{0}), attribute("reduction", "none")}),
       F::cross_entropy(a, target, {.ignore_index = 0, .reduction = Reduction::none}));
}
