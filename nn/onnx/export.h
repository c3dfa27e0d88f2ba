#pragma once

#include "nn/module.h"

/// Writing models as ONNX files.
namespace heed {

/// One tensor or several.
struct OnnxTensors : std::vector<Tensor> {
  using vector::vector;
  OnnxTensors(const Tensor& x) : vector{x} {}
  OnnxTensors(std::vector<Tensor> xs) : vector(std::move(xs)) {}
};

/// Options of save_onnx.
struct OnnxOptions {
  /// Inputs of other sizes. A size that differs from that of `x` is open; sizes that are equal in both are
  /// fixed. Choose them so that no two open sizes differ by the same amount, such as [2, 5] and [3, 7].
  OnnxTensors other = {};
  int64_t opset = 23;                     ///< Version of the operators: 20 to 23.
  std::vector<std::string> inputs = {};   ///< Names; by default x, or x0, x1, ...
  std::vector<std::string> outputs = {};  ///< Names; by default y, or y0, y1, ...
  /// Texts for the programs that run the file, such as a vocabulary.
  std::map<std::string, std::string> metadata = {};
};

/// Writes `forward` as an ONNX file: the operations that it computes for the inputs x, with the parameters
/// and buffers of `model` under the names of its state dict.
///
///   save_onnx("step.onnx", decoder, {token, state},
///             [&](const OnnxTensors& in) -> OnnxTensors { return decoder.step(in[0], in[1]); });
///
/// The model computes as in eval(), twice: for x, and for `other`, or x with its elements in reverse order.
/// Throws if the operations differ, or a constant that depends on the inputs: loops over values or sizes, and
/// random numbers. Throws for operations without a form in ONNX, with their name and line.
void save_onnx(const std::string& path, const Module& model, const OnnxTensors& x,
               const std::function<OnnxTensors(const OnnxTensors&)>& forward,
               const OnnxOptions& options = {});

namespace detail {

// The tensors of a module's result: a tensor, or a struct that lists its own.
OnnxTensors onnx_outputs(auto result) {
  if constexpr (requires { result.tensors(); }) {
    OnnxTensors all;
    for (const Tensor* x : result.tensors())
      if (x->defined()) all.push_back(*x);
    return all;
  } else {
    return result;
  }
}

}  // namespace detail

/// The same for a call of the model, which has one to three inputs:
///
///   save_onnx("model.onnx", model, x);
///   save_onnx("model.onnx", model, {source, target}, {.other = {longer_source, longer_target}});
template <class Model>
void save_onnx(const std::string& path, Model& model, const OnnxTensors& x, const OnnxOptions& options = {}) {
  const auto forward = [&](const OnnxTensors& in) {
    const auto call = [&](const auto&... xs) -> OnnxTensors {
      if constexpr (requires { model(xs...); }) return detail::onnx_outputs(model(xs...));
      fail("save_onnx: the model cannot be called with ", in.size(), " tensors; give a function");
    };
    return in.size() == 1   ? call(in[0])
           : in.size() == 2 ? call(in[0], in[1])
           : in.size() == 3 ? call(in[0], in[1], in[2])
                            : call();
  };
  save_onnx(path, model, x, forward, options);
}

}  // namespace heed
