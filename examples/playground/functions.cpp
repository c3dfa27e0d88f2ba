#include "examples/playground/functions.h"

#include "examples/playground/regression.h"
#include "examples/playground/tape.h"
#include "tensor/error.h"

namespace program {

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"regression", regression, regression_first},
      {"regression_learn", regression_learn, regression_learn_first},
      {"tape", tape, tape_first},
  };
  return all;
}

const Function& function_of(const std::string& name) {
  for (const Function& function : functions())
    if (function.name == name) return function;
  heed::fail("the playground has no function ", name);
}

}  // namespace program
