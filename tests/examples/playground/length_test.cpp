#include "examples/playground/length.h"

#include "tests/support/expect.h"

using namespace program;

TEST_CASE("playground length: attention in tiles has the output of attention with all weights") {
  const std::vector<float> whole = length_work(std::vector<float>{0, 200, 16, 1, 1});
  const std::vector<float> tiles = length_work(std::vector<float>{1, 200, 16, 2, 1});
  REQUIRE(whole.size() == 18);
  for (size_t i = 2; i < whole.size(); ++i) CHECK(whole[i] == doctest::Approx(tiles[i]).epsilon(1e-4));
  CHECK(whole[0] == 2 * 200 * 200 * 16);
  CHECK(whole[1] > 200 * 200 * 4);
  CHECK(length_work(std::vector<float>{2, 200, 16, 1, 0})[0] == 2 * 200 * 16 * 16);
  CHECK_THROWS_WITH(length_work(std::vector<float>{3}),
                    "length_work: layer is 3; it must be an integer from 0 to 2");
}

TEST_CASE("playground length: a cache changes the work and not the output") {
  const std::vector<float> with = length_decode(std::vector<float>{20, 16, 1});
  const std::vector<float> without = length_decode(std::vector<float>{20, 16, 0});
  for (size_t i = 2; i < with.size(); ++i) CHECK(with[i] == doctest::Approx(without[i]).epsilon(1e-4));
  CHECK(with[0] == 20 * 4 * 16 * 16 + 2 * 210 * 16);
  CHECK(without[0] > 5 * with[0]);
  CHECK(with[1] == 2 * 20 * 16);
  CHECK(without[1] == 0);
}

TEST_CASE("playground length: the last tile has the answer of softmax") {
  for (const float tile : {1.0F, 3.0F, 8.0F}) {
    std::vector<float> request = length_tiles_first();
    request[0] = tile;
    const std::vector<float> answer = length_tiles(request);
    REQUIRE(answer.size() == 2 + 3 * static_cast<size_t>(answer[0]));
    CHECK(answer[answer.size() - 2] == doctest::Approx(answer.back()));
    CHECK(answer[answer.size() - 4] == 5);  // the largest score
  }
}
