#pragma once

#include <span>
#include <vector>

/// Bench 5, the tape: a formula that the reader types, its graph, and the backward pass step by step.
namespace program {

/// A formula (see expression.h), forward and backward.
///
///   request  text, count of leaves with values, and for each: name (a text), values
///   answer   count of nodes, and for each, inputs before the nodes that use them:
///              label (a text), operation (a text), gradient rule (a text, "" without), values, gradient,
///              count of inputs, inputs (numbers of nodes, from 0)
///            number of the result's node
///            count of backward steps, in the order in which they ran, and for each:
///              node, count of contributions, and for each: node that receives it, 1 if it was summed over a
///              list that the receiver was spread to, otherwise 0, gradient
///            count of leaves, and for each: node, finite differences of the result (values)
///
/// `values` are their count, then the numbers; the count is 0 for a single number, which then follows. The
/// operation is "leaf" for leaves and "constant" for numbers without a gradient, whose gradient is 0. Finite
/// differences are (y(x + h) - y(x - h)) / 2h, one for each number of a leaf. Errors: see expression.h; more
/// than 200 nodes; no leaf, or a leaf alone; a value for a leaf that the formula does not have.
std::vector<float> tape(std::span<const float> request);

/// y = tanh(w * x + b), with values.
std::vector<float> tape_first();

}  // namespace program
