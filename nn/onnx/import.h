#pragma once

#include "nn/module.h"
#include "nn/onnx/model.h"

/// Models from ONNX files.
namespace heed {

namespace onnx {
struct Operator;
}

/// The graph of an ONNX file, computed by heed's operations. It can be trained on.
///
///   OnnxModel graph = load_onnx("model.onnx");
///   const Tensor y = graph(x);                                              // the first output
///   const std::vector<Tensor> all = graph(std::vector<Tensor>{x, lengths}); // all outputs, in order
///   const StateDict named = graph(StateDict{{"x", x}, {"lengths", lengths}});
///
/// Computes with float, double, int64, int32 and bool; an int32 is held as int64. What it does not know
/// throws by name when the model is loaded: operators, their version, attributes, values of attributes,
/// inputs and outputs, types, functions, subgraphs. nn/onnx/README.md lists the operators.
///
/// Floating initializers are parameters under their names, and the others are buffers: integers, single
/// numbers, and the statistics of BatchNormalization. to(float64) converts all, also constants inside of the
/// graph.
///
/// State dict: the initializers. Errors: inputs of another number, name, kind of dtype or shape than the file
/// declares. In errors of operations the message begins with the node.
class OnnxModel : public Layer<OnnxModel> {
 public:
  /// Throws for what it does not know.
  explicit OnnxModel(onnx::Model model);

  /// The first output.
  Tensor forward(const Tensor& x, const std::convertible_to<const Tensor&> auto&... more) const {
    return forward(std::vector<Tensor>{x, more...})[0];
  }
  /// All outputs. Inputs and outputs are in the order of the file.
  std::vector<Tensor> forward(const std::vector<Tensor>& inputs) const;
  /// All outputs by name.
  StateDict forward(const StateDict& inputs) const;
  void visit(Visitor& v) override;

  /// The inputs that the file declares, without initializers.
  const std::vector<onnx::ValueInfo>& inputs() const { return inputs_; }
  /// The outputs that the file declares.
  const std::vector<onnx::ValueInfo>& outputs() const { return outputs_; }

 private:
  // A node. Values are numbered; -1 is none.
  struct Step {
    std::string where;  // for messages
    const onnx::Operator* op;
    std::vector<std::pair<int64_t, Tensor>> arguments;  // inputs, or attributes without a number
    std::vector<int64_t> outputs;
  };
  // A value of the model's own: an initializer or, not persistent, a constant. One tensor is undefined.
  struct Owned {
    std::string name;
    int64_t value;
    bool persistent;
    Parameter parameter;
    Buffer buffer;
  };
  int64_t define(const std::string& name);
  void add_constant(const onnx::Constant& constant, bool learned, bool persistent);
  void add_step(const onnx::Node& node, int64_t opset);

  std::vector<onnx::ValueInfo> inputs_, outputs_;
  std::map<std::string, int64_t> numbers_;  // of the values
  std::vector<int64_t> uses_;               // of each value, by steps and as an output
  std::vector<Owned> owned_;
  std::vector<Step> steps_;
};

/// Reads an ONNX file. Throws if it is malformed, or for what OnnxModel does not know.
OnnxModel load_onnx(const std::string& path);

}  // namespace heed
