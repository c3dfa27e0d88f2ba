#include "autograd/ops/sort.h"
#include "nn/functional.h"
#include "tests/nn/onnx/one_node.h"

namespace {

Tensor first_output(const std::string& op, const std::vector<Tensor>& inputs,
                    const std::vector<onnx::Attribute>& attributes = {}) {
  return run_node(op, inputs, attributes)[0];
}
// Checks dtype, shape and values.
void check_same(const Tensor& y, const Tensor& expected) {
  CHECK(y.dtype() == expected.dtype());
  REQUIRE(y.shape() == expected.shape());
  CHECK(largest_difference(to(y, float64), to(expected, float64)) < 1e-5);
}
Tensor int_list(const std::vector<int64_t>& x) { return from_vector(x, {std::ssize(x)}); }

const Tensor kTwoByThree = counted({2, 3});  // 0 to 5

}  // namespace

TEST_CASE("onnx: constants") {
  check_same(first_output("Constant", {}, {attribute("value", kTwoByThree)}), kTwoByThree);
  check_same(first_output("Constant", {}, {attribute("value_int", int64_t{3})}), tensor(3, int64));
  check_same(first_output("Constant", {}, {attribute("value_ints", {3, 4})}), int_list({3, 4}));
  check_same(first_output("Constant", {}, {attribute("value_float", 0.5F)}), tensor(0.5));
  check_same(first_output("Constant", {},
                          {{.name = "value_floats", .type = onnx::AttributeType::floats, .floats = {1, 2}}}),
             tensor({1, 2}));
  check_same(first_output("ConstantOfShape", {int_list({2, 1})}), zeros({2, 1}));
  check_same(first_output("ConstantOfShape", {int_list({2})}, {attribute("value", tensor({7}, int64))}),
             int_list({7, 7}));
  check_same(first_output("Range", {tensor(1, int64), tensor(6, int64), tensor(2, int64)}),
             int_list({1, 3, 5}));
  check_same(first_output("Range", {tensor(1), tensor(0.1), tensor(-0.5)}), tensor({1, 0.5}));
  check_same(first_output("Range", {tensor(1, int64), tensor(1, int64), tensor(2, int64)}),
             zeros({0}, int64));
  CHECK_THROWS_AS(first_output("Range", {tensor(1), tensor(2), tensor(0)}), Error);
  check_same(first_output("OneHot", {int_list({1, -1}), tensor(3, int64), tensor({0, 5})}),
             tensor({{0, 5, 0}, {0, 0, 5}}));
}

TEST_CASE("onnx: shapes") {
  const Tensor x = counted({2, 3, 4});
  check_same(first_output("Shape", {x}), int_list({2, 3, 4}));
  check_same(first_output("Shape", {x}, {attribute("start", int64_t{-2}), attribute("end", int64_t{-1})}),
             int_list({3}));
  check_same(first_output("Size", {x}), tensor(24, int64));
  check_same(first_output("Reshape", {x, int_list({0, -1})}), reshape(x, {2, 12}));
  CHECK_THROWS_AS(first_output("Reshape", {x, int_list({0, -1})}, {attribute("allowzero", int64_t{1})}),
                  Error);
  check_same(first_output("Flatten", {x}, {attribute("axis", int64_t{2})}), reshape(x, {6, 4}));
  check_same(first_output("Flatten", {x}, {attribute("axis", int64_t{0})}), reshape(x, {1, 24}));
  check_same(first_output("Unsqueeze", {x, int_list({-1, 0})}), reshape(x, {1, 2, 3, 4, 1}));
  check_same(first_output("Squeeze", {counted({1, 2, 1}), int_list({0})}), counted({2, 1}));
  check_same(first_output("Squeeze", {counted({1, 2, 1})}), counted({2}));
  CHECK(contains(message([&] {
                   first_output("Squeeze", {x, int_list({1})});
                 }),
                 "[2, 3, 4] has not the size 1 on axis 1"));
  check_same(first_output("Transpose", {x}), permute(x, {2, 1, 0}));
  check_same(first_output("Transpose", {x}, {attribute("perm", {1, 0, 2})}), transpose(x, 0, 1));
  check_same(first_output("Expand", {tensor({{1}, {2}}), int_list({1, 2})}), tensor({{1, 1}, {2, 2}}));
  check_same(first_output("Tile", {tensor({{1, 2}}), int_list({2, 1})}), tensor({{1, 2}, {1, 2}}));
}

TEST_CASE("onnx: parts of tensors") {
  const Tensor x = counted({5, 4});
  const auto sliced = [&](int64_t start, int64_t end, int64_t step) {
    return first_output("Slice", {x, int_list({start}), int_list({end}), int_list({0}), int_list({step})});
  };
  check_same(sliced(1, INT64_MAX, 2), slice(x, 0, 1, 5, 2));
  check_same(sliced(-1, INT64_MIN, -1), flip(x, {0}));
  check_same(sliced(3, 0, -2), index_select(x, 0, int_list({3, 1})));
  check_same(sliced(10, -3, -1), index_select(x, 0, int_list({4, 3})));
  check_same(sliced(0, 9, INT64_MAX), slice(x, 0, 0, 1));
  check_same(sliced(4, -9, INT64_MIN), slice(x, 0, 4, 5));
  CHECK(contains(message([&] { sliced(0, 1, 0); }), "a step is 0"));
  check_same(first_output("Slice", {x, int_list({1, 1}), int_list({3, -1})}),
             narrow(narrow(x, 0, 1, 2), 1, 1, 2));
  CHECK_THROWS_AS(first_output("Slice", {x, int_list({1, 1}), int_list({3})}), Error);

  check_same(run_node("Split", {x}, {attribute("axis", int64_t{0})}, 2)[1], narrow(x, 0, 3, 2));
  check_same(run_node("Split", {x, int_list({1, 4})}, {}, 2)[1], narrow(x, 0, 1, 4));
  CHECK_THROWS_AS(run_node("Split", {x}, {attribute("num_outputs", int64_t{3})}, 2), Error);
  CHECK_THROWS_AS(run_node("Split", {x, int_list({1, 1, 3})}, {}, 2), Error);
  check_same(first_output("Concat", {x, x}, {attribute("axis", int64_t{-1})}), cat({x, x}, 1));
  check_same(first_output("Pad", {kTwoByThree, int_list({1, 0, 0, 2}), tensor(9)}),
             pad(kTwoByThree, {0, 2, 1, 0}, 9));
  check_same(first_output("Pad", {kTwoByThree, int_list({1, 1}), Tensor(), int_list({-1})}),
             pad(kTwoByThree, {1, 1}));
  CHECK_THROWS_AS(first_output("Pad", {kTwoByThree, int_list({1})}), Error);
  check_same(first_output("Trilu", {x}), triu(x));
  check_same(first_output("Trilu", {x, tensor(-1, int64)}, {attribute("upper", int64_t{0})}), tril(x, -1));
}

TEST_CASE("onnx: indices") {
  const Tensor index = tensor({{0, -1}}, int64);
  check_same(first_output("Gather", {kTwoByThree, index}, {attribute("axis", int64_t{1})}),
             tensor({{{0, 2}}, {{3, 5}}}));
  check_same(first_output("Gather", {kTwoByThree, tensor(-1, int64)}), tensor({3, 4, 5}));
  CHECK_THROWS_AS(first_output("Gather", {kTwoByThree, tensor(2, int64)}), Error);
  check_same(first_output("GatherElements", {kTwoByThree, index}, {attribute("axis", int64_t{1})}),
             tensor({{0, 2}}));
  const Tensor updates = tensor({{10, 20}});
  check_same(first_output("ScatterElements", {kTwoByThree, index, updates}, {attribute("axis", int64_t{1})}),
             tensor({{10, 1, 20}, {3, 4, 5}}));
  check_same(first_output("ScatterElements", {kTwoByThree, index, updates},
                          {attribute("axis", int64_t{1}), attribute("reduction", "add")}),
             tensor({{10, 1, 22}, {3, 4, 5}}));
  check_same(first_output("NonZero", {tensor({{0, 1}, {1, 0}})}), tensor({{0, 1}, {1, 0}}, int64));
  check_same(first_output("CumSum", {kTwoByThree, tensor(1, int64)}), tensor({{0, 1, 3}, {3, 7, 12}}));
  const std::vector<Tensor> top =
      run_node("TopK", {kTwoByThree, int_list({2})}, {attribute("largest", int64_t{0})}, 2);
  check_same(top[0], tensor({{0, 1}, {3, 4}}));
  check_same(top[1], tensor({{0, 1}, {0, 1}}, int64));
  check_same(first_output("ArgMax", {kTwoByThree}), tensor({{1, 1, 1}}, int64));
  check_same(first_output("ArgMin", {kTwoByThree},
                          {attribute("axis", int64_t{1}), attribute("keepdims", int64_t{0})}),
             tensor({0, 0}, int64));
}

TEST_CASE("onnx: reductions over axes of an input, of an attribute, and over all") {
  const Tensor x = tensor({{1, -2, 3}, {4, 5, -6}});
  check_same(first_output("ReduceSum", {x, int_list({1})}), tensor({{2}, {3}}));
  check_same(first_output("ReduceMean", {x}, {attribute("axes", {0}), attribute("keepdims", int64_t{0})}),
             tensor({2.5, 1.5, -1.5}));
  check_same(first_output("ReduceMax", {x}), tensor({{5}}));
  check_same(first_output("ReduceMin", {x, int_list({-1})}), tensor({{-2}, {-6}}));
  check_same(first_output("ReduceProd", {x}, {attribute("keepdims", int64_t{0})}), tensor(720));
  check_same(first_output("ReduceL1", {x, int_list({1})}), tensor({{6}, {15}}));
  check_same(first_output("ReduceL2", {x, int_list({0, 1})}), tensor({{9.5393920}}));
  check_same(first_output("ReduceSumSquare", {x, int_list({1})}), tensor({{14}, {77}}));
  check_same(first_output("ReduceLogSum", {x, int_list({1})}), tensor({{0.6931472}, {1.0986123}}));
  check_same(first_output("ReduceLogSumExp", {x, int_list({1})}), tensor({{3.1328496}, {5.3132740}}));
}

TEST_CASE("onnx: products and softmax") {
  const Tensor a = counted({2, 3}), b = counted({4, 3}), c = counted({4});
  check_same(first_output("MatMul", {a, transpose(b)}), matmul(a, t(b)));
  check_same(first_output("Gemm", {a, b, c}, {attribute("transB", int64_t{1})}), linear(a, b, c));
  check_same(
      first_output("Gemm", {t(a), t(b), tensor({{1}, {2}})},
                   {attribute("transA", int64_t{1}), attribute("alpha", 0.5F), attribute("beta", 2.0F)}),
      0.5 * linear(a, b) + tensor({{2}, {4}}));
  check_same(first_output("Gemm", {a, t(b)}), linear(a, b));
  check_same(first_output("Einsum", {a, b}, {attribute("equation", "ij,kj->k")}), sum(linear(a, b), 0));
  check_same(first_output("Softmax", {a}, {attribute("axis", int64_t{0})}), softmax(a, 0));
  check_same(first_output("LogSoftmax", {a}), log_softmax(a, 1));
  const Tensor target = tensor({2, 0}, int64);
  check_same(first_output("SoftmaxCrossEntropyLoss", {a, target}), F::cross_entropy(a, target));
  check_same(first_output("SoftmaxCrossEntropyLoss", {a, target},
                          {attribute("ignore_index", int64_t{0}), attribute("reduction", "none")}),
             F::cross_entropy(a, target, {.ignore_index = 0, .reduction = Reduction::none}));
}
