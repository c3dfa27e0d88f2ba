#include "tests/support/expect.h"

TEST_CASE("a node copies its name") {
  const Tensor x = leaf(2);
  std::string name = "a name that is no literal, and long";
  const std::string before = name;
  const Tensor y = record(name.c_str(), fresh(x), {{x, [](const Tensor& g) { return g; }}});
  const Tensor z = record(
      name.c_str(), fresh(x), {x}, [](const Tensor& g, const Tensor&) { return Gradients{g}; }, nullptr);
  name.assign(name.size(), '?');
  CHECK(Node::of(y)->name == before);
  CHECK(Node::of(z)->name == before);
}

TEST_CASE("a rule whose move constructor throws leaks nothing") {
  struct Fragile {
    Fragile() = default;
    Fragile(Fragile&&) { throw Error("no room"); }
    Tensor operator()(const Tensor& g) const { return g; }
  };
  const Tensor x = leaf(1);
  const auto token = std::make_shared<int>();
  const int64_t uses = Node::of(x)->references.value();
  CHECK(message([&] {
          record("fragile", fresh(x), {{x, [token](const Tensor& g) { return g; }}, {x, Fragile()}});
        }) == "no room");
  CHECK(token.use_count() == 1);
  CHECK(Node::of(x)->references.value() == uses);
}
