#include "tensor/kernels/loss.h"

#include "nn/functional.h"
#include "tensor/kernels/outer_inner.h"
#include "tests/support/references.h"

TEST_CASE("fused cross_entropy equals its reference for any number of classes") {
  Generator generator(4);
  for (const DType dtype : {float32, float64})
    for (const int64_t classes :
         {int64_t{1}, int64_t{19}, kernel::kRun - 1, kernel::kRun + 1, kernel::kBlock + 1})
      for (const double smoothing : {0.0, 0.25})
        for (const bool weighted : {false, true}) {
          const Tensor x = randn({7, classes}, dtype, &generator);
          const Tensor w = weighted ? rand({classes}, dtype, &generator) : Tensor();
          Tensor target = randint(0, classes, {7}, &generator);
          target.mutable_data<int64_t>()[3] = -1;
          INFO(classes, " classes, smoothing ", smoothing, weighted ? ", weighted" : "");
          for (const Reduction reduction : {Reduction::none, Reduction::mean})
            CHECK(from_reference(
                      [&](auto& in) {
                        return F::cross_entropy(in[0], target, {w, -1, reduction, smoothing});
                      },
                      {x}) < (dtype == float32 ? 1e-4 : 1e-12));
        }
}

TEST_CASE("a logit of -inf does not affect the other classes") {
  const Tensors got = value_and_gradients(
      [](auto& in) { return F::cross_entropy(in[0], tensor({2}, int64), {.reduction = Reduction::none}); },
      {tensor({{0, -INFINITY, 0}})});
  CHECK(values(got[0])[0] == doctest::Approx(std::log(2.0)));
  const Values dx = values(got[1]);
  CHECK(dx[1] == 0);
  CHECK(dx[0] == doctest::Approx(-dx[2]));
}

TEST_CASE("errors name the position of an invalid target") {
  CHECK_ERROR_HAS(F::cross_entropy(zeros({2, 3}), tensor({1, 3}, int64)),
                  "cross_entropy: the target at position 1 is 3, and the classes are 0 to 2; targets that do "
                  "not count are -100 (ignore_index)");
  CHECK_ERROR_HAS(F::cross_entropy(zeros({2, 3}), tensor({-1, 0}, int64)), "the target at position 0 is -1");
}
