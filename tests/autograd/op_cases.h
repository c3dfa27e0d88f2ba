#pragma once

#include "autograd/ops/sort.h"

/// The table of operators. A row says how to call one; op_checks.h derives from it everything that an
/// operator promises: gradients of first and second order, layouts, empty and broadcast operands, both
/// precisions.
namespace heed::test {

using Inputs = std::vector<Tensor>;

/// What a row returns: one tensor, several, or values with indices.
struct Outputs : std::vector<Tensor> {
  Outputs() = default;
  Outputs(Tensor y) : vector{std::move(y)} {}
  Outputs(std::vector<Tensor> ys) : vector(std::move(ys)) {}
  Outputs(ValuesIndices pair) : vector{std::move(pair.values), std::move(pair.indices)} {}
};

/// How a row calls its operator: a lambda without captures, and the line where it stands.
class Call {
 public:
  Call() = default;
  template <class F>
    requires(std::is_empty_v<F> && std::is_default_constructible_v<F>)
  Call(F, std::source_location line = std::source_location::current())
      : line(line), call_([](const Inputs& in) -> Outputs { return F{}(in); }) {}
  Outputs operator()(const Inputs& in) const { return call_(in); }
  explicit operator bool() const { return call_ != nullptr; }

  std::source_location line;

 private:
  Outputs (*call_)(const Inputs&) = nullptr;
};

/// An argument of a row. Braces alone are the shape of random floating numbers in the row's range.
struct Input {
  enum class Kind { floating, constant, integers, positions, mask };
  Input(std::initializer_list<int64_t> sizes) : shape(sizes) {}
  Input(const Shape& shape, Kind kind, double low, double high)
      : shape(shape), kind(kind), low(low), high(high) {}

  bool differentiable() const { return kind == Kind::floating; }
  bool integral() const { return kind != Kind::floating && kind != Kind::constant; }

  Shape shape;
  Kind kind = Kind::floating;
  double low = 0, high = 0;  // a range of its own where low < high
};

/// Floating numbers in [low, high).
inline Input between(double low, double high, const Shape& shape) {
  return {shape, Input::Kind::floating, low, high};
}
/// The same, of an argument that has no gradient.
inline Input constant(double low, double high, const Shape& shape) {
  return {shape, Input::Kind::constant, low, high};
}
/// Floating whole numbers from low to high - 1, so that some are equal; they have no gradient.
inline Input integers(double low, double high, const Shape& shape) {
  return {shape, Input::Kind::integers, low, high};
}
/// int64 in [0, count).
inline Input positions(int64_t count, const Shape& shape) {
  return {shape, Input::Kind::positions, 0, static_cast<double>(count)};
}
/// bool.
inline Input mask(const Shape& shape) { return {shape, Input::Kind::mask, 0, 2}; }

/// A row. Choose the range away from kinks and poles: differences are taken 1e-6 to either side.
struct OpCase {
  const char* op;
  Call call;
  std::vector<Input> inputs;
  double low = -1, high = 1;  // of the inputs' values
  /// Inputs may have size 1, or a leading dimension less, where the others have more.
  bool broadcasts = false;
  /// Inputs of zero size to try; when left out, the first size of the first input, wherever an input starts
  /// with it, becomes 0.
  std::vector<Input> empty = {};
  /// An operand of zero size must be an Error.
  bool refuses_empty = false;
  /// Needs its first input contiguous: other layouts may be an Error.
  bool refuses_strides = false;
  /// The same by loops over plain numbers, where reference cases have nothing.
  Call plain = {};
  /// Writes into its first input; `plain` must give the same values, and recording must be an Error.
  bool in_place = false;
  /// Other operations that error messages may name: those that this one records, being said in terms of them,
  /// and those that `call` makes beside it: "matmul where".
  const char* records = "";
  /// Of float32 against float64, relative to the larger of 1 and the value.
  double float_tolerance = 1e-5;
};

const std::vector<OpCase>& op_cases();

/// "matmul (op_cases.cpp:42)"
std::string name_of(const OpCase& row);

}  // namespace heed::test
