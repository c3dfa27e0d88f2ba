#pragma once

#include "nn/module.h"

/// What is in a model, and what a call of it computes.
namespace heed {

/// What one module did.
struct SummaryRow {
  std::string path;                              ///< "" for the model itself
  std::string type;                              ///< "Linear"
  std::vector<Shape> inputs = {}, outputs = {};  ///< of the first call
  int64_t parameters = 0;                        ///< its own and those of the modules inside, each once
  int64_t flops = 0;  ///< of products in all its calls, those inside included: 2 per multiply-add
  int64_t calls = 0;  ///< how often it was called
};

/// What a model did in one call.
struct Summary {
  std::vector<SummaryRow> rows;  ///< the model, then the modules inside as visit names them
  int64_t parameters = 0;        ///< numbers in all parameters, each once
  int64_t trainable = 0;         ///< those among them that require a gradient
  int64_t flops = 0;             ///< of products, 2 per multiply-add
};

/// An aligned table with the totals below.
std::string to_string(const Summary& summary);

namespace detail {

/// The summary of what `call` does with the modules of `model`.
Summary summarise(const Module& model, const std::function<void()>& call);

}  // namespace detail

/// Calls model(inputs...) once, as in eval() and without recording, and tells what happened in each module.
/// The model stays as it was.
Summary summary(auto& model, const auto&... inputs) {
  return detail::summarise(model, [&] { model(inputs...); });
}

}  // namespace heed
