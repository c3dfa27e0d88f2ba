#include "nn/optim/optimizer.h"

#include "nn/optim/adaptive.h"
#include "nn/optim/sgd.h"
#include "tests/support/expect.h"

// m <- (m + g) / 2,  p <- p - lr sign(m)
struct SignOptions {
  double lr = 0.5;
  static constexpr const char* kName = "Sign";
  void check() const {}
  std::vector<StateSlot> slots() const { return {{"mean"}}; }
  void update(const Tensor& p, const Tensor& g, const ParamState& state) const noexcept {
    auto *p_ = p.mutable_data<double>(), *m = state.tensors[0].mutable_data<double>();
    for (int64_t i = 0; i < p.numel(); ++i) {
      m[i] = (m[i] + g.data<double>()[i]) / 2;
      p_[i] -= m[i] > 0 ? lr : -lr;
    }
  }
};

TEST_CASE("optimizers: an update rule of the user") {
  const Tensor p = leaf({1, 2});
  OptimizerOf<SignOptions> optimizer({p});
  p.set_grad(tensor({4, -4}, float64)), optimizer.step();
  p.set_grad(tensor({-1, -1}, float64)), optimizer.step();
  CHECK(values(p) == Values{0, 3});
  CHECK(values(optimizer.state_dict().at("0.mean")) == Values{0.5, -1.5});
}

TEST_CASE("optimizers: parameters without a gradient stay, strided ones move, the version changes") {
  const Tensor still = leaf({1, 2});
  const Tensor table = from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor column = TensorImpl::view(table, {2}, {3}, 1).requires_grad_();
  SGD optimizer({still, column}, {.lr = 1});
  const Tensor squares = dot(column, column);
  column.set_grad(from_vector<double>({10, 20}, {2}));
  optimizer.step();
  CHECK(values(still) == Values{1, 2});
  CHECK(values(table) == Values{1, -8, 3, 4, -15, 6});
  const std::string text = message([&] { squares.backward(); });
  CHECK(contains(text, "SGD"));
  CHECK(contains(text, "optimizer_test.cpp"));
  optimizer.zero_grad();
  CHECK(!column.grad().defined());
}

TEST_CASE("optimizers: frozen parameters do not change") {
  const Tensor frozen = leaf({1, 2}).requires_grad_(false), later = leaf({3}), moves = leaf({4});
  Adam optimizer({frozen, later, moves}, {.lr = 1});
  later.requires_grad_(false);
  optimizer.zero_grad();
  sum(frozen * 2 + later + moves).backward();
  optimizer.step();
  optimizer.zero_grad();
  CHECK(values(frozen) == Values{1, 2});
  CHECK(values(later) == Values{3});
  CHECK(moves.item() == doctest::Approx(3));
  CHECK(!moves.grad().defined());
}

TEST_CASE("optimizers: errors name invalid parameters and learning rates") {
  const Tensor a = leaf({1}), b = leaf({2});
  CHECK_ERROR(SGD({a, b, a}), "SGD: parameter 2 of shape [1] appears twice; give each once");
  CHECK_ERROR(SGD({a * 2}),
              "SGD: parameter 0 is not a floating leaf; optimize the leaves that a result was computed from");
  CHECK_ERROR(SGD(Tensors{}), "SGD: a group without parameters; is visit() of the model missing a line?");
  SGD optimizer({{{a}, {.lr = 0.1}}, {{b}, {.lr = 0.01}}});
  CHECK(optimizer.groups() == 2);
  CHECK(optimizer.params().size() == 2);
  CHECK(optimizer.params(1).at(0).same_as(b));
  CHECK_ERROR(optimizer.params(2), "SGD: group 2 of 2; they count from 0");
  CHECK(optimizer.lr(1) == 0.01);
  CHECK_THROWS_AS(optimizer.add_param_group({{a}, {}}), Error);
  CHECK_ERROR(optimizer.set_lr(-1), "SGD: a learning rate of -1; it must be at least 0");
  CHECK_ERROR(optimizer.set_lr({0.5, -1}), "SGD: a learning rate of -1; it must be at least 0");
  CHECK(optimizer.lr() == 0.1);
  CHECK_ERROR(optimizer.set_lr(2, 0.1), "SGD: group 2 of 2; they count from 0");
  optimizer.set_lr(1, 0.5);
  CHECK(optimizer.options(1).lr == 0.5);
}
