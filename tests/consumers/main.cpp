// A project that uses an installed heed, or its sources: as a program, or inside a shared library.
#include <heed.h>

#include <iostream>

/// Trains a linear model. 0 if it learns y = 3 x - 1.
extern "C" int use_heed() {
  heed::manual_seed(1);
  heed::Linear model(1, 1);
  heed::SGD optimizer(model.parameters(), {.lr = 0.1});
  const heed::Tensor x = heed::randn({64, 1}), y = 3 * x - 1;
  heed::Tensor loss;
  for (int step = 0; step < 200; ++step) {
    optimizer.zero_grad();
    loss = heed::mean(heed::square(model(x) - y));
    loss.backward();
    optimizer.step();
  }
  std::cout << heed::version_text() << "\nweight " << model.weight.item() << ", loss " << loss.item() << "\n";
  return loss.item() < 1e-6 ? 0 : 1;
}

int main() { return use_heed(); }
