#include "examples/playground/plane.h"

#include <numeric>

#include "tests/support/expect.h"

using namespace program;

namespace {

const Values plane_query = {0.5, -1}, plane_keys = {1.75, 0.5, -0.5, 2, 0, -1},
             plane_W = {0.6, 0.8, -0.8, 0.6};
// W turns by a rotation: it is not symmetric.

struct PlaneAnswer {
  Values scores, weights, slopes;
  double entropy;
  Values keys, chosen_weights;  // of the pixels
};

PlaneAnswer ask_plane(int score, int normalizer, int d, const Values& q = plane_query, int pixels = 2) {
  std::vector<float> request = {static_cast<float>(score), static_cast<float>(normalizer),
                                static_cast<float>(d), 3};
  for (const Values& one : {q, plane_keys, plane_W})
    for (const double number : one) request.push_back(static_cast<float>(number));
  for (const int number : {-2, 2, pixels}) request.push_back(static_cast<float>(number));
  const std::vector<float> answer = plane(request);
  const auto squares = static_cast<size_t>(pixels * pixels);
  REQUIRE(answer.size() == 3 + 3 + 9 + 1 + 2 * squares);
  const auto part = [&](int begin, int end) { return Values(answer.begin() + begin, answer.begin() + end); };
  PlaneAnswer result{part(0, 3), part(3, 6), part(6, 15), answer[15], {}, {}};
  for (size_t i = 0; i < squares; ++i) {
    result.keys.push_back(answer[16 + 2 * i]);
    result.chosen_weights.push_back(answer[17 + 2 * i]);
  }
  return result;
}

// The score of the query and a key in the plane.
double score_by_hand(int score, size_t key, const Values& q = plane_query) {
  const double x = plane_keys[2 * key], y = plane_keys[2 * key + 1];
  const double a = q[0] * plane_W[0] + q[1] * plane_W[2], b = q[0] * plane_W[1] + q[1] * plane_W[3];
  switch (score) {
    case 0:
      return q[0] * x + q[1] * y;
    case 1:
      return (q[0] * x + q[1] * y) / std::sqrt(2.0);
    case 2:
      return std::tanh(a + x) + std::tanh(b + y);
    case 3:
      return a * x + b * y;
    default:
      return -((q[0] - x) * (q[0] - x) + (q[1] - y) * (q[1] - y)) / 2;
  }
}

Values softmax_by_hand(const Values& scores) {
  Values p;
  for (const double s : scores) p.push_back(std::exp(s));
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& one : p) one /= total;
  return p;
}

}  // namespace

TEST_CASE("playground plane: scores, softmax, derivatives and entropy by hand") {
  for (int score = 0; score < 5; ++score) {
    CAPTURE(score);
    Values scores;
    for (size_t key = 0; key < 3; ++key) scores.push_back(score_by_hand(score, key));
    const Values p = softmax_by_hand(scores);
    Values slopes;
    double entropy = 0;
    for (size_t i = 0; i < 3; ++i) {
      entropy -= p[i] * std::log(p[i]);
      for (size_t j = 0; j < 3; ++j) slopes.push_back(p[i] * ((i == j) - p[j]));
    }
    for (const int normalizer : {0, 3}) {  // hard attention has the probabilities of the softmax
      const PlaneAnswer answer = ask_plane(score, normalizer, 2);
      CHECK(largest_difference(answer.scores, scores) < 1e-6);
      CHECK(largest_difference(answer.weights, p) < 1e-6);
      CHECK(largest_difference(answer.slopes, slopes) < 1e-6);
      CHECK(answer.entropy == doctest::Approx(entropy));
    }
  }
}

TEST_CASE("playground plane: sparsemax and entmax give zeros") {
  // Dot scores: 0.375, -2.25, 1. Sparsemax: max(s - t, 0) with t = (0.375 + 1 - 1) / 2.
  const PlaneAnswer sparse = ask_plane(0, 1, 2), between = ask_plane(0, 2, 2);
  CHECK(largest_difference(sparse.weights, {0.1875, 0, 0.8125}) < 1e-6);
  CHECK(largest_difference(sparse.slopes, {0.5, 0, -0.5, 0, 0, 0, -0.5, 0, 0.5}) < 1e-6);
  // Entmax: the roots of the two weights differ by (1 - 0.375) / 2.
  const double root = (0.3125 + std::sqrt(2 - 0.3125 * 0.3125)) / 2;
  CHECK(largest_difference(between.weights, {1 - root * root, 0, root * root}) < 1e-6);
  CHECK(sparse.entropy == doctest::Approx(-0.1875 * std::log(0.1875) - 0.8125 * std::log(0.8125)));
  CHECK(between.slopes[4] == 0);
}

TEST_CASE("playground plane: pixels row by row from the top") {
  const std::vector<Values> places = {{-1, 1}, {1, 1}, {-1, -1}, {1, -1}};
  for (int score = 0; score < 5; ++score) {
    CAPTURE(score);
    const PlaneAnswer answer = ask_plane(score, 0, 2);
    for (size_t i = 0; i < 4; ++i) {
      const PlaneAnswer there = ask_plane(score, 0, 2, places[i]);
      const auto best = std::ranges::max_element(there.weights);
      CHECK(answer.keys[i] == static_cast<double>(best - there.weights.begin()));
      CHECK(answer.chosen_weights[i] == doctest::Approx(*best));
    }
  }
  const PlaneAnswer dot = ask_plane(0, 0, 2);
  CHECK(dot.keys == Values{1, 0, 2, 0});  // by dot products with (7/4, 1/2), (-1/2, 2) and (0, -1)
}

TEST_CASE("playground plane: a hard choice is drawn") {
  const PlaneAnswer soft = ask_plane(1, 0, 2, {0, 0}, 100), hard = ask_plane(1, 3, 2, {0, 0}, 100);
  CHECK(std::ranges::all_of(hard.chosen_weights, [](double weight) { return weight == 1; }));
  // The most probable key is drawn as often as its mean probability says.
  double same = 0, expected = 0;
  for (size_t i = 0; i < soft.keys.size(); ++i) {
    same += soft.keys[i] == hard.keys[i];
    expected += soft.chosen_weights[i];
  }
  CHECK(same == doctest::Approx(expected).epsilon(0.03));
}

TEST_CASE("playground plane: at d = 512 a dot product saturates softmax, divided by the root it does not") {
  const PlaneAnswer dot = ask_plane(0, 0, 512), scaled = ask_plane(1, 0, 512);
  const auto largest = [](const PlaneAnswer& answer) { return *std::ranges::max_element(answer.weights); };
  CHECK(largest(dot) > 0.99);
  CHECK(largest(scaled) < 0.9);
  for (size_t key = 0; key < 3; ++key)
    CHECK(dot.scores[key] == doctest::Approx(scaled.scores[key] * std::sqrt(512)));
  // The further coordinates are the same for each query of the plane.
  for (int score = 0; score < 5; ++score) {
    CAPTURE(score);
    const Values other = {-0.25, 0.5};
    const Values here = ask_plane(score, 0, 512).scores, there = ask_plane(score, 0, 512, other).scores;
    const double unit = score == 1 ? std::sqrt(2.0 / 512) : 1;
    for (size_t key = 0; key < 3; ++key)
      CHECK(std::abs(here[key] - there[key] -
                     unit * (score_by_hand(score, key) - score_by_hand(score, key, other))) < 1e-4);
  }
}

TEST_CASE("playground plane_darts: shares approach the weights") {
  const std::vector<float> drawn = plane_darts(std::vector<float>{7, 10000, 4, 0.5F, 0.3F, 0, 0.2F});
  CHECK(std::accumulate(drawn.begin(), drawn.end(), 0.0F) == 10000);
  CHECK(drawn[2] == 0);
  for (const auto& [key, share] : {std::pair(0, 0.5), std::pair(1, 0.3), std::pair(3, 0.2)})
    CHECK(std::abs(drawn[static_cast<size_t>(key)] / 10000 - share) < 0.02);  // 4 standard deviations
  CHECK_THROWS_WITH(plane_darts(std::vector<float>{7, 10, 2, 0, 0}),
                    "plane_darts: weights must not be negative, and one of them must be positive");
}

TEST_CASE("playground plane_learn: W becomes the hidden rotation backward") {
  // With W = 0 all weights are 1/5, and the squared error is that of a mean of 5: 1 - 1/5.
  CHECK(plane_learn(std::vector<float>{1, 0, 1, 0, 0, 0, 0})[4] == doctest::Approx(0.8).epsilon(0.15));
  std::vector<float> learned = {1, 0, 0, 1};
  for (int call = 1; call <= 60; ++call) {
    std::vector<float> request = {static_cast<float>(call), 0.05F, 5};
    request.insert(request.end(), learned.begin(), learned.begin() + 4);
    learned = plane_learn(request);
  }
  CHECK(learned[4] < 0.4);
  CHECK(learned[5] > 0.9);
  // q = k R turns k by 2 radians; W turns it back: a multiple of the rotation by -2.
  const double scale = std::hypot(learned[0], learned[1]);
  CHECK(std::abs(learned[0] / scale - std::cos(2)) < 0.05);
  CHECK(std::abs(learned[1] / scale + std::sin(2)) < 0.05);
  CHECK(std::abs(learned[2] / scale - std::sin(2)) < 0.05);
}

TEST_CASE("playground plane: mistakes of a request") {
  std::vector<float> request = plane_first();
  request[2] = 1;
  CHECK_THROWS_WITH(plane(request), "plane: d is 1; it must be an integer from 2 to 1024");
  request[2] = 2;
  request.pop_back();
  CHECK_THROWS_WITH(plane(request), "plane: the request ends before pixels");
}
