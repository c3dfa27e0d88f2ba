#pragma once

#include "nn/onnx/export.h"
#include "tests/autograd/op_checks.h"

// Calls f(row, x, forward) for each row of the operators' table that has a result of its own: its inputs,
// with floating ones in float32, and the call.
inline void each_table_row(const auto& f) {
  for (const test::OpCase& row : test::op_cases()) {
    if (row.in_place) continue;
    OnnxTensors x;
    for (const Tensor& in : test::inputs_of(row))
      x.push_back(is_floating(in.dtype()) ? to(in.detach(), float32) : in.detach());
    f(row, x, [&row](const OnnxTensors& in) -> OnnxTensors { return row.call(in); });
  }
}
