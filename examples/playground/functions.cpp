#include "examples/playground/functions.h"

#include "examples/playground/length.h"
#include "examples/playground/model.h"
#include "examples/playground/plane.h"
#include "examples/playground/regression.h"
#include "examples/playground/tape.h"
#include "examples/playground/tokens.h"
#include "examples/playground/translators.h"
#include "tensor/error.h"

namespace program {

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"regression", regression, regression_first},
      {"regression_learn", regression_learn, regression_learn_first},
      {"plane", plane, plane_first},
      {"plane_darts", plane_darts, plane_darts_first},
      {"plane_learn", plane_learn, plane_learn_first},
      {"tokens", tokens, tokens_first},
      {"tape", tape, tape_first},
      {"length_work", length_work, length_work_first},
      {"length_decode", length_decode, length_decode_first},
      {"length_tiles", length_tiles, length_tiles_first},
      // These have a state; those after translators_load and after model_begin begin with no training.
      {"translators_learn", translators_learn, translators_learn_first},
      {"translators_load", translators_load, translators_load_first},
      {"translators_keep", translators_keep, translators_keep_first},
      {"translators_score", translators_score, translators_score_first},
      {"translators_translate", translators_translate, translators_translate_first},
      {"model_sample", model_sample, model_sample_first},
      {"model_begin", model_begin, model_begin_first},
      {"model_write", model_write, model_write_first},
      {"model_learn", model_learn, model_learn_first},
  };
  return all;
}

const Function& function_of(const std::string& name) {
  for (const Function& function : functions())
    if (function.name == name) return function;
  heed::fail("the playground has no function ", name);
}

}  // namespace program
