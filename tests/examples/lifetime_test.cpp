// References to members cannot dangle: members of temporaries return values, or cannot be called.

#include "examples/translate/translation.h"

#include "nn/attention/multi_head.h"
#include "nn/layers/sequential.h"
#include "nn/optim/sgd.h"
#include "tests/support/expect.h"

// LENDS(Name, call): whether x.call compiles for an x of type T.
#define LENDS(Name, ...) \
  template <class T>     \
  concept Name = requires(T&& x) { std::forward<T>(x).__VA_ARGS__; }
LENDS(LendsSizes, begin());
LENDS(LendsPart, template get<Linear>());
LENDS(LendsNumberedPart, template get<Linear>(0));
LENDS(LendsOptions, options());
LENDS(LendsMomentum, momentum(0));
LENDS(LendsModule, module());

TEST_CASE("members of temporaries return values") {
  static_assert(std::same_as<decltype(std::declval<Tensor>().shape()), Shape>);
  static_assert(std::same_as<decltype(std::declval<Tensor>().strides()), Strides>);
  static_assert(std::same_as<decltype(std::declval<Tensor>().requires_grad_()), Tensor>);
  static_assert(std::same_as<decltype(std::declval<Shape>()[0]), int64_t>);
  static_assert(std::same_as<decltype(std::declval<KeyValueCache>().keys()), Tensor>);
  static_assert(std::same_as<decltype(std::declval<KeyValueCache>().values()), Tensor>);
  static_assert(std::same_as<decltype(std::declval<SGD>().params(0)), Tensors>);

  std::vector<int64_t> strides;
  for (const int64_t stride : transpose(ones({2, 3})).strides()) strides.push_back(stride);
  CHECK(strides == std::vector<int64_t>{1, 3});
  const Tensor& leaf = ones({2}).requires_grad_();
  CHECK(leaf.requires_grad());
  const std::string& token = Vocabulary({{"a-token-too-long-to-stand-inside-a-string"}}).token(4);
  CHECK(token == "a-token-too-long-to-stand-inside-a-string");
  for (const CapturedAttention& call : AttentionScope().calls()) FAIL(call.module);
}

TEST_CASE("members that return references cannot be called on temporaries") {
  static_assert(LendsSizes<const Shape&> && !LendsSizes<Shape>);
  static_assert(LendsPart<const AnyCallable<const Tensor&>&> && !LendsPart<AnyCallable<const Tensor&>>);
  static_assert(LendsNumberedPart<const Sequential&> && !LendsNumberedPart<Sequential>);
  static_assert(LendsOptions<SGD&> && !LendsOptions<SGD>);
  static_assert(LendsMomentum<SGD&> && !LendsMomentum<SGD>);
  static_assert(LendsModule<const program::Translation&> && !LendsModule<program::Translation>);
}
