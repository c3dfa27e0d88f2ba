// What the public classes hand out lives on when the object was a temporary, or cannot be asked of one.
#include <doctest/doctest.h>

#include <concepts>
#include <string>
#include <utility>

#include "examples/translation.h"
#include "heed.h"

using namespace heed;

namespace {

template <class T>
concept LendsSizes = requires(T&& x) {
  std::forward<T>(x).begin();
};
template <class T>
concept LendsPart = requires(T&& x) {
  std::forward<T>(x).template get<Linear>();
};
template <class T>
concept LendsNumberedPart = requires(T&& x) {
  std::forward<T>(x).template get<Linear>(0);
};
template <class T>
concept LendsOptions = requires(T&& x) {
  std::forward<T>(x).options();
};
template <class T>
concept LendsMomentum = requires(T&& x) {
  std::forward<T>(x).momentum(0);
};
template <class T>
concept LendsModule = requires(T&& x) {
  std::forward<T>(x).module();
};

}  // namespace

TEST_CASE("what a temporary gives is the caller's") {
  static_assert(std::same_as<decltype(std::declval<Tensor>().shape()), Shape>);
  static_assert(std::same_as<decltype(std::declval<Tensor>().strides()), Strides>);
  static_assert(std::same_as<decltype(std::declval<Tensor>().requires_grad_()), Tensor>);
  static_assert(std::same_as<decltype(std::declval<Shape>()[0]), int64_t>);
  static_assert(std::same_as<decltype(std::declval<KeyValueCache>().keys()), Tensor>);
  static_assert(std::same_as<decltype(std::declval<KeyValueCache>().values()), Tensor>);
  static_assert(std::same_as<decltype(std::declval<SGD>().params(0)), std::vector<Tensor>>);

  std::vector<int64_t> strides;
  for (const int64_t stride : transpose(ones({2, 3})).strides()) strides.push_back(stride);
  CHECK(strides == std::vector<int64_t>{1, 3});
  const Tensor& leaf = ones({2}).requires_grad_();
  CHECK(leaf.requires_grad());
  const std::string& token = Vocabulary({{"a-token-too-long-to-stand-inside-a-string"}}).token(4);
  CHECK(token == "a-token-too-long-to-stand-inside-a-string");
  for (const CapturedAttention& call : AttentionScope().calls()) FAIL(call.module);
}

TEST_CASE("what would die with a temporary is not lent") {
  static_assert(LendsSizes<const Shape&> && !LendsSizes<Shape>);
  static_assert(LendsPart<const AnyPart<const Tensor&>&> && !LendsPart<AnyPart<const Tensor&>>);
  static_assert(LendsNumberedPart<const Sequential&> && !LendsNumberedPart<Sequential>);
  static_assert(LendsOptions<SGD&> && !LendsOptions<SGD>);
  static_assert(LendsMomentum<SGD&> && !LendsMomentum<SGD>);
  static_assert(LendsModule<const program::Translation&> && !LendsModule<program::Translation>);
}
