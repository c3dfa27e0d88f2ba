#include "nn/view/summary.h"

#include <thread>

#include "heed.h"
#include "tests/support/expect.h"

TEST_CASE("a summary has a row for each module and changes nothing") {
  Sequential model{Linear(784, 128), ReLU(), Dropout(0.5), Linear(128, 10)};
  model.get<Linear>(0).weight.requires_grad_(false);
  model.get<Dropout>(2).eval();
  manual_seed(3);
  const Sequential& seen = model;
  const Summary s = summary(seen, zeros({64, 784}));
  CHECK(default_generator().position() == 0);  // eval: no dropout
  CHECK(model.training());
  CHECK_FALSE(model.get<Dropout>(2).training());
  CHECK(s.parameters == 784 * 128 + 128 + 1290);
  CHECK(s.trainable == 128 + 1290);
  CHECK(s.flops == 2 * 64 * (784 * 128 + 128 * 10));
  CHECK(to_string(s) ==
        "path     type        input      output     parameters       FLOPs\n"
        "(model)  Sequential  [64, 784]  [64, 10]      101,770  13,008,896\n"
        "0        Linear      [64, 784]  [64, 128]     100,480  12,845,056\n"
        "1        ReLU        [64, 128]  [64, 128]           0           0\n"
        "2        Dropout     [64, 128]  [64, 128]           0           0\n"
        "3        Linear      [64, 128]  [64, 10]        1,290     163,840\n"
        "parameters 101,770, trainable 1,418, FLOPs 13,008,896");
  model(zeros({2, 784}));  // not observed any more
  CHECK(summary(model, zeros({1, 784})).rows[0].calls == 1);
}

TEST_CASE("a summary of a const model does not change it: another thread sees training mode") {
  struct Probe : Layer<Probe> {
    Tensor forward(const Tensor& x) const {
      CHECK_FALSE(training());
      std::thread([&] { elsewhere = training(); }).join();
      return x;
    }
    mutable bool elsewhere = false;
  };
  const Probe probe;
  CHECK(summary(probe, ones({1})).rows[0].calls == 1);
  CHECK(probe.elsewhere);
  CHECK(probe.training());
}

TEST_CASE("a summary counts both calls of a module, and restores the model after an error") {
  struct Twice : Layer<Twice> {
    Tensor forward(const Tensor& x) const { return inner(inner(x)); }
    void visit(Visitor& v) override { v("inner", inner); }
    Linear inner{4, 4};
  };
  Twice twice;
  CHECK_THROWS_AS(summary(twice, zeros({1, 5})), Error);
  CHECK(twice.inner.training());
  const Summary s = summary(twice, zeros({1, 4}));
  CHECK(s.rows[1].calls == 2);
  CHECK(s.rows[1].flops == 2 * 2 * 16);
  CHECK(s.rows[1].outputs.size() == 1);
  CHECK(s.flops == 64);
}

TEST_CASE("a summary shows one output for attention if its weights are not used") {
  const TransformerEncoder model(8, 2, 1, {.dim_feedforward = 4});
  const Summary s = summary(model, zeros({1, 3, 8}));
  const auto row = std::ranges::find(s.rows, "layers.0.self_attn", &SummaryRow::path);
  REQUIRE(row != s.rows.end());
  CHECK(row->outputs == std::vector<Shape>{{1, 3, 8}});
}
