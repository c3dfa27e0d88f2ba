#include "examples/playground/message.h"

#include "tests/support/expect.h"

using namespace program;

TEST_CASE("message: what is appended is read again") {
  std::vector<float> numbers;
  append(numbers, 1.5);
  append(numbers, tensor({{1, 2}, {3, 4}}));
  append(numbers, std::string("a梦"));
  append(numbers, 7);
  RequestReader request("f", numbers);
  CHECK(request.number("x") == 1.5);
  CHECK(values(request.numbers("list", 4)) == Values{1, 2, 3, 4});
  CHECK(request.text("word") == "a梦");
  CHECK_THROWS_WITH(request.end(), "f: the request has 1 numbers too many");
  CHECK(request.integer("count", 0, 7) == 7);
  request.end();
}

TEST_CASE("message: wrong requests name the function and the number") {
  const auto read = [](std::vector<float> numbers) {
    RequestReader request("f", numbers);
    request.integer("count", 1, 3);
  };
  CHECK_THROWS_WITH(read({}), "f: the request ends before count");
  CHECK_THROWS_WITH(read({4}), "f: count is 4; it must be an integer from 1 to 3");
  CHECK_THROWS_WITH(read({1.5F}), "f: count is 1.5; it must be an integer from 1 to 3");
  CHECK_THROWS_WITH(read({NAN}), "f: count is nan; it must be a finite number");
}
