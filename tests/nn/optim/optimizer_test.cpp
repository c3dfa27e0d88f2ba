#include "nn/optim/optimizer.h"

#include <doctest/doctest.h>

#include "autograd/ops.h"
#include "tensor/create.h"

using namespace heed;

namespace {

Tensor leaf(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())}).requires_grad_();
}

}  // namespace

TEST_CASE("optimisers: state goes from one to another, which goes on as the first would") {
  const auto gradient = [](int step) { return from_vector<double>({1.0 + step, -0.5 * step, 2}, {3}); };
  const Tensor a = leaf({1, 2, 3});
  Adam first({a}, {.lr = 0.1, .amsgrad = true});
  for (int step = 0; step < 3; ++step) a.set_grad(gradient(step)), first.step();
  first.set_lr(0.05);

  const Tensor b = leaf(a.to_vector<double>());
  Adam second({b}, {.lr = 0.1, .amsgrad = true});
  second.load_state_dict(first.state_dict());
  CHECK(second.lr() == 0.05);
  for (int step = 3; step < 6; ++step) {
    a.set_grad(gradient(step)), first.step();
    b.set_grad(gradient(step)), second.step();
  }
  CHECK(a.to_vector<double>() == b.to_vector<double>());

  const auto state = first.state_dict();
  CHECK(state.size() == 5);
  CHECK(state.at("0.step").item<int64_t>() == 6);
  CHECK(state.at("0.exp_avg").shape() == Shape{3});
  CHECK(state.count("0.max_exp_avg_sq") == 1);

  SGD other({b}, {.lr = 0.1});
  CHECK_THROWS_WITH(
      other.load_state_dict(state),
      "SGD: load_state_dict: 3 of 5 entries do not belong to 1 parameters in 1 groups of a SGD");
  const Tensor longer = leaf({1, 2, 3, 4});
  Adam third({longer});
  CHECK_THROWS_WITH(third.load_state_dict(state),
                    "Adam: load_state_dict: 0.exp_avg has shape [3] and the parameter [4]");
}

TEST_CASE("optimisers: parameters without a gradient stay, strided ones move, the write is seen") {
  const Tensor still = leaf({1, 2});
  const Tensor table = from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor column = table.view_as({2}, {3}, 1).requires_grad_();
  SGD optimizer({still, column}, {.lr = 1});
  const Tensor squares = sum(square(column));
  column.set_grad(from_vector<double>({10, 20}, {2}));
  optimizer.step();
  CHECK(still.to_vector<double>() == std::vector<double>{1, 2});
  CHECK(table.to_vector<double>() == std::vector<double>{1, -8, 3, 4, -15, 6});
  try {
    squares.backward();
    FAIL("an overwritten operand went unnoticed");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("SGD") != std::string::npos);
    CHECK(std::string(error.what()).find("optimizer_test.cpp") != std::string::npos);
  }
  optimizer.zero_grad();
  CHECK(!column.grad().defined());
}

TEST_CASE("optimisers: bad parameters and options are named") {
  const Tensor a = leaf({1}), b = leaf({2});
  CHECK_THROWS_WITH(SGD({a, b, a}), "SGD: parameter 2 of shape [1] is there twice; give each once");
  CHECK_THROWS_WITH(
      SGD({a * 2}),
      "SGD: parameter 0 is not a floating leaf; optimise the leaves that a result was computed from");
  CHECK_THROWS_WITH(SGD(std::vector<Tensor>{}),
                    "SGD: a group without parameters; is visit() of the model missing a line?");
  SGD optimizer({{{a}, {.lr = 0.1}}, {{b}, {.lr = 0.01}}});
  CHECK(optimizer.groups() == 2);
  CHECK(optimizer.lr(1) == 0.01);
  CHECK_THROWS_AS(optimizer.add_param_group({{a}, {}}), Error);
  CHECK_THROWS_WITH(optimizer.set_lr(-1), "SGD: a learning rate of -1; it must be at least 0");
  optimizer.set_lr(1, 0.5);
  CHECK(optimizer.options(1).lr == 0.5);
}
