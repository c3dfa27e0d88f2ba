// A project that uses an installed heed, or its sources.
#include <heed.h>

#include <iostream>

int main() {
  const heed::Tensor x = heed::eye(3).requires_grad_();
  const heed::Tensor y = heed::sum(heed::matmul(x, heed::full({3, 2}, 0.5)));
  y.backward();
  std::cout << heed::build_info() << "\ny = " << y.item() << ", dy/dx =\n" << x.grad() << "\n";
  return y.item() == 3 && heed::sum(x.grad()).item() == 9 ? 0 : 1;
}
