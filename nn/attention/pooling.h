#pragma once

#include "autograd/operand.h"
#include "tensor/tensor.h"

namespace heed {

/// Attention pooling: a query q against pairs of a key and a value is answered by the weighted mean of the
/// values, f(q) = sum_i alpha(q, k_i) v_i. Kernel regression and every attention layer end in this function;
/// they differ in how the weights come about.
///
///   weights  [..., Tq, Tk]   alpha: one row for each query, one column for each key
///   values   [..., Tk, dv]   or [Tk] for values that are numbers
///   returns  [..., Tq, dv]   or [..., Tq]
///
/// The width of queries and keys need not be that of the values: only the weights come in here.
Tensor attention_pool(Operand weights, Operand values);

}  // namespace heed
