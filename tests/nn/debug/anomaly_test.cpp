#include "nn/debug/anomaly.h"

#include "heed.h"
#include "tensor/kernels/reduce.h"
#include "tests/autograd/op_checks.h"
#include "tests/support/expect.h"

TEST_CASE("AnomalyGuard: the operation that computes the first infinity or NaN, and its operands") {
  const Tensor x = tensor({{1, 0}, {2, -1}});
  CHECK((1 / x).numel() == 4);
  const AnomalyGuard guard;
  CHECK(contains(whole_message([&] { 1 / x; }), "anomaly_test.cpp:"));
  CHECK_ERROR(1 / x,
              "div: the result [2, 2] is inf at [0, 1]; operand 1 is float32 [] of 1; operand 2 is float32 "
              "[2, 2] of 1, 0, 2, -1, there 0");
  CHECK_ERROR(tensor(0) / tensor(0),
              "div: the result [] is nan; operand 1 is float32 [] of 0; operand 2 is float32 [] of 0");
  CHECK_ERROR(linspace(0, 1, 100, float64) / zeros({1}, float64),
              "div: the result [100] is nan at [0]; operand 1 is float64 [100] from 0 to 1, there 0; operand "
              "2 is float64 [1] of 0");
  const Tensor with_nan = tensor({1, kNaN});
  CHECK_ERROR(2 * with_nan,
              "mul: operand 2 contains nan at [1], which no operation under the guard computed; check the "
              "data, the parameters, and writes into them; operand 1 is float32 [] of 2; operand 2 is "
              "float32 [2] of 1, nan, there nan");
  CHECK_ERROR(log(tensor(0)),
              "log: the result [] is -inf; operand 1 is float32 [] of 0; AnomalyGuard({.infinity = false}) "
              "allows masks of -inf");
}

TEST_CASE("AnomalyGuard: the module's path, forward and backward") {
  struct Inverse : Layer<Inverse> {
    Tensor forward(const Tensor& x) const { return 1 / x; }
  };
  // 1 / y may be finite where its derivative is not.
  struct Over : Layer<Over> {
    Tensor forward(const Tensor& y) const { return tensor({4, 1}) / y; }
  };
  Sequential model{Linear(1, 1, {.bias = false}), Sequential{Inverse()}};
  model.get<Linear>(0).weight = zeros({1, 1});
  const AnomalyGuard guard;
  const Tensor x = ones({1, 1}), y = tensor({2, 1e-30}).requires_grad_();
  CHECK_ERROR_HAS(model(x), "in 1.0: div: the result [1, 1] is inf at [0, 0]; operand 1");
  CHECK_ERROR_HAS(
      sum(Over()(y)).backward(),
      "div: the gradient of operand 2 [2] is -inf at [1]; the incoming gradient is float32 [2] of 1, 1; "
      "operand 1 is float32 [2] of 4, 1, there 1; operand 2 is float32 [2] of 2, ");
  CHECK_FALSE(y.grad().defined());
  const Sequential over{Over()};
  CHECK_ERROR_HAS(sum(over(y)).backward(), "in 0: the gradient of operand 2 [2] is -inf at [1]");
}

TEST_CASE("AnomalyGuard: infinity = false finds only NaN; without a guard nothing throws") {
  const Tensor scores = tensor({1, 2}) + tensor({0, -kInf});
  {
    const AnomalyGuard guard({.infinity = false});
    CHECK(values(softmax(scores + 0, -1)) == Values{1, 0});
    CHECK_THROWS_AS(scores - scores, Error);
  }
  CHECK(std::isnan(values(scores - scores)[1]));
  const AnomalyGuard guard;
  CHECK(isnan(tensor({kNaN})).to_vector<bool>()[0]);
  CHECK(values(softmax(scores, -1)) == Values{1, 0});  // the result is finite
}

TEST_CASE("AnomalyGuard raises no false alarm in any operation or derivative and changes no bit") {
  int64_t sound = 0;
  for (const test::OpCase& row : test::op_cases()) {
    const std::string op = row.op;
    if (row.in_place || op == "isnan" || op == "isinf" || op == "isfinite")
      continue;  // they take NaN and infinities
    CAPTURE(row.op);
    Tensors results[2];  // without a guard, and with one if all are finite
    for (Tensors& found : results) {
      std::optional<AnomalyGuard> guard;
      if (&found != results) guard.emplace();
      Tensors leaves;
      const Tensors in = test::inputs_of(row);
      for (const Tensor& x : in)
        if (x.defined() && x.requires_grad()) leaves.push_back(x);
      found = {test::Outputs(row.call(in)).at(0)};
      if (!found[0].requires_grad()) continue;
      const Tensor incoming = ones(found[0].shape(), found[0].dtype());
      for (const Tensor& g :
           grad({found[0]}, leaves, {.grad_outputs = {incoming}, .create_graph = true, .allow_unused = true}))
        if (g.defined()) found.push_back(g);
      Tensors second;
      for (size_t i = 1; i < found.size(); ++i)
        if (found[i].requires_grad())
          for (const Tensor& g :
               grad({sum(square(found[i]))}, leaves, {.retain_graph = true, .allow_unused = true}))
            if (g.defined()) second.push_back(g);
      found.insert(found.end(), second.begin(), second.end());
      if (std::ranges::any_of(found, [](const Tensor& x) { return kernel::first_anomaly(x, true) >= 0; }))
        break;
    }
    if (results[1].empty()) continue;
    ++sound;
    REQUIRE(results[0].size() == results[1].size());
    for (size_t i = 0; i < results[0].size(); ++i) CHECK(bytes_of(results[0][i]) == bytes_of(results[1][i]));
  }
  CHECK(sound > 150);
}

TEST_CASE("AnomalyGuard frees the operands of finished graphs") {
  const AnomalyGuard guard;
  const Tensor x = ones({100}).requires_grad_();
  size_t most = 0;
  for (int i = 0; i < 20000; ++i) {
    sum(x * 2).backward();
    if (i == 5000) most = memory_use().live;
  }
  CHECK(memory_use().live <= most + 100000);
}
