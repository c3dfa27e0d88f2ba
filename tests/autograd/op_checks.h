#pragma once

#include "tests/autograd/op_cases.h"

/// The checks that every row of the table must pass. Each adds its findings to the report.
namespace heed::test {

class Report;
using Check = void(const OpCase& row, Report& report);
using Findings = std::vector<std::string>;

/// First and second derivatives against numeric ones, for every non-empty subset of the differentiable
/// inputs, and with one tensor as every input if all have the same shape.
void check_gradients(const OpCase& row, Report& report);
/// The same, with size 1 in each dimension of each input, and with fewer dimensions.
void check_broadcast(const OpCase& row, Report& report);
/// Transposed, stepped and repeated operands give the same results as contiguous ones.
void check_layouts(const OpCase& row, Report& report);
/// Inputs without elements: the gradients are zero and have the inputs' shapes.
void check_empty(const OpCase& row, Report& report);
/// float32 equals float64 within rounding.
void check_precision(const OpCase& row, Report& report);
/// The operation against its reference implementation, and its fused gradient against the recorded one.
void check_fused(const OpCase& row, Report& report);
/// Overwrites each operand and each result between forward and backward in several ways. The gradient must be
/// exact, or an Error must name the operation and the writer with their lines.
void check_overwritten(const OpCase& row, Report& report);
/// The values against `plain`; in-place operations also return their operand and throw when recorded.
void check_plain(const OpCase& row, Report& report);

/// Passes an undefined tensor, another dtype or another shape as each argument. Errors must name the
/// operation, an operand by its shape or dtype, and the line of the call.
void check_refusals(const OpCase& row, Report& report);

/// All of the above.
void check_row(const OpCase& row, Report& report);

/// The float64 inputs of a row; differentiable ones require a gradient.
std::vector<Tensor> inputs_of(const OpCase& row);

/// The findings of a check for a row.
Findings findings(const OpCase& row, Check* check);

}  // namespace heed::test
