#include "examples/guide/stills.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "examples/guide/diagrams_hand.h"
#include "examples/guide/html.h"
#include "examples/guide/situation.h"
#include "examples/playground/expression.h"
#include "examples/playground/length.h"
#include "examples/playground/message.h"
#include "examples/playground/plane.h"
#include "examples/playground/regression.h"
#include "examples/playground/tape.h"
#include "examples/playground/tokens.h"
#include "nn/files/text_file.h"
#include "nn/view/heat_map.h"
#include "nn/view/tape_page.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace program {

using heed::check, heed::decimals, heed::short_number, heed::Tokens;
using nlohmann::json;

const std::string& BenchWords::operator()(const std::string& key) const {
  const auto found = words.find(key);
  check(found != words.end(), "strings.", language, ".json has no words for ", key);
  return found->second;
}

BenchWords bench_words(const std::string& language) {
  const std::string path = HEED_SOURCE_DIR "/examples/playground/page/strings." + language + ".json";
  return {language, json::parse(heed::read_bytes(path)).get<std::map<std::string, std::string>>()};
}

namespace {

using Numbers = std::vector<float>;
using Rows = std::vector<std::vector<std::string>>;

// What a still picture is made of.
struct Scene {
  const std::string& bench;
  Situation& state;
  const BenchWords& words;
  const json& record;

  const std::string& word(const std::string& key) const { return words(bench + "." + key); }
  // Words with a number in the place of {name}.
  std::string word(const std::string& key, const std::string& name, const std::string& number) const {
    return heed::replaced(word(key), "{" + name + "}", number);
  }
  // Ids of pictures on one page differ.
  drawing::Picture picture() const { return {bench, words.language == "zh"}; }
};

}  // namespace

namespace drawing {

namespace {

// The middles of circles, filled.
void disc(Picture& draw, Point center, double radius, const Words& words, const Look& look) {
  Look round = look;
  round.round = radius;
  draw.box(around(center, 2 * radius, 2 * radius), words, round);
}

// Points with the areas of their weights, the curve of all answers, and the query.
Still regression_still(Scene scene) {
  Numbers request = regression_first();
  scene.state.replace("w", request[0]);
  scene.state.replace("kernel", request[1]);
  scene.state.replace("own", request[2]);
  scene.state.replace("query", request[3]);
  scene.state.end();
  const Numbers answer = regression(request);
  const auto n = static_cast<size_t>(request[10]), places = static_cast<size_t>(request[6]);
  const std::span<const float> x = std::span(request).subspan(11, n), y = std::span(request).subspan(11 + n),
                               weights = std::span(answer).subspan(3, n),
                               curve = std::span(answer).subspan(3 + n, places);
  constexpr double kLow = -2, kHigh = 6;  // of the values
  const auto at = [&](double key, double value) {
    return Point{24 + 328 * (key - request[4]) / (request[5] - request[4]),
                 200 - 180 * (std::clamp(value, kLow, kHigh) - kLow) / (kHigh - kLow)};
  };
  Picture draw = scene.picture();
  draw.line({at(request[4], kHigh), at(request[4], kLow), at(request[5], kLow)});
  Points line;
  for (size_t i = 0; i < places; ++i)
    line.push_back(
        at(request[4] + (request[5] - request[4]) * static_cast<double>(i) / static_cast<double>(places - 1),
           curve[i]));
  draw.line(line, {.color = kAccent, .width = 2});
  for (size_t i = 0; i < n; ++i)
    disc(draw, at(x[i], y[i]), std::max(1.5, 36.0 * std::sqrt(weights[i])), "",
         {.color = kAccent, .shade = 0.3});
  const Point foot = at(request[3], kLow), top = at(request[3], kHigh);
  draw.line({foot, top}, {.color = kQuery, .dashed = true});
  disc(draw, at(request[3], answer[0]), 4, "", {.color = kQuery, .shade = 1});
  draw.label({foot.x, 8}, "q = " + decimals(request[3], 2) + ", f(q) = " + decimals(answer[0], 2));
  draw.label({24, 8}, scene.word("axis.value"), {.color = kSoft, .size = 12, .align = "start"});
  draw.label({352, 212}, scene.word("axis.key"), {.color = kSoft, .size = 12, .align = "end"});

  Rows rows = {
      {"i", scene.word("axis.key"), scene.word("axis.value"), scene.word("weight"), scene.word("product")}};
  for (size_t i = 0; i < n; ++i)
    rows.push_back({std::to_string(i + 1), decimals(x[i], 2), decimals(y[i], 2), decimals(weights[i], 4),
                    decimals(weights[i] * y[i], 4)});
  rows.push_back({"Σ", "", "", "1", decimals(answer[0], 4)});
  return {draw.svg(scene.word("plot")), rows};
}

constexpr Color kColorsOfKeys[] = {{"blue", "#0072b2"},
                                   {"red", "#c95200"},
                                   {"green", "#00855f"},
                                   {"pink", "#b8568f"},
                                   {"yellow", "#b87a00"}};

// The pixels of the plane in the colors of the keys that they choose; equal neighbors in a row are one box.
void paint_choices(Picture& draw, const Box& square, size_t pixels, std::span<const float> choices) {
  for (size_t row = 0; row < pixels; ++row)
    for (size_t from = 0, to = 0; from < pixels; from = to) {
      const float key = choices[2 * (row * pixels + from)];
      while (to < pixels && choices[2 * (row * pixels + to)] == key) ++to;
      Box part = square.cell(row, pixels, from, pixels);
      part.width *= static_cast<double>(to - from);
      draw.area(part, kColorsOfKeys[static_cast<size_t>(key)], 0.25);
    }
}

// Query and keys in their plane, lines as thick as the weights, and the weights as bars.
Still plane_still(Scene scene) {
  constexpr size_t kPixels = 20;
  Numbers request = plane_first();
  scene.state.replace("score", request[0]);
  scene.state.replace("normalizer", request[1]);
  scene.state.replace("width", request[2]);
  scene.state.replace("query", std::span(request).subspan(4, 2));
  scene.state.end();
  const auto n = static_cast<size_t>(request[3]);
  const double end = request[request.size() - 2];  // of the plane
  request.back() = kPixels;
  const Numbers answer = plane(request);
  const Box square = {8, 8, 180, 180};
  const auto at = [&](double x, double y) {
    return Point{square.center().x + 90 * x / end, square.center().y - 90 * y / end};
  };
  Picture draw = scene.picture();
  paint_choices(draw, square, kPixels, std::span(answer).subspan(2 * n + n * n + 1));
  draw.box(square, "", {.shade = 0});
  draw.line({square.left(), square.right()}, {.width = 0.5});
  draw.line({square.top(), square.bottom()}, {.width = 0.5});
  const Point query = at(request[4], request[5]);
  const auto bar = [](size_t i) { return 20 + 32 * static_cast<double>(i); };  // its height in the picture
  Rows rows = {{scene.word("key.name"), "x", "y", scene.word("score"), scene.word("weight")}};
  for (size_t i = 0; i < n; ++i) {
    const double x = request[6 + 2 * i], y = request[7 + 2 * i], score = answer[i], weight = answer[n + i];
    if (weight > 0.005) draw.line({query, at(x, y)}, {.width = 1 + 6 * weight});
    draw.label({208, bar(i)}, std::to_string(i + 1));
    draw.box({220, bar(i) - 8, 86 * weight, 16}, "", {.color = kColorsOfKeys[i], .shade = 0.7, .round = 0});
    draw.label({226 + 86 * weight, bar(i)}, decimals(weight, 3), {.align = "start"});
    rows.push_back(
        {std::to_string(i + 1), decimals(x, 2), decimals(y, 2), decimals(score, 3), decimals(weight, 4)});
  }
  for (size_t i = 0; i < n; ++i) {
    const Point key = at(request[6 + 2 * i], request[7 + 2 * i]);
    disc(draw, key, 10, "", {.color = {"paper", "#fff"}, .shade = 1});
    disc(draw, key, 10, std::to_string(i + 1), {.color = kColorsOfKeys[i], .shade = 0.2});
  }
  disc(draw, query, 5, "", {.color = kQuery, .shade = 1});
  draw.label({208, bar(n)}, scene.word("entropy", "h", decimals(answer[2 * n + n * n], 3)),
             {.color = kSoft, .align = "start"});
  return {draw.svg(scene.word("bars")), rows};
}

// The gradient along a chain of T states, and along one arc of attention.
std::pair<Numbers, double> paths_of(size_t T, float factor) {
  std::string formula = heed::detail::text("w = ", factor, "; h1 = 1");
  for (size_t t = 2; t <= T; ++t) formula += heed::detail::text("; h", t, " = w * h", t - 1);
  Numbers request;
  append(request, formula);
  append(request, 0);
  const Numbers answer = tape(request);
  RequestReader read("tape", answer);
  Numbers chain(T);
  for (int64_t left = read.integer("nodes", 1, 1000); left > 0; --left) {
    const std::string name = read.text("label");
    read.text("operation");
    read.text("rule");
    for (const char* part : {"value", "gradient"}) {
      check(read.integer(part, 0, 0) == 0, "a chain is made of single numbers");
      const double number = read.number(part);
      if (name[0] == 'h') chain.at(std::stoul(name.substr(1)) - 1) = static_cast<float>(number);
    }
    for (int64_t inputs = read.integer("inputs", 0, 2); inputs > 0; --inputs) read.number("input");
  }
  Numbers tiles(2 + 2 * T, 0);
  tiles[0] = tiles[1] = static_cast<float>(T);
  tiles[2 + T] = 1;  // the first value
  return {chain, length_tiles(tiles).back()};
}

Still length_still(Scene scene) {
  float length = 24, factor = 0.9F;
  scene.state.replace("T", length);
  scene.state.replace("factor", factor);
  scene.state.end();
  check(length >= 2 && length <= 64 && length == std::floor(length), "T is ", length,
        "; it must be an integer from 2 to 64");
  const auto T = static_cast<size_t>(length);
  const auto [chain, arc] = paths_of(T, factor);
  const auto at = [&](size_t t) {
    return Point{20 + 320 * static_cast<double>(t) / static_cast<double>(T - 1), 110};
  };
  const double radius = std::clamp(100.0 / static_cast<double>(T), 2.0, 10.0);
  Picture draw = scene.picture();
  draw.line({at(0), at(T - 1)});
  for (size_t t = 0; t < T; ++t) {
    disc(draw, at(t), radius, "", {.color = {"paper", "#fff"}, .shade = 1});
    disc(draw, at(t), radius, "", {.color = kAccent, .shade = std::clamp<double>(chain[t], 0, 1)});
  }
  Points bow;
  for (double share = 1; share >= -0.001; share -= 0.05)
    bow.push_back({20 + 320 * share, 110 - radius - 2 - 280 * share * (1 - share)});
  draw.arrow(bow, {.color = kQuery, .width = 2});
  draw.label({180, 16}, scene.word("arc", "g", short_number(arc)), {.color = kQuery});
  draw.label({180, 142}, scene.word("chain", "g", short_number(chain[0])));
  draw.label({8, 142}, scene.word("first"), {.color = kSoft, .align = "start"});
  draw.label({352, 142}, scene.word("last"), {.color = kSoft, .align = "end"});

  Rows rows = {{scene.word("axis.length"), scene.word("kind.recurrent"), scene.word("kind.attention")}};
  for (const size_t states : {8, 16, 32, 64}) {
    const auto [of_chain, of_arc] = paths_of(states, factor);
    rows.push_back({std::to_string(states), short_number(of_chain[0]), short_number(of_arc)});
  }
  return {draw.svg(scene.word("path")), rows};
}

}  // namespace

}  // namespace drawing

namespace {

// The weights of the first head, each row a query.
Still tokens_still(Scene scene) {
  Numbers request = tokens_first();
  scene.state.replace("heads", request[0]);
  scene.state.replace("positions", request[1]);
  scene.state.replace("allowed", std::span(request).last(16));
  scene.state.end();
  const Numbers answer = tokens(request);
  const size_t T = 4, d = 2, heads = static_cast<size_t>(request[0]);
  const std::span<const float> weights = std::span(answer).subspan(4 * T * d + heads * T * T, T * T),
                               z = std::span(answer).subspan(4 * T * d + 2 * heads * T * T, T * d);
  const Tokens names = parts_of(scene.word("names.context"), ' ');
  Rows rows = {{scene.word("query")}};
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  rows[0].push_back("Z");
  for (size_t i = 0; i < T; ++i) {
    rows.push_back({names[i]});
    for (size_t j = 0; j < T; ++j) rows.back().push_back(decimals(weights[T * i + j], 3));
    rows.back().push_back(decimals(z[d * i], 3) + ", " + decimals(z[d * i + 1], 3));
  }
  const auto square = [](std::span<const float> numbers) {
    return heed::reshape(heed::from_vector(Numbers(numbers.begin(), numbers.end()), {16}), {4, 4});
  };
  const heed::AttentionMap map(
      square(weights), names, names,
      {.sentence = scene.word("matrix.A"), .mask = heed::Mask(square(std::span(request).last(16)) != 0)});
  return {heed::attention_svg(map, {.language = scene.words.language}), rows};
}

// The alignment in a state of the record, and how many sentences both translate.
Still translators_still(Scene scene) {
  const json& states = scene.record.at("states");
  float at = 0;
  scene.state.replace("at", at);
  scene.state.end();
  check(at >= 0 && at < static_cast<float>(states.size()) && at == std::floor(at), "at is ", at,
        "; it must be an integer from 0 to ", states.size() - 1);
  const json& state = states[static_cast<size_t>(at)];

  const Numbers answer = state.at("translations")[0][1].get<Numbers>();
  RequestReader read("translators_translate", answer);
  const auto texts = [&] {
    Tokens all(static_cast<size_t>(read.integer("count", 0, 100)));
    for (std::string& one : all) one = read.text("token");
    return all;
  };
  check(texts().empty(), "the record has words that are unknown");
  Tokens target = texts(), source = texts();
  const heed::Tensor weights = heed::reshape(read.numbers("weights", std::ssize(target) * std::ssize(source)),
                                             {std::ssize(target), std::ssize(source)});
  for (std::string& token : target)
    if (token == "<eos>") token = scene.word("end");

  Rows rows = {{scene.word("axis.length"), scene.word("sentences"), scene.word("kind.one"),
                scene.word("kind.attention")}};
  const Numbers score = state.at("score").get<Numbers>();  // a count, then four numbers for each length
  std::map<int, std::array<float, 3>> groups;              // two lengths together, by the larger
  for (size_t i = 1; i + 3 < score.size(); i += 4)
    for (size_t k = 0; k < 3; ++k) groups[2 * ((static_cast<int>(score[i]) + 1) / 2)][k] += score[i + 1 + k];
  for (const auto& [length, counts] : groups) {
    rows.push_back({heed::detail::text(length - 1, "–", length)});
    for (const float count : counts) rows.back().push_back(decimals(count, 0));
  }
  const std::string step = heed::detail::text(state.at("step").get<int64_t>());
  const heed::AttentionMap map(weights, target, source,
                               {.sentence = scene.word("state.recorded", "step", step)});
  return {heed::attention_svg(map, {.language = scene.words.language}), rows};
}

// The graph with values and gradients.
Still tape_still(Scene scene) {
  const std::string text = scene.state.text("text", "w = 0.5; x = 2; b = -0.25; y = tanh(w * x + b)");
  scene.state.end();
  heed::Tape tape;
  compute(text, {}, &tape).result.backward();
  std::vector<std::string> gradients(tape.nodes().size());
  for (const heed::TapeStep& step : tape.steps()) {
    if (step.gradient.defined()) gradients[step.node] = heed::detail::in_line(step.gradient);
    for (const heed::TapeStep::Contribution& part : step.contributions)
      gradients[part.to] = heed::detail::in_line(part.sum);
  }
  Rows rows = {{scene.word("node"), scene.word("operation"), scene.word("value"), scene.word("gradient")}};
  for (size_t i = 0; i < tape.nodes().size(); ++i)
    rows.push_back({tape.label(i), tape.nodes()[i].operation, heed::detail::in_line(tape.nodes()[i].value),
                    gradients[i]});
  // Boxes have the lines of the program, which are those of the parser here.
  const auto without_lines = [](const std::string& label) {
    return label.find(">expression.cpp:") == std::string::npos ? label : "";
  };
  return {with_parts(heed::tape_svg(tape), "<text", "</text>", without_lines), rows};
}

}  // namespace

Still still_of(const std::string& bench, const std::string& state, const BenchWords& words,
               const std::string& record) {
  static const std::map<std::string, Still (*)(Scene)> makers = {{"regression", drawing::regression_still},
                                                                 {"plane", drawing::plane_still},
                                                                 {"tokens", tokens_still},
                                                                 {"translators", translators_still},
                                                                 {"tape", tape_still},
                                                                 {"length", drawing::length_still}};
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers) names.push_back(name);
  const auto found = makers.find(bench);
  check(found != makers.end(), "there is no bench ", bench, "; there are ", heed::detail::listed(names));
  Situation situation(bench, state);
  const json training = json::parse(record);
  return found->second({bench, situation, words, training});
}

}  // namespace program
