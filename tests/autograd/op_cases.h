#pragma once

#include "autograd/ops/sort.h"

/// The table of operators. A row describes a call of one; op_checks.h uses it to check everything that an
/// operator guarantees: first and second derivatives, layouts, empty and broadcast operands, both precisions.
namespace heed::test {

using Inputs = std::vector<Tensor>;

/// The result of a row: one tensor, several, or values with indices.
struct Outputs : std::vector<Tensor> {
  Outputs() = default;
  Outputs(Tensor y) : vector{std::move(y)} {}
  Outputs(std::vector<Tensor> ys) : vector(std::move(ys)) {}
  Outputs(ValuesIndices pair) : vector{std::move(pair.values), std::move(pair.indices)} {}
};

/// The call of an operator: a lambda without captures, and its source line.
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

/// An argument of a row. A shape in braces alone means random floating numbers in the row's range.
struct Input {
  enum class Kind { floating, constant, integers, positions, mask };
  Input(std::initializer_list<int64_t> sizes) : shape(sizes) {}
  Input(const Shape& shape, Kind kind, double low, double high)
      : shape(shape), kind(kind), low(low), high(high) {}

  bool differentiable() const { return kind == Kind::floating; }
  bool integral() const { return kind != Kind::floating && kind != Kind::constant; }

  Shape shape;
  Kind kind = Kind::floating;
  double low = 0, high = 0;  // replace the range of the row if low < high
};

/// Floating numbers in [low, high).
inline Input between(double low, double high, const Shape& shape) {
  return {shape, Input::Kind::floating, low, high};
}
/// The same for an argument without a gradient.
inline Input constant(double low, double high, const Shape& shape) {
  return {shape, Input::Kind::constant, low, high};
}
/// Floating whole numbers from low to high - 1, some of them equal; without a gradient.
inline Input integers(double low, double high, const Shape& shape) {
  return {shape, Input::Kind::integers, low, high};
}
/// int64 in [0, count).
inline Input positions(int64_t count, const Shape& shape) {
  return {shape, Input::Kind::positions, 0, static_cast<double>(count)};
}
/// bool.
inline Input mask(const Shape& shape) { return {shape, Input::Kind::mask, 0, 2}; }

/// A row. The range must avoid kinks and poles, since numeric gradients use steps of 1e-6 to either side.
struct OpCase {
  const char* op;
  Call call;
  std::vector<Input> inputs;
  double low = -1, high = 1;  // range of the inputs
  /// The inputs broadcast against each other.
  bool broadcasts = false;
  /// Inputs without elements. By default, the first size of the first input becomes 0 in every input that
  /// begins with the same size.
  std::vector<Input> empty = {};
  /// Empty inputs must throw an Error.
  bool refuses_empty = false;
  /// Needs a contiguous first input: other layouts may throw an Error.
  bool refuses_strides = false;
  /// The same by loops over plain numbers, for operators without reference cases.
  Call plain = {};
  /// Writes into its first input; `plain` must return the same values, and recording must throw an Error.
  bool in_place = false;
  /// Other operations that error messages may name, such as "matmul where": those of which this one is
  /// composed, and others in `call`.
  const char* records = "";
  /// Tolerance of float32 against float64, relative to max(1, |value|).
  double float_tolerance = 1e-5;
};

const std::vector<OpCase>& op_cases();

/// "matmul (op_cases.cpp:42)"
std::string name_of(const OpCase& row);

}  // namespace heed::test
