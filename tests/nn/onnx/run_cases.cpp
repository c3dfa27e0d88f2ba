// Runs models and compares their outputs: run_cases FOLDER. A case is a folder in it:
//
//   model.onnx
//   input_0.npy ...      inputs in the order of the model
//   output_0.npy ...     what is expected; none for an output that is not compared
//   tolerance            two numbers: relative and absolute
//
// Prints a line for each case: "passed NAME", "refused NAME: message of load_onnx", or "wrong NAME: why".

#include "autograd/ops/basic.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include "heed/files.h"
#include "nn/onnx/import.h"

namespace fs = std::filesystem;
using namespace heed;

// What is wrong with y, or "".
static std::string difference(const Tensor& y, const Tensor& wanted, double rtol, double atol) {
  if (y.shape() != wanted.shape()) return detail::text("shape ", y.shape(), ", not ", wanted.shape());
  if (y.dtype() != wanted.dtype()) return detail::text(y.dtype(), ", not ", wanted.dtype());
  if (y.dtype() == boolean || allclose(y, wanted, rtol, atol, true))
    return y.dtype() != boolean || all(eq(y, wanted)).item<bool>() ? "" : "another bool";
  return detail::text("differs by ", max(abs(to(y, float64) - to(wanted, float64))).item());
}

static std::string run(const fs::path& folder, const OnnxModel& graph) {
  const NoGrad guard;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    inputs.push_back(load_npy((folder / ("input_" + std::to_string(i) + ".npy")).string()));
  double rtol = 0, atol = 0;
  std::ifstream(folder / "tolerance") >> rtol >> atol;
  const std::vector<Tensor> outputs = graph(inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const fs::path file = folder / ("output_" + std::to_string(i) + ".npy");
    if (!fs::exists(file)) continue;
    const std::string wrong = difference(outputs[i], load_npy(file.string()), rtol, atol);
    if (!wrong.empty()) return "output " + std::to_string(i) + ": " + wrong;
  }
  return "";
}

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "run_cases FOLDER\n", 2;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(argv[1])) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  bool good = true;
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    std::optional<OnnxModel> graph;
    try {
      graph.emplace(load_onnx((folder / "model.onnx").string()));
    } catch (const Error& error) {
      std::cout << "refused " << name << ": " << error.what() << std::endl;
      continue;
    }
    std::string wrong;
    try {
      wrong = run(folder, *graph);
    } catch (const Error& error) {
      wrong = error.what();
    }
    good = good && wrong.empty();
    std::cout << (wrong.empty() ? "passed " + name : "wrong " + name + ": " + wrong) << std::endl;
  }
  return good ? 0 : 1;
}
