#pragma once

#include "tests/autograd/op_cases.h"

/// What every row of the table must withstand. Each check returns what it found wrong, nothing when all is
/// well.
namespace heed::test {

using Findings = std::vector<std::string>;

/// First and second derivatives against differences, for every non-empty subset of the inputs that can need
/// one, and with one tensor in the place of all inputs of equal shape.
Findings check_gradients(const OpCase& row);
/// The same with each input in turn of size 1 in each dimension, and with fewer dimensions.
Findings check_broadcast(const OpCase& row);
/// Transposed, stepped and repeated operands give what contiguous ones give.
Findings check_layouts(const OpCase& row);
/// No elements: the gradients are zero and have the inputs' shapes.
Findings check_empty(const OpCase& row);
/// float32 gives what float64 gives, but for rounding.
Findings check_precision(const OpCase& row);
/// The operation against its twin, and the one-pass gradient against the one that is recorded.
Findings check_fused(const OpCase& row);
/// Every operand and every result overwritten between forward and backward, in several ways: the exact
/// gradient, or an Error that names the operation and the writer with their lines.
Findings check_overwritten(const OpCase& row);
/// The values against `plain`; operations in place also give back their operand and refuse to be recorded.
Findings check_plain(const OpCase& row);

/// Called with an undefined tensor, another dtype or another shape in each place: an Error names the operation that
/// was called, an operand by its shape or dtype, and the line of the call.
Findings check_refusals(const OpCase& row);

/// All of the above.
Findings check_row(const OpCase& row);

}  // namespace heed::test
