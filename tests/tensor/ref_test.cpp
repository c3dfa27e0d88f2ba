#include "tensor/ref.h"

#include <thread>

#include "tests/support/expect.h"

namespace {

struct Object {
  explicit Object(int& count) : released(count) {}
  void release() { ++released; }
  RefCount references;
  int& released;
};

}  // namespace

TEST_CASE("an object is released with its last reference") {
  int released = 0;
  Object object(released);
  {
    Ref<Object> a(&object);
    CHECK(a.unique());
    CHECK(a.get() == &object);
    CHECK(&*a == &object);
    {
      const Ref<Object> b = a;
      CHECK_FALSE(a.unique());
      CHECK(object.references.value() == 2);
    }
    CHECK(a.unique());
    Ref<Object>& alias = a;
    a = alias;
    a = std::move(alias);
    CHECK(a);
    Ref<Object> moved = std::move(a);
    CHECK(moved.unique());
    CHECK_FALSE(a);  // NOLINT: tests the moved-from reference
    a = moved;
    moved = Ref<Object>();
    CHECK_FALSE(moved);
    CHECK(a.unique());
    CHECK(released == 0);
  }
  CHECK(released == 1);
  CHECK_FALSE(Ref<Object>().unique());
  CHECK_FALSE(Ref<Object>(nullptr));
}

TEST_CASE("threads share references" * doctest::test_suite("threads")) {
  int released = 0;
  Object object(released);
  {
    const Ref<Object> first(&object);
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
      threads.emplace_back([first] {
        for (int i = 0; i < 20000; ++i) {
          const Ref<Object> copy = first;
          std::vector<Ref<Object>> more(3, copy);
        }
      });
    for (std::thread& thread : threads) thread.join();
    threads.clear();
    CHECK(object.references.value() == 1);
    CHECK(released == 0);
  }
  CHECK(released == 1);
}

TEST_CASE("single_threaded: false while there is another thread") {
  bool seen = true;
  std::thread([&] { seen = heed::single_threaded(); }).join();
  CHECK_FALSE(seen);
}
