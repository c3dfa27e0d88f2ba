#include "examples/guide/diagrams.h"

#include <regex>
#include <set>

#include "tensor/table.h"
#include "tensor/utf8.h"
#include "tests/support/expect.h"

using namespace program;

// A <text> element with an estimate of the rectangle that it fills.
struct DiagramLabel {
  std::string text;   // all of it
  std::string words;  // what is not mathematics
  double smallest;    // font size
  double left, right, top, bottom;

  bool overlaps(const DiagramLabel& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

static std::vector<std::smatch> all_matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

static double text_width(const std::string& text, double size) {
  int64_t count = 0;
  heed::for_each_character(text, [&](uint32_t, std::string_view) { ++count; });
  const int64_t wide = display_width(text) - count;
  return size * (0.56 * static_cast<double>(count - wide) + static_cast<double>(wide));
}

static std::vector<DiagramLabel> labels_of(const std::string& svg) {
  static const std::regex element(
      R"re(<text x="([^"]+)" y="([^"]+)" font-size="([^"]+)" text-anchor="(\w+)"[^>]*>(.*)</text>)re"),
      run(R"re(<tspan([^>]*)>([^<]*)</tspan>|([^<>]+))re"), font_size(R"re(font-size="([^"]+)")re");
  std::vector<DiagramLabel> labels;
  for (const std::smatch& found : all_matches(svg, element)) {
    const double x = std::stod(found[1]), y = std::stod(found[2]), size = std::stod(found[3]);
    DiagramLabel label{{}, {}, size, 0, 0, y - 0.75 * size, y + 0.2 * size};
    double width = 0;
    const std::string content = found[5];
    for (const std::smatch& part : all_matches(content, run)) {
      const std::string attributes = part[1], text = part[2].str() + part[3].str();
      std::smatch own;
      const bool has_size = std::regex_search(attributes, own, font_size);
      const double run_size = has_size ? std::stod(own[1]) : size;
      label.smallest = std::min(label.smallest, run_size);
      label.text += text;
      if (!contains(attributes, "serif")) label.words += text + " ";
      width += text_width(text, run_size);
    }
    label.left = x - (found[4] == "middle" ? width / 2 : found[4] == "end" ? width : 0);
    label.right = label.left + width;
    labels.push_back(label);
  }
  CHECK(std::ssize(labels) == occurrences(svg, "<text"));
  return labels;
}

static bool has_chinese(const std::string& text) {
  bool found = false;
  heed::for_each_character(text, [&](uint32_t code, std::string_view) {
    found = found || (code >= 0x2E80 && code <= 0x9FFF) || (code >= 0xFF00 && code <= 0xFF60);
  });
  return found;
}

static bool has_balanced_tags(const std::string& xml) {
  static const std::regex tag(R"re(<(/?)([a-zA-Z]+)((?: [\w:-]+="[^"<]*")*)(/?)>)re");
  std::vector<std::string> open;
  size_t end = 0;
  for (const std::smatch& found : all_matches(xml, tag)) {
    const auto at = static_cast<size_t>(found.position());
    if (xml.find_first_of("<>", end) != at) return false;  // a tag that the pattern does not know
    end = at + static_cast<size_t>(found.length());
    if (found[1] == "/") {
      if (open.empty() || open.back() != found[2]) return false;
      open.pop_back();
    } else if (found[4] != "/") {
      open.push_back(found[2]);
    }
  }
  return open.empty() && xml.find_first_of("<>", end) == std::string::npos;
}

static std::string matched_in(const std::string& svg, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(svg, found, std::regex(pattern)) ? found[1].str() : "";
}

// Calls f(name, svg) for each diagram in a language.
static void each_diagram(const std::string& language, const auto& f) {
  for (const std::string& name : diagrams()) {
    CAPTURE(name);
    f(name, diagram(name, language));
  }
}

TEST_CASE("diagrams: every one of the guide is drawn") {
  CHECK(diagrams() == Texts{"cues.svg",
                            "query_key_value.svg",
                            "kernel_weights.svg",
                            "self_attention.svg",
                            "softmax_saturation.svg",
                            "four_to_four.svg",
                            "planted_relation.svg",
                            "online_softmax.svg",
                            "unrolled_recurrence.svg",
                            "one_context.svg",
                            "context_for_each_word.svg",
                            "multi_head.svg",
                            "masks.svg",
                            "key_value_cache.svg",
                            "position_added.svg",
                            "rotary.svg",
                            "layer_norm.svg",
                            "transformer_block.svg",
                            "transformer_stack.svg",
                            "computation_graph.svg",
                            "shared_heads.svg",
                            "bounded_scores.svg",
                            "position_bias.svg",
                            "longer_rotary.svg",
                            "sparse_masks.svg",
                            "sparse_weights.svg",
                            "monotonic.svg",
                            "copy_mixture.svg",
                            "state_rules.svg",
                            "hopfield.svg",
                            "differences.svg"});
  CHECK_ERROR(diagram("none.svg", "en"), "diagram: there is no none.svg; diagrams() lists all names");
  CHECK_ERROR(diagram("cues.svg", "fr"), "diagram: the language is \"fr\"; it must be \"en\" or \"zh\"");
}

TEST_CASE("diagrams: what the checks below reject") {
  CHECK(has_balanced_tags("<a x=\"1\"><b/>text</a>"));
  for (const std::string broken : {"<a>", "<a></b>", "<a><b></a></b>", "<a x=1/>", "a < b", "<a x=\"<\"/>"})
    CHECK_MESSAGE(!has_balanced_tags(broken), broken);
  const auto label = [](const std::string& x, const std::string& text) {
    return labels_of("<text x=\"" + x + "\" y=\"9\" font-size=\"10\" text-anchor=\"start\">" + text +
                     "</text>")[0];
  };
  CHECK(label("0", "abc").overlaps(label("15", "d")));
  CHECK(!label("0", "abc").overlaps(label("18", "d")));
  CHECK(label("0", "中文字").overlaps(label("25", "d")));
  CHECK(label("0", "x<tspan font-size=\"8\">i</tspan>").smallest == 8);
}

TEST_CASE("diagrams: well-formed, for a page with others") {
  for (const std::string language : {"en", "zh"})
    each_diagram(language, [](const std::string& name, const std::string& svg) {
      CHECK(has_balanced_tags(svg));
      CHECK(svg.starts_with("<svg "));
      CHECK(contains(svg, " role=\"img\" "));
      CHECK(matched_in(svg, R"re(viewBox="0 0 (\d+) \d+")re") == "360");
      CHECK(matched_in(svg, R"re(aria-label="([^"]+)")re").size() > 20);
      const std::string prefix = name.substr(0, name.size() - 4) + "-";
      std::set<std::string> ids;
      for (const std::smatch& id : all_matches(svg, std::regex(R"re( id="([^"]*)")re"))) {
        CHECK(id[1].str().starts_with(prefix));
        CHECK(ids.insert(id[1]).second);
      }
      for (const std::smatch& use : all_matches(svg, std::regex(R"re(url\(#([^)]*)\))re")))
        CHECK(ids.contains(use[1]));
      for (const std::smatch& color : all_matches(svg, std::regex(R"re((?:fill|stroke)="([^"]*)")re"))) {
        const std::string value = color[1];
        const bool of_the_page = value == "none" || value.starts_with("var(--") || value.starts_with("url(#");
        CHECK_MESSAGE(of_the_page, value);
      }
    });
}

TEST_CASE("diagrams: labels are legible, inside the picture, and apart from each other") {
  for (const std::string language : {"en", "zh"})
    each_diagram(language, [](const std::string&, const std::string& svg) {
      const double height = std::stod(matched_in(svg, R"re(viewBox="0 0 \d+ (\d+)")re"));
      const std::vector<DiagramLabel> labels = labels_of(svg);
      for (size_t i = 0; i < labels.size(); ++i) {
        CAPTURE(labels[i].text);
        CHECK(labels[i].smallest >= 9.5);
        CHECK(labels[i].left >= 0);
        CHECK(labels[i].right <= 360);
        CHECK(labels[i].top >= 0);
        CHECK(labels[i].bottom <= height);
        for (size_t j = 0; j < i; ++j) CHECK_MESSAGE(!labels[i].overlaps(labels[j]), labels[j].text);
      }
    });
}

TEST_CASE("diagrams: English pictures in English, Chinese ones in Chinese") {
  each_diagram("en", [](const std::string&, const std::string& svg) { CHECK(!has_chinese(svg)); });
  each_diagram("zh", [](const std::string&, const std::string& svg) {
    CHECK(has_chinese(matched_in(svg, R"re(aria-label="([^"]+)")re")));
    bool chinese = false;
    for (const DiagramLabel& label : labels_of(svg)) {
      chinese = chinese || has_chinese(label.words);
      for (const std::smatch& word :
           all_matches(label.words, std::regex("[A-Za-z]{2,}")))  // names, and a translation
        CHECK_MESSAGE(std::set<std::string>({"softmax", "norm", "love", "China"}).contains(word[0]),
                      label.text);
    }
    CHECK(chinese);
  });
}
