#include "nn/view/tape_page.h"

#include <nlohmann/json.hpp>

#include "nn/view/layered.h"
#include "nn/view/markup.h"
#include "tensor/table.h"

namespace heed {

// tape.html with tape.css and tape.js, embedded by cmake/embed_page.cmake.
extern const char tape_template[];

namespace {

using Json = nlohmann::ordered_json;
using detail::Lines;

constexpr double kFont = 13, kSmallFont = 11.25, kLine = 18, kPad = 10;  // pixels
constexpr double kLetter = 0.6;  // width of a monospaced letter, of its font size
constexpr int64_t kRuleColumns = 30;
constexpr const char* kGradient = "∂ ";  // precedes the values of a gradient, as in tape.js

// The lines of a box, and its size.
struct Card {
  Lines title, value, gradient, small;  // `gradient` as at the end of the tape
  double width = 3 * kLetter * kFont;   // of the longest line in any step

  void fit(const Lines& lines, double font_size = kFont) {
    for (const std::string& line : lines)
      width = std::max(width, static_cast<double>(display_width(line)) * kLetter * font_size);
  }
  LayeredBox box() const {
    const size_t rows = title.size() + value.size() + gradient.size() + small.size();
    return {width + 2 * kPad, static_cast<double>(rows) * kLine + kPad};
  }
};

std::vector<Card> cards_of(const Tape& tape) {
  std::vector<Card> cards;
  for (size_t i = 0; i < tape.nodes().size(); ++i) {
    const TapeNode& node = tape.nodes()[i];
    Card& card = cards.emplace_back(Card{{tape.label(i)}, detail::rows_of(node.value), {}, {}});
    if (!node.inputs.empty()) {
      card.title[0] += " = " + node.operation;
      card.small = detail::wrapped(detail::rule_of(tape, i), kRuleColumns);
    } else if (card.title == card.value) {  // a constant scalar without a name
      card.value.clear();
    }
    for (const std::string& more : {node.module, detail::place_of(node.line)})
      if (!more.empty()) card.small.push_back(more);
    for (const Lines& lines : {card.title, card.value}) card.fit(lines);
    card.fit(card.small, kSmallFont);
  }
  const auto show = [&](size_t node, const Tensor& gradient) {
    Lines& lines = cards[node].gradient = detail::rows_of(gradient);
    lines[0].insert(0, kGradient);
    cards[node].fit(lines);
  };
  for (const TapeStep& step : tape.steps()) {
    if (step.gradient.defined()) show(step.node, step.gradient);
    for (const TapeStep::Contribution& part : step.contributions) show(part.to, part.sum);
  }
  return cards;
}

// A curve through the points that is vertical in each of them. An empty piece would turn the tip of its
// arrow.
std::string path_of(const std::vector<LayeredPoint>& points) {
  std::string path = detail::text("M", points[0].x, ",", points[0].y);
  for (size_t i = 1; i < points.size(); ++i) {
    const auto [x, y] = points[i];
    if (points[i - 1].y == y) continue;
    const double middle = (points[i - 1].y + y) / 2;
    path += detail::text("C", points[i - 1].x, ",", middle, " ", x, ",", middle, " ", x, ",", y);
  }
  return path;
}

// The nodes in words, and for each step its node, in the backward pass also the gradient and what the rule
// sends to each input: the part, the sum so far, and the edge that it follows.
std::string json(const Tape& tape) {
  Json nodes = Json::array(), steps = Json::array();
  std::vector<size_t> first_edge = {0};  // of each node
  for (size_t i = 0; i < tape.nodes().size(); ++i) {
    const TapeNode& node = tape.nodes()[i];
    first_edge.push_back(first_edge.back() + node.inputs.size());
    nodes.push_back({{"label", tape.label(i)},
                     {"operation", node.operation},
                     {"inputs", node.inputs},
                     {"value", detail::in_line(node.value)},
                     {"rule", detail::rule_of(tape, i)},
                     {"module", node.module},
                     {"line", detail::place_of(node.line)}});
  }
  for (const TapeStep& step : tape.steps()) {
    Json& one = steps.emplace_back(Json{{"node", step.node}, {"pass", step.pass}});
    if (!step.gradient.defined()) continue;
    one["gradient"] = detail::in_line(step.gradient);
    one["rows"] = detail::rows_of(step.gradient);
    one["parts"] = Json::array();
    const std::vector<size_t>& inputs = tape.nodes()[step.node].inputs;
    auto next = inputs.begin();  // contributions are in the order of the inputs
    for (const TapeStep::Contribution& part : step.contributions) {
      Json& to = one["parts"].emplace_back(Json{{"node", part.to},
                                                {"part", detail::in_line(part.gradient)},
                                                {"sum", detail::in_line(part.sum)},
                                                {"rows", detail::rows_of(part.sum)},
                                                {"broadcast", part.summed}});
      const auto input = std::find(next, inputs.end(), part.to);
      if (input == inputs.end()) continue;  // the node is older than the tape
      to["edge"] = first_edge[step.node] + static_cast<size_t>(input - inputs.begin());
      next = input + 1;
    }
  }
  return detail::script_json(Json{{"nodes", std::move(nodes)}, {"steps", std::move(steps)}}.dump());
}

}  // namespace

std::string tape_svg(const Tape& tape) {
  const std::vector<Card> cards = cards_of(tape);
  std::vector<LayeredBox> boxes;
  std::vector<LayeredEdge> edges;  // for each node, one from each input
  for (size_t i = 0; i < cards.size(); ++i) {
    boxes.push_back(cards[i].box());
    for (const size_t input : tape.nodes()[i].inputs) edges.push_back({input, i});
  }
  const Layered drawn = layered(std::move(boxes), std::move(edges));
  std::string svg = detail::svg_begin(
      std::ceil(drawn.width), std::ceil(drawn.height),
      R"(font-family="ui-monospace, DejaVu Sans Mono, WenQuanYi Zen Hei Mono, monospace" font-size="13")");
  svg += R"svg(<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerUnits="userSpaceOnUse"
markerWidth="10" markerHeight="10" orient="auto"><path class="soft" d="M0,0L8,4L0,8z" fill="#5c6370"/></marker></defs>
<g class="wire" fill="none" stroke="#5c6370" stroke-width="1.5" marker-end="url(#tip)">
)svg";
  for (const LayeredEdge& edge : drawn.edges)
    svg += detail::line(R"(<path class="edge" data-to="{}" d="{}"/>)", edge.to, path_of(edge.points));
  svg += "</g>\n";
  for (size_t i = 0; i < cards.size(); ++i) {
    const auto [width, height, x, y] = drawn.boxes[i];
    const bool given = tape.nodes()[i].inputs.empty();
    svg += detail::line(R"svg(<g class="node" transform="translate({} {})">
<rect class="{} outline" width="{}" height="{}" rx="6" fill="{}" stroke="#08418a" stroke-width="1.5"/>)svg",
                        x, y, given ? "box" : "paper", width, height, given ? "#eef1f5" : "#fff");
    double baseline = 0;
    const auto write = [&](const Lines& lines, const std::string& attributes) {
      for (const std::string& text : lines)
        svg += detail::line(R"(<text x="{}" y="{}" {}>{}</text>)", kPad, baseline += kLine, attributes,
                            detail::escaped(text));
    };
    write(cards[i].title, R"(class="accent" fill="#08418a" font-weight="bold")");
    write(cards[i].value, R"(class="value")");
    write(cards[i].gradient, R"(class="gradient mark" fill="#c8102e")");
    write(cards[i].small, detail::with_parts(R"(class="soft" fill="#5c6370" font-size="{}")", kSmallFont));
    svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

std::string tape_page(const Tape& tape, const TapePageOptions& options) {
  return detail::filled(tape_template, {{"language", detail::escaped(options.language)},
                                        {"title", detail::escaped(options.title)},
                                        {"picture", tape_svg(tape)},
                                        {"data", json(tape)}});
}

}  // namespace heed
