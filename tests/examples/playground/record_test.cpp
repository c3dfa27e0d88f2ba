#include "examples/playground/record.h"

#include <nlohmann/json.hpp>

#include "tests/support/expect.h"

TEST_CASE("record: the states of a training, with losses and translations") {
  const auto record = nlohmann::json::parse(program::recorded_training(20));
  CHECK(record["seed"] == 1);
  CHECK(record["losses"].size() == 2);
  CHECK(record["losses"][1][0] < record["losses"][0][0]);
  CHECK(record["texts"][0]["target"] == "I love China");
  REQUIRE(record["states"].size() == 3);
  for (const auto& state : record["states"]) {
    CHECK(state["translations"].size() == 2);
    for (const auto& both : state["translations"]) CHECK(both.size() == 2);
    CHECK(state["score"].size() == 1 + 4 * state["score"][0].get<size_t>());
  }
  CHECK(record["states"][2]["step"] == 20);
  CHECK(record["packed"].get<std::string>().size() > 50000);
}
