#include "autograd/operand.h"

#include "tests/support/expect.h"

static std::source_location line_of(Operand x) { return x.line(); }

// The common dtype of both operands, or the error.
static std::string dtype_of_both(Operand a, Operand b) {
  const std::string error = message([&] { match_dtypes(a, b); });
  return error.empty() ? to_string(a->dtype()) : error;
}

TEST_CASE("an operand holds a tensor or a number, and its source line") {
  const Tensor x = ones({2, 3});
  const Operand tensor_operand = x, number = 2, real = 2.5f, none;
  CHECK(tensor_operand.tensor().same_as(x));
  CHECK(tensor_operand->dim() == 2);
  CHECK_FALSE(tensor_operand.is_number());
  CHECK(number.is_number());
  CHECK(number.number().to<int64_t>() == 2);
  CHECK(real.number().to<double>() == 2.5);
  CHECK_FALSE(number.defined());
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  CHECK(message([&] { none->shape(); }).find("a tensor that is needed here is undefined") == 0);

  CHECK(line_of(x).line() == __LINE__);
  CHECK(line_of(3).line() == __LINE__);
  CHECK(std::string(line_of(x).file_name()) == __FILE__);
}

TEST_CASE("an operand that is assigned another tensor keeps its line") {
  Operand x = 3;
  const auto line = x.line().line();
  x.assign(ones({2}));
  CHECK_FALSE(x.is_number());
  CHECK(x.tensor().shape() == Shape{2});
  CHECK(x.line().line() == line);
  const Operand copy = x;  // holds the tensor itself
  x.assign(zeros({1}));
  CHECK(copy->shape() == Shape{2});
}

TEST_CASE("an operand keeps a temporary tensor alive") {
  const Tensor x = ones({2});
  const Operand sum = x + x;
  zeros({2});  // would reuse the memory of a freed tensor
  CHECK(values(sum) == Values{2, 2});
  const Operand copy = sum;
  CHECK(copy.tensor().same_as(sum.tensor()));
}

TEST_CASE("an integer beyond 2^53 combines exactly with an int64 tensor") {
  const int64_t big = (int64_t{1} << 53) + 1;
  const Tensor x = tensor({big, big - 1}, int64);
  CHECK((x == big).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK((x + big).to_vector<int64_t>() == std::vector<int64_t>{2 * big, 2 * big - 1});
}

TEST_CASE("numbers take the dtype of the other operand") {
  const Tensor f = ones({2}), d = ones({3}, float64), i = ones({}, int64), b = ones({1}, boolean);
  CHECK(dtype_of_both(1.5, f) == "float32");
  CHECK(dtype_of_both(1.5, d) == "float64");
  CHECK(dtype_of_both(-2, i) == "int64");
  CHECK(dtype_of_both(2.0, i) == "int64");
  CHECK(dtype_of_both(true, b) == "bool");
  CHECK(dtype_of_both(1, 2.5) == "float32");
  CHECK(dtype_of_both(d, 1) == "float64");

  Operand number = 1.5;
  Operand other = d;
  match_dtypes(number, other);
  CHECK(number->shape() == Shape{});
  CHECK(values(number) == Values{1.5});
}

TEST_CASE("mismatched dtypes throw") {
  const Tensor f = ones({2}), d = ones({3}, float64), i = ones({}, int64), b = ones({1}, boolean);
  CHECK(dtype_of_both(1.5, i) ==
        "the number 1.5 does not fit a int64 tensor; convert the tensor with to(x, float32)");
  CHECK(dtype_of_both(2, b).find("the number 2 does not fit a bool tensor") == 0);
  CHECK(dtype_of_both(f, d).starts_with(
      "a is float32 [2], b is float64 [3]; operands must have one dtype, convert one with to(x, float64)"));
  CHECK(contains(dtype_of_both(f, i), "convert one with to(x, float32)"));
  CHECK(contains(dtype_of_both(i, f), "convert one with to(x, float32)"));

  CHECK_ERROR(check_floating(i),
              "x is int64 []; this operation is for float32 and float64, convert with to(x, float32)");
  CHECK(message([&] { check_floating(f), check_floating(d), check_indices(i); }).empty());
  CHECK_ERROR(check_indices(f),
              "positions must be int64, and they are float32 [2]; convert with to(x, int64)");
  CHECK(check_dim(f, -1) == 0);
  CHECK_ERROR(check_dim(f, 1), "dim 1 is out of range for a tensor of rank 1: use -1 to 0");
}
