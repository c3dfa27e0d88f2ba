#include "nn/view/capture.h"

#include "nn/attention/pooling.h"
#include "tests/support/expect.h"

TEST_CASE("AttentionScope: the weights of every call by module path and step; results stay the same") {
  struct Two : Layer<Two> {
    Tensor forward(const Tensor& x) const {
      const Tensor y = first(x, x).output;
      return second(second(y, x).output, x).output;
    }
    void visit(Visitor& v) override {
      v("first", first);
      v("second", second);
    }
    AttentionPooling<DotScore> first{DotScore()};
    AttentionPooling<AdditiveScore> second{AdditiveScore(4, 4, 3)};
  };
  const Two model;
  const Tensor x = randn({2, 5, 4});
  const Tensor outside = model(x);
  for (const bool recording : {true, false}) {
    const GradMode mode(recording);
    AttentionScope scope;
    const Tensor inside = model(x);
    CHECK(values(inside) == values(outside));
    REQUIRE(scope.calls().size() == 3);
    CHECK(scope.calls()[0].module == "first");
    CHECK(scope.calls()[1].module == "second");
    CHECK(scope.calls()[1].step == 0);
    CHECK(scope.calls()[2].step == 1);
    CHECK(largest_difference(scope.weights("first"), softmax(matmul(x, transpose(x)), -1)) == 0);
    CHECK_FALSE(scope.weights("second", 1).requires_grad());
    CHECK(scope.weights("second", 1).shape() == Shape{2, 5, 5});
  }
  CHECK_FALSE(attention_captured());
}

TEST_CASE("AttentionScope: scopes nest; calls outside modules have no path") {
  AttentionScope outer;
  const Tensor weights = full({1, 2}, 0.5);
  attention_pool(weights, ones({2, 3}));
  {
    const AttentionScope inner;
    attention_pool(weights, ones({2, 3}));
    CHECK(inner.calls().size() == 1);
    CHECK(inner.calls()[0].step == 0);
  }
  attention_pool(weights, ones({2, 3}));
  CHECK(outer.calls().size() == 3);
  CHECK(outer.calls()[2].step == 2);
  CHECK(values(outer.weights("", 2)) == Values{0.5, 0.5});
  CHECK_ERROR(
      outer.weights("decoder"),
      "AttentionScope: there is no call 0 of the module \"decoder\"; there are: \"\" 0, \"\" 1, \"\" 2");
}

TEST_CASE("AttentionScope: scopes may end in any order") {
  const Tensor weights = full({1, 2}, 0.5);
  auto first = std::make_unique<AttentionScope>(), second = std::make_unique<AttentionScope>();
  first.reset();
  attention_pool(weights, ones({2, 3}));
  CHECK(second->calls().size() == 1);
  second.reset();
  CHECK_FALSE(attention_captured());
}

TEST_CASE("AttentionScope: recorded weights may be used for attention again, inside two scopes") {
  AttentionScope outer;
  AttentionScope inner;
  attention_pool(full({1, 2}, 0.5), ones({2, 3}));
  for (int i = 0; i < 4; ++i) attention_pool(inner.calls()[0].weights, ones({2, 3}));
  REQUIRE(outer.calls().size() == 5);
  for (const CapturedAttention& call : outer.calls()) CHECK(values(call.weights) == Values{0.5, 0.5});
}
