#include <sstream>

#include "tests/support/expect.h"

TEST_CASE("tensors as text: values in columns, then dtype and shape") {
  const struct {
    Tensor x;
    const char* text;
  } rows[] = {
      {tensor(3.5), "3.5000 float32 []"},
      {tensor({1, 2, 3}), "[1, 2, 3] float32 [3]"},
      {tensor({{1, -2.5}, {3, 4}}), "[[ 1.0000, -2.5000],\n [ 3.0000,  4.0000]] float32 [2, 2]"},
      {tensor({{1, 200}, {-3, 4}}, int64), "[[  1, 200],\n [ -3,   4]] int64 [2, 2]"},
      {tensor({true, false}, boolean), "[ true, false] bool [2]"},
      {tensor({0.5, NAN}, float64), "[0.5000,    nan] float64 [2]"},
      {tensor({kInf, -kInf, NAN, 1}), "[ inf, -inf,  nan,    1] float32 [4]"},
      {tensor({-0.0}), "[-0] float32 [1]"},
      // Very large, very small, and both at once.
      {tensor({123456.5, 1}), "[1.2346e+05, 1.0000e+00] float32 [2]"},
      {tensor({99999.5, 1}), "[99999.5000,     1.0000] float32 [2]"},
      {tensor({0.00001, 1}), "[1.0000e-05, 1.0000e+00] float32 [2]"},
      {tensor({1e10, 1}), "[1.0000e+10, 1.0000e+00] float32 [2]"},
      {tensor({1e7, 1}), "[10000000,        1] float32 [2]"},
      {tensor({1e300, -1e-300}, float64), "[ 1.0000e+300, -1.0000e-300] float64 [2]"},
      {full({1}, -9.2233720368547758e18, int64), "[-9223372036854775808] int64 [1]"},
      // Shapes.
      {zeros({0}), "[] float32 [0]"},
      {zeros({2, 0, 3}, boolean), "[] bool [2, 0, 3]"},
      {tensor({{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}}),
       "[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]] float32 [2, 2, 2]"},
      {ones({1, 1, 1, 1, 1, 1, 1, 2}), "[[[[[[[[1, 1]]]]]]]] float32 [1, 1, 1, 1, 1, 1, 1, 2]"},
      // Views.
      {transpose(tensor({{1, 2}, {3, 4}})), "[[1, 3],\n [2, 4]] float32 [2, 2]"},
      {expand(tensor({1, 2}), {2, 2}), "[[1, 2],\n [1, 2]] float32 [2, 2]"},
      {narrow(tensor({1, 2, 3}), 0, 1, 2), "[2, 3] float32 [2]"},
      {Tensor(), "an undefined tensor"},
  };
  for (const auto& row : rows) CHECK(to_string(row.x) == row.text);
  std::ostringstream out;
  const Tensor x = tensor({1, 2});
  out << x << ", " << x.shape() << " of " << x.dtype() << ", at most " << Scalar(3);
  CHECK(out.str() == "[1, 2] float32 [2], [2] of float32, at most 3");
}

TEST_CASE("tensors as text: the middle of large tensors is omitted, long rows are wrapped") {
  CHECK(to_string(arange(0, 1001)) == "[   0,    1,    2, ...,  998,  999, 1000] float32 [1001]");
  CHECK(to_string(reshape(arange(0, 1200, 1, int64), {2, 3, 200})) ==
        "[[[   0,    1,    2, ...,  197,  198,  199],\n"
        "  [ 200,  201,  202, ...,  397,  398,  399],\n"
        "  [ 400,  401,  402, ...,  597,  598,  599]],\n"
        "\n"
        " [[ 600,  601,  602, ...,  797,  798,  799],\n"
        "  [ 800,  801,  802, ...,  997,  998,  999],\n"
        "  [1000, 1001, 1002, ..., 1197, 1198, 1199]]] int64 [2, 3, 200]");
  CHECK(to_string(zeros({3000, 2})) ==
        "[[0, 0],\n [0, 0],\n [0, 0],\n ...,\n [0, 0],\n [0, 0],\n [0, 0]] float32 [3000, 2]");
  const Tensor wide = zeros({7, 100000});
  reset_peak_memory();
  const int64_t before = memory_use().peak;
  to_string(wide);
  CHECK(memory_use().peak - before < 100000);          // x is not copied
  const std::string all = to_string(arange(0, 1000));  // the largest tensor that is printed in full
  CHECK(all.find("...") == std::string::npos);
  CHECK(all.starts_with("[  0,   1,   2,"));
  std::istringstream lines(all);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    CHECK(line.size() <= 100 + sizeof(" float32 [1000]"));
  CHECK(count == 50 + 3);  // 19 on each line
}

TEST_CASE("coordinates, ranges and user lines as text") {
  CHECK(detail::coordinates(7, {2, 2, 3}) == "[1, 0, 1]");
  CHECK(detail::coordinates(0, {}) == "[]");
  CHECK(detail::range_text(tensor({3, -1, 0.25})) == "from -1 to 3");
  CHECK(detail::range_text(tensor({3, kNaN, kInf})) == "from 3 to inf with 1 NaN");
  CHECK(detail::range_text(full({2}, kNaN)) == "with 2 NaN");
  CHECK(detail::range_text(zeros({0})).empty());
  CHECK(detail::user_line({}).empty());
  CHECK(detail::user_line(SourceLocation::current()).starts_with(__FILE__ ":"));
}
