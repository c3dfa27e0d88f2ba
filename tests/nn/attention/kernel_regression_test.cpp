#include "nn/attention/kernel_regression.h"

#include "autograd/ops/elementwise.h"
#include "nn/attention/pooling.h"
#include "tests/support/expect.h"

using enum SmoothingKernel;

constexpr SmoothingKernel kKernels[] = {gaussian, boxcar, epanechnikov, triangular, constant};

static Tensor numbers(const Values& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

static bool has_nan(const Tensor& x) { return any(isnan(x)).item() != 0; }

// covers: C-000-06
TEST_CASE("kernels: values of the formulas") {
  const Tensor squares = numbers({0, 0.25, 1, 4});
  const auto of = [&](SmoothingKernel kernel) { return kernel_value(kernel, squares).to_vector<double>(); };
  CHECK(largest_difference(of(gaussian), values(exp(-squares / 2))) < 1e-14);
  CHECK(of(boxcar) == Values{1, 1, 0, 0});
  CHECK(of(epanechnikov) == Values{1, 0.75, 0, 0});
  CHECK(of(triangular) == Values{1, 0.5, 0, 0});
  CHECK(of(constant) == Values{1, 1, 1, 1});
}

// covers: C-000-05 C-000-06
TEST_CASE("kernel regression: the constant kernel is average pooling") {
  const Tensor x = numbers({0, 1, 5}), y = numbers({2, 4, 9});
  const NadarayaWatson average({.kernel = constant, .dtype = float64});
  for (const double prediction : average(numbers({-7, 0.5, 100}), x, y).to_vector<double>())
    CHECK(prediction == doctest::Approx(5).epsilon(1e-15));
}

// covers: C-000-07
TEST_CASE("kernel regression: nearer keys weigh more, and a boxcar over the k nearest is their mean") {
  manual_seed(7);
  const Tensor q = rand({20}, float64), k = rand({15}, float64);
  for (const SmoothingKernel kernel : kKernels) {
    INFO(name_of(kernel));
    const auto w = kernel_weights(q, k, kernel, 2).to_vector<double>();
    const auto d = squared_distances(q, k, 1).to_vector<double>();
    for (size_t i = 0; i < 20; ++i) {
      double total = 0;
      for (size_t a = 0; a < 15; ++a) {
        total += w[i * 15 + a];
        for (size_t b = 0; b < 15; ++b)
          if (d[i * 15 + a] < d[i * 15 + b]) REQUIRE(w[i * 15 + a] >= w[i * 15 + b]);
      }
      CHECK((total == 0 || total == doctest::Approx(1).epsilon(1e-12)));
    }
  }
  // A boxcar that reaches the three keys nearest to 0 gives the mean of three nearest neighbors.
  const Tensor x = numbers({-0.4, 0.1, 0.3, 0.9, -2}), y = numbers({3, 6, 9, 100, 100});
  const NadarayaWatson box({.kernel = boxcar, .w = 2, .dtype = float64});
  CHECK(box(numbers({0}), x, y).item() == doctest::Approx(6).epsilon(1e-15));
}

// covers: C-000-11
TEST_CASE("kernel regression: the Gaussian kernel is a softmax, with equal gradients") {
  manual_seed(3);
  const auto leaf = [](const Tensor& x) { return x.requires_grad_(), x; };
  const Tensor q = leaf(randn({6}, float64)), k = leaf(randn({9}, float64)), v = leaf(randn({9}, float64));
  const Tensor w = leaf(full({1}, 1.7, float64));
  const Tensor difference = (unsqueeze(q, 1) - unsqueeze(k, 0)) * w;
  const Tensor by_softmax = attention_pool(softmax(-square(difference) / 2, 1), v);
  const Tensor value = kernel_value(gaussian, square(difference));
  const Tensor by_kernel = attention_pool(value / sum(value, 1, true), v);
  const Tensor by_library = attention_pool(kernel_weights(q, k, gaussian, w), v);
  const Tensor direction = randn({6}, float64);
  const auto gradients_of = [&](const Tensor& y) {
    return grad({sum(y * direction)}, {q, k, v, w}, {.retain_graph = true});
  };
  const auto expected = gradients_of(by_softmax);
  for (const Tensor& other : {by_kernel, by_library}) {
    CHECK(largest_difference(other, by_softmax) < 1e-14);
    const auto gradients = gradients_of(other);
    for (size_t i = 0; i < 4; ++i) CHECK(largest_difference(gradients[i], expected[i]) < 1e-13);
  }
  // w only enters by its square.
  CHECK(largest_difference(kernel_weights(q, k, gaussian, -w), kernel_weights(q, k, gaussian, w)) == 0);
}

// covers: C-100-02 C-000-06
TEST_CASE("kernel regression: a query without support gives 0 with gradient 0, never NaN") {
  for (const SmoothingKernel kernel : {boxcar, epanechnikov, triangular}) {
    INFO(name_of(kernel));
    const Tensor q = numbers({0, 50}).requires_grad_(), k = numbers({0, 0.5}).requires_grad_();
    const Tensor v = numbers({1, 3}).requires_grad_(), w = full({1}, 1, float64).requires_grad_();
    const Tensor weights = kernel_weights(q, k, kernel, w);
    const Tensor y = attention_pool(weights, v);
    CHECK(select(y, 0, 1).item() == 0);
    CHECK(sum(select(weights, 0, 1)).item() == 0);
    sum(y).backward();
    for (const Tensor& x : {q, k, v, w})
      if (x.grad().defined()) CHECK(!has_nan(x.grad()));
    CHECK(v.grad().defined());
    if (q.grad().defined()) CHECK(select(q.grad(), 0, 1).item() == 0);
  }
  for (const SmoothingKernel kernel : kKernels) {  // all keys are masked
    INFO(name_of(kernel));
    const Tensor q = numbers({0, 1}).requires_grad_(), v = numbers({1, 3});
    const Tensor mask = tensor({{1, 1}, {0, 0}}, boolean);
    const Tensor y = attention_pool(kernel_weights(q, numbers({0, 0.5}), kernel, 0.5, mask), v);
    CHECK(select(y, 0, 1).item() == 0);
    if (!y.requires_grad()) continue;
    sum(y).backward();
    CHECK(!has_nan(q.grad()));
    CHECK(select(q.grad(), 0, 1).item() == 0);
  }
  // At a distance where exp underflows, the nearest key has all weight; another distance overflows its
  // square.
  CHECK(values(kernel_weights(numbers({1e6}), numbers({0, 1}), gaussian, 1)) == Values{0, 1});
  CHECK(!has_nan(kernel_weights(full({1}, 1e30), full({2}, 0), gaussian, 1)));
}

// covers: C-000-12
TEST_CASE("NadarayaWatson: a fixed w is no parameter, but is saved and loaded") {
  NadarayaWatson fixed({.w = 3});
  CHECK(fixed.parameter_count() == 0);
  CHECK(fixed.state_dict().at("w").item() == 3);
  NadarayaWatson learned({.w = 2, .learn = true});
  CHECK(learned.parameter_count() == 1);
  learned.load_state_dict(fixed.state_dict());
  CHECK(learned.w.item() == 3);
  CHECK_ERROR(NadarayaWatson({.kernel = boxcar, .learn = true}),
              "NadarayaWatson: the boxcar kernel has no slope in w, so w cannot be learned; take gaussian, "
              "epanechnikov or triangular");
}

// covers: C-000-18
TEST_CASE("NadarayaWatson: vector queries and values of different widths") {
  manual_seed(5);
  const Tensor q = randn({2, 4, 3}, float64), k = randn({2, 6, 3}, float64), v = randn({2, 6, 5}, float64);
  const NadarayaWatson model({.w = 0.7, .dtype = float64});
  const Tensor y = model(q, k, v);
  CHECK(y.shape() == Shape{2, 4, 5});
  const Tensor one = select(select(q, 0, 1), 0, 2);  // query 2 of batch entry 1, by hand
  const Tensor distance = sum(square(select(k, 0, 1) - one), 1);
  const Tensor alpha = softmax(-0.5 * 0.49 * distance, 0);
  CHECK(largest_difference(select(select(y, 0, 1), 0, 2), mv(transpose(select(v, 0, 1)), alpha)) < 1e-14);
  CHECK_ERROR_HAS(
      model(randn({4, 2}, float64), randn({6, 3}, float64), randn({6}, float64)),
      "squared_distances: queries are [4, 2], keys [6, 3]; a distance needs vectors of one width");
}

// covers: C-000-14 C-000-15
TEST_CASE("NadarayaWatson: for large w it memorizes the points, unless each is excluded from its own keys") {
  const Tensor x = numbers({0, 1, 2, 3}), y = numbers({1, -1, 1, -1});
  const auto loss = [&](double w, OwnPoint own) {
    const NadarayaWatson model({.w = w, .dtype = float64});
    return mean(square(model(x, x, y, own) - y)).item();
  };
  CHECK(loss(10, OwnPoint::keep) < 1e-20);
  CHECK(loss(10, OwnPoint::keep) < loss(1, OwnPoint::keep));
  CHECK(loss(10, OwnPoint::exclude) == doctest::Approx(4).epsilon(1e-12));
  CHECK(loss(-1, OwnPoint::exclude) == loss(1, OwnPoint::exclude));
  const NadarayaWatson model({.dtype = float64});
  CHECK_ERROR_HAS(model(numbers({1}), x, y, OwnPoint::exclude),
                  "NadarayaWatson: queries are [1], keys [4]; to exclude each point from its own prediction, "
                  "give the keys as queries");
}
