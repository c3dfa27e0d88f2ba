#include "examples/by_hand/by_hand.h"

#include "nn/attention/scaled_dot_product.h"
#include "tests/support/expect.h"

using program::Matrix;

TEST_CASE("attention_by_hand: plain loops forward and backward equal the library, masked or not") {
  const Matrix q = {{1, 2}, {-1, 0.5}, {0, 3}}, k = {{0.5, 1}, {2, -1}, {0, 1}}, v = {{1}, {-2}, {4}};
  const Matrix g = {{1}, {2}, {-1}};
  for (const Mask& mask :
       {Mask(), Mask::causal(3), ~Mask::causal(3)}) {  // the last has a row without allowed keys
    const program::Forward y = program::forward(q, k, v, mask);
    const program::Backward d = program::backward(y, q, k, v, g);
    const Tensor Q = q.tensor().requires_grad_(), K = k.tensor().requires_grad_(),
                 V = v.tensor().requires_grad_();
    const auto of = F::scaled_dot_product_attention(Q, K, V, {.mask = mask.allowed(), .need_weights = true});
    of.output.backward(g.tensor());
    CHECK(program::agree("weights", y.weights, of.weights) < 1e-15);
    CHECK(program::agree("output", y.output, of.output) < 1e-14);
    for (const auto& [by_hand, by_library] :
         {std::pair(d.q, Q.grad()), std::pair(d.k, K.grad()), std::pair(d.v, V.grad())})
      CHECK(program::agree("gradient", by_hand, by_library) < 1e-14);
  }
  CHECK_ERROR(program::agree("q", q, k.tensor()), "q by hand and by the library differ by 3");
  CHECK_ERROR(program::agree("q", {{NAN}}, tensor({{NAN}}, float64)),
              "q by hand and by the library differ by inf");
}

TEST_CASE("attention_by_hand: the Jacobian has a row for each output and a column for each input") {
  const Tensor x = leaf({{1, 2}, {3, 4}});
  const Tensor d = program::jacobian(sum(x * x, 0), x);  // (x00^2 + x10^2, x01^2 + x11^2)
  CHECK(largest_difference(d, tensor({{2, 0, 6, 0}, {0, 4, 0, 8}}, float64)) == 0);
}
