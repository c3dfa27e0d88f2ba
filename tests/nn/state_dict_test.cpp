#include "nn/state_dict.h"

#include "tests/nn/modules.h"

using test::Model;

TEST_CASE("a prepared load writes at commit; one that is dropped writes nothing") {
  Model model;
  StateDict state = model.state_dict();
  state["layers.0.weight"] = full({2}, 7);
  state.erase("tied");
  model.prepare_load(state);
  PreparedLoad load = model.prepare_load(state);
  CHECK(values(model.layers[0].weight) == Values{2, 2});
  load.commit();
  CHECK(values(model.layers[0].weight) == Values{7, 7});
}
