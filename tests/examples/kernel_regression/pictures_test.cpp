#include "examples/kernel_regression/pictures.h"

#include <numeric>

#include "tests/support/expect.h"

// covers: C-000-17
TEST_CASE("heat_map: rows of weights that sum to 1, sharper as w grows") {
  const program::Numbers keys = {0, 1, 2, 5}, queries = {0.4, 2, 100};
  const auto flat = program::heat_map(queries, keys, 1e-9), sharp = program::heat_map(queries, keys, 20);
  for (const auto* map : {&flat, &sharp})
    for (const auto& row : map->rows)
      CHECK(std::accumulate(row.begin(), row.end(), 0.0) == doctest::Approx(1).epsilon(1e-12));
  CHECK(flat.entropy == doctest::Approx(std::log(4)));
  CHECK(sharp.entropy == doctest::Approx(0));
  CHECK(sharp.rows[0][0] == doctest::Approx(1));
  CHECK(sharp.rows[2][3] == doctest::Approx(1));  // at any distance, the nearest key has the weight
}

TEST_CASE("heat_map: many keys are merged in groups of equal size") {
  program::Numbers keys(1000);
  std::iota(keys.begin(), keys.end(), 0);
  const auto map = program::heat_map({500}, keys, 1e-9);
  CHECK(map.key_count == 1000);
  REQUIRE(map.rows[0].size() == 200);
  for (const double weight : map.rows[0]) CHECK(weight == doctest::Approx(5.0 / 1000));
  CHECK(map.keys[1] == 5);
  CHECK(map.entropy == doctest::Approx(std::log(1000)));
}
