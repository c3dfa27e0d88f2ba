#pragma once

#include "nn/onnx/trace.h"

/// The form that each operation of heed has in ONNX.
namespace heed::onnx {

/// The form of an operation:
///
///   Abs(a)                          a call; a, b, c, ... are the operation's inputs
///   Softmax(a; axis=dim)            ONNX's attributes follow the semicolon; `dim` is an argument, see below
///   CumSum(a, dim; reverse)         as an input, an argument is a tensor; `reverse` is reverse=reverse
///   Mul(a, 0.5)  Squeeze(a, [0])    a number of the dtype of a; a list of int64
///   d=Sub(a, b) | Mul(d, d)         a name for a value; d.1 is the second output of its call
///   Gather(c, $order)               a form of its own
///
/// Operands that are not given: a sum or product is the other one, a Where without a condition is its second
/// operand, and any other call without its first operand is not given either.
///
/// Or its part with a name of its own, such as "$order". Throws if there is none.
std::string_view form_of(const Step& step, int64_t opset, const std::string& part = "");
/// An argument in a form: a number, a 'text', an attribute of the operation, or one that is computed from the
/// operation by a row of the table in forms.cpp, such as `shape`. Throws if there is none.
TracedValue argument(const std::string& name, const Step& step);

}  // namespace heed::onnx
