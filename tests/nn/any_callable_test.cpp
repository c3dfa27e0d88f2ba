#include "nn/any_callable.h"

#include "nn/attention/pooling.h"
#include "nn/layers/dropout.h"
#include "tests/support/expect.h"

using Part = AnyCallable<const Tensor&>;

TEST_CASE("AnyCallable: a layer, a function object or a lambda; get returns it if the type is right") {
  const Tensor x = ones({1, 2});
  CHECK(values(Part([](const Tensor& y) { return 2 * y; })(x)) == Values{2, 2});
  int64_t calls = 0;
  const Part counts([&calls, n = 0](const Tensor& y) mutable { return calls = ++n, y; });
  counts(x), counts(x);
  CHECK(calls == 2);
  const Part linear = Linear(2, 3);
  CHECK(linear(x).shape() == Shape{1, 3});
  CHECK(linear.get<Linear>()->out_features() == 3);
  CHECK(linear.get<Dropout>() == nullptr);
}

TEST_CASE("AnyCallable: copies share nothing; assignment writes in place or replaces another type") {
  Part a = Linear(2, 2), b = a;
  const Tensor at_a = a.get<Linear>()->weight;
  CHECK_FALSE(at_a.same_as(b.get<Linear>()->weight));
  b.get<Linear>()->weight = full({2, 2}, 5);
  a = b;
  CHECK(at_a.same_as(a.get<Linear>()->weight));
  CHECK(values(at_a) == Values(4, 5));
  const Part& self = a;
  a = self;
  CHECK(at_a.same_as(a.get<Linear>()->weight));
  a = Part(Dropout());
  CHECK(a.get<Linear>() == nullptr);
  CHECK(values(at_a) == Values(4, 5));
}

TEST_CASE("AnyCallable: a part that returns nothing is an error") {
  const Part none = [](const Tensor&) { return Tensor(); };
  CHECK_ERROR_HAS(none(ones({3})), "AnyCallable: the part that was called returned an undefined tensor");
}

TEST_CASE("AnyCallable: a moved-from object is empty and can be copied, visited and assigned") {
  AttentionPooling<AnyScore> pooling{AdditiveScore(2, 2, 3)};
  const AttentionPooling<AnyScore> moved = std::move(pooling);
  CHECK(moved.parameters().size() == 3);
  const auto copy = pooling;  // NOLINT: tests the moved-from layer
  CHECK(copy.parameters().empty());
  CHECK_ERROR_HAS(copy(ones({1, 2}), ones({1, 2})),
                  "AnyCallable: there is nothing to call; what it held was moved to another place");
  auto full = moved;
  full = copy;
  CHECK(full.parameters().empty());
  full = moved;
  CHECK(full.parameters().size() == 3);
}
