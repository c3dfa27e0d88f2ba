// Linear regression: the line through noisy points, found by gradient descent.
//
//   loss(w, b) = 1/n sum_i (w x_i + b - y_i)^2             how far the line is from the points
//   w <- w - lr dloss/dw        b <- b - lr dloss/db       one step downhill
//
// What to look for: both gradients shrink to 0, and w and b arrive at the least squares line, for which there
// is a formula. They do not arrive at the line that the points were made from: the noise has moved the best
// line.

#include <heed.h>

#include <cmath>
#include <cstdio>

using namespace heed;

int main() {
  constexpr double true_w = 3, true_b = 1, noise = 0.5;
  manual_seed(1);
  const Tensor x = 4 * rand({50, 1}) - 1;                         // [n, 1], between -1 and 3
  const Tensor y = true_w * x + true_b + noise * randn({50, 1});  // [n, 1]

  // The formula: w = covariance of x and y / variance of x, and the line passes through the means.
  const Tensor centered = x - mean(x);
  const double best_w = (mean(centered * y) / mean(square(centered))).item();
  const double best_b = mean(y).item() - best_w * mean(x).item();

  Linear line(1, 1);  // x -> x W^T + b, with random W and b
  SGD optimizer(line.parameters(), {.lr = 0.1});
  std::printf("%4s  %8s  %8s  %8s  %9s  %9s\n", "step", "loss", "w", "b", "dloss/dw", "dloss/db");
  double first_loss = 0, last_loss = 0;
  for (int step = 0; step <= 80; ++step) {
    const Tensor loss = F::mse_loss(line(x), y);
    optimizer.zero_grad();
    loss.backward();
    if (step % 8 == 0)
      std::printf("%4d  %8.4f  %8.4f  %8.4f  %9.4f  %9.4f\n", step, loss.item(), line.weight.item(),
                  line.bias.item(), line.weight.grad().item(), line.bias.grad().item());
    (step == 0 ? first_loss : last_loss) = loss.item();
    optimizer.step();
  }

  const double w = line.weight.item(), b = line.bias.item();
  std::printf("\n%-24s  y = %.4f x + %.4f\n", "found by descent", w, b);
  std::printf("%-24s  y = %.4f x + %.4f\n", "least squares, a formula", best_w, best_b);
  std::printf("%-24s  y = %.4f x + %.4f\n", "made from, before noise", true_w, true_b);

  const bool learned = std::abs(w - best_w) < 0.01 && std::abs(b - best_b) < 0.01 && last_loss < first_loss;
  std::printf("\n%s\n", learned ? "The line was found." : "The line was not found.");
  return learned ? 0 : 1;
}
