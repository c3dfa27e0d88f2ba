// Whole training steps of small models, and one optimiser step.
#include <cmath>

#include "bench.h"

namespace bench {

// Nadaraya-Watson regression with a learned kernel width: 50 queries, each over the 49 other points.
void kernel_regression_step(State& state) {
  // Data for which w does not go to 0, as for libtorch's side.
  heed::manual_seed(2);
  const Tensor q = 5 * heed::rand({50}), keys = 5 * heed::rand({50, 49});
  const Tensor values = heed::rand({50, 49}), y = heed::rand({50});
  const Tensor w = heed::rand({1}).requires_grad_();
  given({q, keys, values, y, w});
  const auto backward = [&] {
    w.set_grad({});
    const Tensor a = softmax(-square((unsqueeze(q, 1) - keys) * w) / 2, 1);      // [50, 49]
    const Tensor p = reshape(bmm(unsqueeze(a, 1), unsqueeze(values, 2)), {-1});  // [50]
    const Tensor loss = sum(square(p - y)) / 2;
    loss.backward();
    return loss;
  };
  if (comparing()) found(state, backward(), {w});
  time_steps(state, [&] {
    backward();
    const heed::NoGrad no_grad;
    sub_(w, w.grad(), 0.001);
  });
  require_finite(state, w);
  if (std::abs(w.item()) < 0.1) state.SkipWithError("w has gone to 0");
}

// A perceptron with one hidden layer, cross entropy, plain SGD.
void mlp_step(State& state) {
  const Tensor x = heed::randn({64, 784}), labels = ids(0, 10, {64});
  given({x});
  heed::Sequential model{heed::Linear(784, 128), heed::ReLU(), heed::Linear(128, 10)};
  heed::SGD sgd(model.parameters(), {.lr = 0.01});
  time_training(state, model, sgd, [&] { return cross_entropy(model(x), labels); });
}

// Adam over 50 parameters of 200,000 values whose gradients are there already.
void adam_step(State& state) {
  std::vector<Tensor> parameters;
  for (int i = 0; i < 50; ++i) {
    parameters.push_back(leaf({400, 500}));
    parameters.back().set_grad(heed::randn({400, 500}));
    given({parameters.back(), parameters.back().grad()});
  }
  heed::Adam adam(parameters, {.lr = 1e-3, .betas = {0.9, 0.999}, .eps = 1e-8});
  if (comparing()) {
    adam.step();
    for (const Tensor& p : parameters) found(state, p, {});
  }
  time_steps(state, [&] { adam.step(); });
  require_finite(state, parameters.front());
  count_bytes(state, 7 * 4 * 10'000'000);
}

}  // namespace bench
