#pragma once

#include "tests/autograd/op_cases.h"

/// What every row of the table must withstand. Each check reports what it found wrong, nothing when all is
/// well.
namespace heed::test {

class Report;
using Check = void(const OpCase& row, Report& report);
using Findings = std::vector<std::string>;

/// First and second derivatives against differences, for every non-empty subset of the inputs that can need
/// one, and with one tensor in the place of all inputs of equal shape.
void check_gradients(const OpCase& row, Report& report);
/// The same with each input in turn of size 1 in each dimension, and with fewer dimensions.
void check_broadcast(const OpCase& row, Report& report);
/// Transposed, stepped and repeated operands give what contiguous ones give.
void check_layouts(const OpCase& row, Report& report);
/// No elements: the gradients are zero and have the inputs' shapes.
void check_empty(const OpCase& row, Report& report);
/// float32 gives what float64 gives, but for rounding.
void check_precision(const OpCase& row, Report& report);
/// The operation against its twin, and the one-pass gradient against the one that is recorded.
void check_fused(const OpCase& row, Report& report);
/// Every operand and every result overwritten between forward and backward, in several ways: the exact
/// gradient, or an Error that names the operation and the writer with their lines.
void check_overwritten(const OpCase& row, Report& report);
/// The values against `plain`; operations in place also give back their operand and refuse to be recorded.
void check_plain(const OpCase& row, Report& report);

/// Called with an undefined tensor, another dtype or another shape in each place: an Error names the
/// operation that was called, an operand by its shape or dtype, and the line of the call.
void check_refusals(const OpCase& row, Report& report);

/// All of the above.
void check_row(const OpCase& row, Report& report);

/// The inputs of a row in float64, with a gradient where it can have one.
std::vector<Tensor> inputs_of(const OpCase& row);

/// What a check finds wrong with a row.
Findings findings(const OpCase& row, Check* check);

}  // namespace heed::test
