#include "nn/optim/averaged_model.h"

#include "nn/files/checkpoint.h"
#include "nn/layers/linear.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

TEST_CASE("AveragedModel: the mean of all updates") {
  // A parameter, and a buffer that counts.
  struct Counted : Layer<Counted> {
    Tensor forward(const Tensor& x) const { return x; }
    void visit(Visitor& v) override {
      v("w", w);
      v("count", count);
    }
    Parameter w = zeros({2}, float64);
    Buffer count = zeros({}, int64);
  };
  Counted model;
  AveragedModel averaged(model);
  model.w = full({2}, 9, float64);  // the mean has its own values
  CHECK(values(averaged.module().at("w")) == Values{0, 0});
  for (const double value : {1., 2., 6.}) {
    model.w = full({2}, value, float64);
    model.count = full({}, value, int64);
    averaged.update_parameters(model);
  }
  CHECK(averaged.n_averaged() == 3);
  CHECK(averaged.module().at("w").to_vector<double>()[1] == doctest::Approx(3));
  CHECK(averaged.module().at("count").item<int64_t>() == 6);
  CHECK_FALSE(averaged.module().at("w").requires_grad());
  model.load_state_dict(averaged.module());
  CHECK(model.w.to_vector<double>()[0] == doctest::Approx(3));
}

TEST_CASE("AveragedModel: an exponential moving average, as get_ema_multi_avg_fn(0.9)") {
  Linear model(1, 1, {.bias = false});
  AveragedModel averaged(model, {.ema_decay = 0.9});
  Values means;
  for (const double value : {1., 2., 6.}) {
    model.weight = full({1, 1}, value);
    averaged.update_parameters(model);
    means.push_back(averaged.module().at("weight").item());
  }
  CHECK(largest_difference(means, {1, 1.1, 1.59}) < 1e-6);
  CHECK_ERROR(AveragedModel(model, {.ema_decay = 1.5}),
              "AveragedModel: ema_decay is 1.5; it must lie in [0, 1]");
}

TEST_CASE("AveragedModel: resumes from a checkpoint; another model throws and changes nothing") {
  const Folder folder;
  Linear model(2, 3);
  AveragedModel averaged(model);
  averaged.update_parameters(model);
  Checkpoint state(folder / "checkpoints");
  state.add("averaged", averaged);
  state.save(1);
  model.weight = full({3, 2}, 5);
  AveragedModel whole = averaged;
  whole.update_parameters(model);
  averaged.update_parameters(model);
  CHECK(state.load());
  CHECK(averaged.n_averaged() == 1);
  averaged.update_parameters(model);
  CHECK(largest_difference(averaged.module().at("weight"), whole.module().at("weight")) == 0);

  const Linear other(2, 4), fewer(2, 3, {.bias = false});
  CHECK_ERROR_HAS(averaged.update_parameters(other), "bias is float32 [4]; it was float32 [3]");
  CHECK_ERROR_HAS(averaged.update_parameters(fewer), "there is no bias");
  CHECK_ERROR_HAS(averaged.load_state_dict(model.state_dict()), "n_averaged is no count");
  StateDict more = averaged.state_dict();
  more["module.scale"] = ones({1});
  CHECK_ERROR_HAS(averaged.load_state_dict(more), "scale is of another model");
  more.erase("module.scale");
  more["weight"] = more["module.weight"];
  CHECK_ERROR_HAS(averaged.load_state_dict(more), "weight does not begin with module.");
  CHECK(averaged.n_averaged() == 2);
}
