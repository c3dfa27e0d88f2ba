#include "nn/view/tape_page.h"

#include <nlohmann/json.hpp>

#include "nn/view/layered.h"
#include "nn/view/markup.h"
#include "tensor/table.h"

namespace heed {

// tape.html with tape.css and tape.js in it.
extern const char tape_template[];

namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::string>;

constexpr double kLetter = 7.8, kLine = 18, kPad = 10;  // pixels: of 13 pixels high letters of one width
constexpr int64_t kRuleColumns = 36;
const std::string kGradient = "∂ ";  // before the numbers of a gradient, as tape.js has it

// What a box says, from its first line down.
struct Card {
  std::string title;
  Lines value = {}, gradient = {}, small = {};  // gradient: at the end of the tape
  int64_t columns = 0;                          // of its longest line, at any step
};

std::vector<Card> cards_of(const Tape& tape) {
  std::vector<Card> cards;
  for (size_t i = 0; i < tape.nodes().size(); ++i) {
    const TapeNode& node = tape.nodes()[i];
    const bool given = node.inputs.empty();
    Card card{tape.label(i), detail::rows_of(node.value)};
    if (given && node.operation == "constant" && node.value.dim() == 0 && node.name.empty())
      card.value.clear();
    if (!given) {
      card.title += " = " + node.operation;
      card.small = detail::wrapped(detail::rule_of(tape, i), kRuleColumns);
    }
    for (const std::string& more : {node.module, detail::place_of(node.line)})
      if (!more.empty()) card.small.push_back(more);
    for (const Lines& lines : {Lines{card.title}, card.value, card.small})
      for (const std::string& line : lines) card.columns = std::max(card.columns, display_width(line));
    cards.push_back(std::move(card));
  }
  const auto show = [&](size_t node, const Tensor& gradient) {
    Card& card = cards[node];
    card.gradient = detail::rows_of(gradient);
    card.gradient[0] = kGradient + card.gradient[0];
    for (const std::string& line : card.gradient) card.columns = std::max(card.columns, display_width(line));
  };
  for (const TapeStep& step : tape.steps()) {
    if (step.gradient.defined()) show(step.node, step.gradient);
    for (const TapeStep::Contribution& gift : step.gifts) show(gift.to, gift.sum);
  }
  return cards;
}

Layered placed(const Tape& tape, const std::vector<Card>& cards) {
  std::vector<LayeredBox> boxes;
  std::vector<LayeredEdge> edges;
  for (size_t i = 0; i < cards.size(); ++i) {
    const Card& card = cards[i];
    const size_t rows = 1 + card.value.size() + card.gradient.size() + card.small.size();
    boxes.push_back({static_cast<double>(std::max<int64_t>(card.columns, 3)) * kLetter + 2 * kPad,
                     static_cast<double>(rows) * kLine + kPad});
    for (const size_t input : tape.nodes()[i].inputs) edges.push_back({input, i});
  }
  return layered(std::move(boxes), std::move(edges));
}

// From point to point, leaving and arriving upright.
std::string path_of(const std::vector<LayeredPoint>& points) {
  std::string path = detail::joined("M", points[0].x, ",", points[0].y);
  for (size_t i = 1; i < points.size(); ++i) {
    const auto [from_x, from_y] = points[i - 1];
    const auto [x, y] = points[i];
    const double middle = (from_y + y) / 2;
    path += detail::joined("C", from_x, ",", middle, " ", x, ",", middle, " ", x, ",", y);
  }
  return path;
}

// For each step its text, its node, the edges that it goes along, and the gradients that change.
std::string json(const Tape& tape) {
  // Edges are in the order of the nodes that they lead to, and of those nodes' inputs.
  std::vector<size_t> first_edge;
  size_t edges = 0;
  for (const TapeNode& node : tape.nodes()) {
    first_edge.push_back(edges);
    edges += node.inputs.size();
  }
  Json steps = Json::array();
  for (size_t i = 0; i < tape.steps().size(); ++i) {
    const TapeStep& step = tape.steps()[i];
    const std::vector<size_t>& inputs = tape.nodes()[step.node].inputs;
    Json& one = steps.emplace_back(Json{{"text", tape_text(tape, i)}, {"node", step.node}});
    if (!step.gradient.defined()) {
      one["inputs"] = inputs;
      continue;
    }
    Json gradients = Json::array({{{"node", step.node}, {"rows", detail::rows_of(step.gradient)}}});
    size_t next = 0;  // gifts come in the order of the inputs
    for (const TapeStep::Contribution& gift : step.gifts) {
      while (next < inputs.size() && inputs[next] != gift.to) ++next;
      Json& gradient = gradients.emplace_back(Json{{"node", gift.to}, {"rows", detail::rows_of(gift.sum)}});
      if (next < inputs.size())
        gradient["edge"] = first_edge[step.node] + next++;  // else it was made before the tape
    }
    one["gradients"] = std::move(gradients);
  }
  return detail::replaced(steps.dump(), "<", "\\u003c");
}

}  // namespace

std::string tape_svg(const Tape& tape) {
  const std::vector<Card> cards = cards_of(tape);
  const Layered drawn = placed(tape, cards);
  const auto width = std::ceil(drawn.width), height = std::ceil(drawn.height);
  std::string svg = detail::joined(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
      "\" viewBox=\"0 0 ", width, " ", height,
      R"(" font-family="ui-monospace, DejaVu Sans Mono, WenQuanYi Zen Hei Mono, monospace" font-size="13">
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerUnits="userSpaceOnUse" markerWidth="10"
markerHeight="10" orient="auto"><path d="M0,0L8,4L0,8z" fill="#888"/></marker></defs>
<rect class="paper" width="100%" height="100%" fill="#fff"/>
)");
  for (const LayeredEdge& edge : drawn.edges)
    svg += "<path class=\"edge\" data-to=\"" + std::to_string(edge.to) + "\" d=\"" + path_of(edge.points) +
           "\" fill=\"none\" stroke=\"#888\" stroke-width=\"1.5\" marker-end=\"url(#tip)\"/>\n";
  for (size_t i = 0; i < cards.size(); ++i) {
    const LayeredBox& box = drawn.boxes[i];
    const bool given = tape.nodes()[i].inputs.empty();
    svg += detail::joined("<g class=\"node", given ? " given" : "", "\" transform=\"translate(", box.x, " ",
                          box.y, ")\"><rect width=\"", box.width, "\" height=\"", box.height,
                          "\" rx=\"6\" fill=\"", given ? "#eef1f5" : "#fff",
                          "\" stroke=\"#08418a\" stroke-width=\"1.5\"/>");
    double y = kLine;
    const auto write = [&](const char* kind, const Lines& lines, const char* look) {
      for (const std::string& line : lines) {
        svg += detail::joined("<text class=\"", kind, "\" x=\"", kPad, "\" y=\"", y, "\" ", look, ">",
                              detail::escaped(line), "</text>");
        y += kLine;
      }
    };
    write("title", {cards[i].title}, "fill=\"#08418a\" font-weight=\"bold\"");
    write("value", cards[i].value, "fill=\"#222\"");
    write("gradient", cards[i].gradient, "fill=\"#c8102e\"");
    write("small", cards[i].small, "fill=\"#666\" font-size=\"11\"");
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
