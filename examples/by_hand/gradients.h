#pragma once

#include "examples/shared/program.h"

/// The examples of attention_by_hand that are about gradients.
namespace program {

/// With K = V the slope of the output in the query is the covariance of the keys.
void covariance(Program& self);
/// Why backward needs an order, and why the gradient of a broadcast operand is a sum.
void graph(Program& self);

}  // namespace program
