#include "nn/view/summary.h"

#include "tensor/kernels/matmul.h"
#include "tensor/table.h"

namespace heed {
namespace {

// 1234567 -> "1,234,567"
std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  return shapes.empty() ? "-" : detail::listed(shapes, " ");
}

struct ObservedRow : SummaryRow {
  int64_t flops_before = 0;  // of earlier calls, minus product_flops() when the current call began
};

struct SummaryObserver : Observer {
  std::map<const Module*, ObservedRow> rows;  // also of modules that visit does not name

  void on_module_begin(const Module& module, const std::vector<Tensor>& inputs) override {
    ObservedRow& row = rows[&module];
    if (row.calls++ == 0)
      for (const Tensor& x : inputs)
        if (x.defined()) row.inputs.push_back(x.shape());
    row.flops_before = row.flops - kernel::product_flops();
  }

  void on_module_end(const Module& module, const Tensor& output) override {
    ObservedRow& row = rows[&module];
    if (row.calls == 1) row.outputs.push_back(output.shape());
    row.flops = row.flops_before + kernel::product_flops();
  }
};

}  // namespace

Summary detail::summarise(const Module& model, const std::function<void()>& call) {
  const NoGrad guard;
  const std::vector<ConstNamedModule> modules = model.named_modules();
  Summary summary{.parameters = model.parameter_count()};
  for (const Tensor& p : model.parameters())
    if (p.requires_grad()) summary.trainable += p.numel();
  SummaryObserver observer;
  for (const auto& [path, module] : modules)
    observer.rows[module] = {
        {.path = path, .type = module->type_name(), .parameters = module->parameter_count()}};
  const detail::EvaluationScope evaluation;
  call();
  for (const auto& [path, module] : modules) summary.rows.push_back(observer.rows[module]);
  summary.flops = summary.rows.front().flops;
  return summary;
}

std::string to_string(const Summary& summary) {
  Table table({"path", "type", "input", "output", "parameters", "FLOPs"});
  for (const SummaryRow& row : summary.rows)
    table.add({row.path.empty() ? "(model)" : row.path, row.type, shapes_text(row.inputs),
               shapes_text(row.outputs), grouped(row.parameters), grouped(row.flops)});
  return detail::text(table.to_string(), "\nparameters ", grouped(summary.parameters), ", trainable ",
                      grouped(summary.trainable), ", FLOPs ", grouped(summary.flops));
}

}  // namespace heed
