#pragma once

#include "nn/module.h"

/// The modules of a model, and what a call of it computes.
namespace heed {

/// One module.
struct SummaryRow {
  std::string path;                              ///< "" for the model itself
  std::string type;                              ///< "Linear"
  std::vector<Shape> inputs = {}, outputs = {};  ///< of the first call
  int64_t parameters = 0;  ///< number of elements, including inner modules; shared parameters count once
  int64_t flops = 0;       ///< of matrix products in all calls, including inner modules; 2 per multiply-add
  int64_t calls = 0;
};

/// A model and one call of it.
struct Summary {
  std::vector<SummaryRow> rows = {};  ///< the model, then its inner modules in the order of visit
  int64_t parameters = 0;             ///< number of elements; shared parameters count once
  int64_t trainable = 0;              ///< of these, those that require a gradient
  int64_t flops = 0;                  ///< of matrix products; 2 per multiply-add
};

/// An aligned table, followed by the totals.
std::string to_string(const Summary& summary);

namespace detail {

/// Summarizes what `call` does with the modules of `model`.
Summary summarise(const Module& model, const std::function<void()>& call);

}  // namespace detail

/// Calls model(inputs...) once, in evaluation mode and without recording, and summarizes what each module
/// computed. The model does not change.
Summary summary(auto& model, const auto&... inputs) {
  return detail::summarise(model, [&] { model(inputs...); });
}

}  // namespace heed
