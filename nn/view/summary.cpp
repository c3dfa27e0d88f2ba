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

class SummaryObserver final : public Observer {
 public:
  explicit SummaryObserver(const Module& model) {
    for (const auto& [name, module] : model.named_modules()) {
      watched_[module] = {summary.rows.size()};
      summary.rows.push_back(
          {.path = name, .type = module->type_name(), .parameters = module->parameter_count()});
    }
    summary.parameters = model.parameter_count();
    for (const Tensor& parameter : model.parameters())
      if (parameter.requires_grad()) summary.trainable += parameter.numel();
  }

  void on_module_begin(const Module& module, const std::vector<Tensor>& inputs) override {
    const auto at = watched_.find(&module);
    if (at == watched_.end()) return;  // not named by visit
    SummaryRow& row = summary.rows[at->second.row];
    if (row.calls++ == 0)
      for (const Tensor& x : inputs)
        if (x.defined()) row.inputs.push_back(x.shape());
    at->second.flops_before = row.flops - kernel::product_flops();
  }

  void on_module_end(const Module& module, const Tensor& output) override {
    const auto at = watched_.find(&module);
    if (at == watched_.end()) return;
    SummaryRow& row = summary.rows[at->second.row];
    if (row.calls == 1) row.outputs.push_back(output.shape());
    row.flops = at->second.flops_before + kernel::product_flops();
    summary.flops = summary.rows.front().flops;
  }

  Summary summary;

 private:
  struct Watched {
    size_t row;
    int64_t flops_before = 0;  // of earlier calls, minus product_flops() when the current call began
  };
  std::map<const Module*, Watched> watched_;
};

}  // namespace

Summary detail::summarise(const Module& model, const std::function<void()>& call) {
  const NoGrad guard;
  SummaryObserver observer(model);
  const detail::EvaluationScope evaluation;
  call();
  return std::move(observer.summary);
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
