#pragma once

#include <string>
#include <vector>

#include "autograd/grad_mode.h"
#include "nn/module.h"

namespace heed {

struct SummaryRow {
  std::string path;  // "" for the model itself
  std::string type;
  std::vector<Shape> inputs = {}, outputs = {};  // of the first call
  int64_t parameters = 0;                        // its own and those of the modules inside, each once
  int64_t flops = 0;  // of products in all its calls, those inside included: 2 per multiply-add
  int64_t calls = 0;
};

struct Summary {
  std::vector<SummaryRow> rows;  // the model, then the modules inside as visit names them
  int64_t parameters = 0;
  int64_t trainable = 0;
  int64_t flops = 0;
};

/// An aligned table with the totals below.
std::string to_string(const Summary& summary);
std::ostream& operator<<(std::ostream& out, const Summary& summary);

namespace detail {

/// Watches the calls of all modules of a model, in eval, until it goes.
class Watch {
 public:
  explicit Watch(const Module& model);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  Summary finish();

 private:
  struct Watched {
    Module* module;
    bool training;
    HookHandle before = {}, after = {};
    int64_t flops_before = 0;  // of earlier calls, less the thread's count when the last one began
  };
  std::vector<Watched> modules_;  // as the rows of the summary
  Summary summary_;
};

}  // namespace detail

/// Calls model(inputs...) once, in eval and without recording, and tells what happened in each module.
template <class Model, class... Inputs>
Summary summary(Model& model, const Inputs&... inputs) {
  const NoGrad guard;
  detail::Watch watch(model);
  model(inputs...);
  return watch.finish();
}

}  // namespace heed
