#include "nn/view/summary.h"

#include <ostream>

#include "nn/view/table.h"
#include "tensor/kernels/matmul.h"

namespace heed {
namespace {

// 1234567 -> "1,234,567"
std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string joined(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : " ") + to_string(shape);
  return text.empty() ? "-" : text;
}

std::vector<Shape> shapes_of(const std::vector<Tensor>& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& x : tensors)
    if (x.defined()) shapes.push_back(x.shape());
  return shapes;
}

}  // namespace

namespace detail {

Watch::Watch(const Module& model) {
  for (const auto& [name, module] : model.named_modules()) {
    const size_t i = modules_.size();
    Watched& watched = modules_.emplace_back(Watched{module, module->training()});
    summary_.rows.push_back(
        {.path = name, .type = module->type_name(), .parameters = module->parameter_count()});
    watched.before =
        module->register_forward_pre_hook([this, i](const Module&, const std::vector<Tensor>& inputs) {
          SummaryRow& row = summary_.rows[i];
          if (row.calls++ == 0) row.inputs = shapes_of(inputs);
          modules_[i].flops_before = row.flops - kernel::product_flops();
        });
    watched.after = module->register_forward_hook(
        [this, i](const Module&, const std::vector<Tensor>&, const Tensor& output) {
          SummaryRow& row = summary_.rows[i];
          if (row.calls == 1) row.outputs.push_back(output.shape());
          row.flops = modules_[i].flops_before + kernel::product_flops();
        });
  }
  modules_.front().module->eval();
}

Watch::~Watch() {
  for (Watched& watched : modules_) {
    watched.before.remove();
    watched.after.remove();
    watched.module->training_ = watched.training;
  }
}

Summary Watch::finish() {
  for (const Tensor& parameter : modules_.front().module->parameters()) {
    summary_.parameters += parameter.numel();
    if (parameter.requires_grad()) summary_.trainable += parameter.numel();
  }
  summary_.flops = summary_.rows.front().flops;
  return std::move(summary_);
}

}  // namespace detail

std::string to_string(const Summary& summary) {
  Table table({"path", "type", "input", "output", "parameters", "FLOPs"});
  for (const SummaryRow& row : summary.rows)
    table.add({row.path.empty() ? "(model)" : row.path, row.type, joined(row.inputs), joined(row.outputs),
               grouped(row.parameters), grouped(row.flops)});
  return table.to_string() + "\nparameters " + grouped(summary.parameters) + ", trainable " +
         grouped(summary.trainable) + ", FLOPs " + grouped(summary.flops);
}

std::ostream& operator<<(std::ostream& out, const Summary& summary) { return out << to_string(summary); }

}  // namespace heed
