// Whole training steps of small models, and one optimiser step.
#include "bench.h"

namespace bench {

// Nadaraya-Watson regression with a learned kernel width: 50 queries, each over the 49 other points.
void kernel_regression_step(State& state) {
  // Data for which w settles at 0.52. For many others the best w is 0, and a long run ends in slow denormal
  // numbers.
  torch::manual_seed(5);
  const Tensor q = torch::rand({50}) * 5, keys = torch::rand({50, 49}) * 5;
  const Tensor values = torch::rand({50, 49}), y = torch::rand({50});
  const Tensor w = torch::rand({1}).requires_grad_();
  given({q, keys, values, y, w});
  const auto backward = [&] {
    w.mutable_grad().reset();
    const Tensor a = torch::softmax(-((q.unsqueeze(1) - keys) * w).square() / 2, 1);  // [50, 49]
    const Tensor p = torch::bmm(a.unsqueeze(1), values.unsqueeze(2)).reshape({-1});   // [50]
    const Tensor loss = (p - y).square().sum() / 2;
    loss.backward();
    return loss;
  };
  if (comparing()) found(state, backward(), {w});
  time_steps(state, [&] {
    backward();
    const torch::NoGradGuard no_grad;
    w.sub_(w.grad(), 0.001);
  });
  require_finite(state, w);
  if (w.abs().item<float>() < 0.1F) state.SkipWithError("w has gone to 0");
}

// A perceptron with one hidden layer, cross entropy, plain SGD.
void mlp_step(State& state) {
  const Tensor x = torch::randn({64, 784}), labels = ids(0, 10, {64});
  given({x});
  torch::nn::Sequential model(torch::nn::Linear(784, 128), torch::nn::ReLU(), torch::nn::Linear(128, 10));
  torch::optim::SGD sgd(model->parameters(), torch::optim::SGDOptions(0.01));
  time_training(state, *model, sgd, [&] { return cross_entropy(model->forward(x), labels); });
}

// Adam over 50 parameters of 200,000 values whose gradients are there already.
void adam_step(State& state) {
  std::vector<Tensor> parameters;
  for (int i = 0; i < 50; ++i) {
    parameters.push_back(leaf({400, 500}));
    parameters.back().mutable_grad() = torch::randn({400, 500});
    given({parameters.back(), parameters.back().grad()});
  }
  torch::optim::Adam adam(parameters, torch::optim::AdamOptions(1e-3).betas({0.9, 0.999}).eps(1e-8));
  if (comparing()) {
    adam.step();
    for (const Tensor& p : parameters) found(state, p, {});
  }
  time_steps(state, [&] { adam.step(); });
  require_finite(state, parameters.front());
  count_bytes(state, 7 * 4 * 10'000'000);
}

}  // namespace bench
