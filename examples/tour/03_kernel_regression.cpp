// Kernel regression: attention in its oldest form, with one learned number.
//
//   f(q) = sum_i alpha_i(q) y_i        alpha_i(q) = softmax over i of -((q - x_i) w)^2 / 2
//
// A query q is compared with the keys x_i, and the output is the mean of their values y_i, weighted by
// nearness. 1/w is the width of the kernel: for w = 0 all points count the same, for a large w only the
// nearest one does.
//
// w is learned by predicting each point from all the others. If a point could use itself, w would grow
// without bound, because a point predicts itself best.
//
// What to look for: the learned w has a lower error on the true curve than the mean and than w = 1, although
// it has seen only noisy points.

#include <heed.h>

#include <cmath>
#include <cstdio>

using namespace heed;

// The curve to find.
Tensor truth(const Tensor& x) { return 2 * sin(x) + pow(x, 0.8); }

// The attention weights of queries [m] on keys [n]: [m, n]. With `own` a query may use the key of the same
// number.
Tensor weights(const Tensor& queries, const Tensor& keys, const Tensor& w, bool own) {
  const Tensor distance = unsqueeze(queries, 1) - unsqueeze(keys, 0);  // [m, n]
  Tensor scores = -square(distance * w) / 2;
  if (!own) scores = scores - 1e9 * eye(keys.size(0));
  return softmax(scores, 1);
}

int main() {
  manual_seed(1);
  const Tensor x = 5 * rand({50}), y = truth(x) + 0.5 * randn({50});  // 50 noisy points
  const Tensor queries = arange(0, 5, 0.1), curve = truth(queries);   // where the error is measured
  const auto predict = [&](const Tensor& w) { return matmul(weights(queries, x, w, true), y); };

  Tensor w = tensor(0.3).requires_grad_();
  Adam optimizer({w}, {.lr = 0.15});
  std::printf("%4s  %6s  %11s  %17s\n", "step", "w", "loss", "error on the curve");
  for (int step = 0; step <= 100; ++step) {
    const Tensor loss = F::mse_loss(matmul(weights(x, x, w, false), y), y);  // each point from the others
    optimizer.zero_grad();
    loss.backward();
    if (step % 10 == 0)
      std::printf("%4d  %6.3f  %11.4f  %18.4f\n", step, w.item(), loss.item(),
                  F::mse_loss(predict(w.detach()), curve).item());
    optimizer.step();
  }
  w = w.detach();

  const Tensor flat = predict(tensor(0)), fixed = predict(tensor(1)), learned = predict(w);
  std::printf("\n%5s  %6s  %6s  %6s  %7s\n", "q", "truth", "mean", "w = 1", "learned");
  for (const int i : {5, 15, 25, 35, 45})
    std::printf("%5.1f  %6.2f  %6.2f  %6.2f  %7.2f\n", queries[i].item(), curve[i].item(), flat[i].item(),
                fixed[i].item(), learned[i].item());
  const double errors[] = {F::mse_loss(flat, curve).item(), F::mse_loss(fixed, curve).item(),
                           F::mse_loss(learned, curve).item()};
  std::printf("%5s  %6s  %6.3f  %6.3f  %7.3f\n", "error", "", errors[0], errors[1], errors[2]);

  const Tensor alpha = weights(tensor({2.5}), x, w, true)[0];  // [n]
  const auto largest = topk(alpha, 5);
  std::printf("\nThe query 2.5 looks at these points most:\n%6s  %6s  %6s\n", "x", "y", "alpha");
  for (int i = 0; i < 5; ++i) {
    const Tensor point = largest.indices[i];
    std::printf("%6.2f  %6.2f  %6.3f\n", x[point].item(), y[point].item(), largest.values[i].item());
  }

  const bool better = errors[2] < errors[1] && errors[1] < errors[0];
  std::printf("\n%s\n",
              better ? "The learned width predicts best." : "The learned width does not predict best.");
  return better ? 0 : 1;
}
