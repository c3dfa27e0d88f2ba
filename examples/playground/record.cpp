#include "examples/playground/record.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "examples/playground/message.h"
#include "examples/playground/translators.h"
#include "examples/playground/two_translators.h"
#include "examples/shared/base64.h"

namespace program {

using namespace heed;
using Json = nlohmann::ordered_json;

namespace {

constexpr int64_t kEvery = 10;  // steps in a mean of losses
constexpr int64_t kStates[] = {0, 10, 20, 40, 60, 80, 100, 150, 200, 300, 400, 500, 600, 800};

// Four digits after the point are enough for pictures.
Json rounded(const std::vector<float>& numbers) {
  Json list = Json::array();
  for (const double number : numbers)
    if (number == std::round(number))
      list.push_back(static_cast<int64_t>(number));
    else
      list.push_back(std::round(number * 1e4) / 1e4);
  return list;
}

Json translations_of(const std::string& text) {
  Json both;
  for (const float attends : {0, 1}) {
    std::vector<float> request = {static_cast<float>(TwoTranslators::kPresent), attends};
    append(request, text);
    append(request, 0);
    both.push_back(rounded(translators_translate(request)));
  }
  return both;
}

}  // namespace

std::string recorded_training(int64_t last) {
  Json record;
  const float seed = translators_learn_first()[0];
  record["seed"] = seed;
  record["every"] = kEvery;
  for (const Pair& pair : held_out_pairs())
    record["texts"].push_back({{"source", pair.source}, {"target", pair.target}});
  const int threads = num_threads();
  set_num_threads(1);  // the steps are too small for more
  int64_t step = 0;
  translators_learn(std::vector<float>{seed, 0, 0});
  for (const int64_t at : kStates) {
    if (at > last) break;
    for (; step < at; step += kEvery) {
      const std::vector<float> answer =
          translators_learn(std::vector<float>{seed, static_cast<float>(step), kEvery});
      std::vector<float> sums(2);
      for (size_t i = 1; i < answer.size(); ++i) sums[(i - 1) % 2] += answer[i] / kEvery;
      record["losses"].push_back(rounded(sums));
    }
    Json state = {{"step", at}, {"score", rounded(translators_score(translators_score_first()))}};
    for (const Pair& pair : held_out_pairs()) state["translations"].push_back(translations_of(pair.source));
    record["states"].push_back(state);
  }
  set_num_threads(threads);
  record["packed"] = base64(translators_packed());
  return record.dump();
}

}  // namespace program
