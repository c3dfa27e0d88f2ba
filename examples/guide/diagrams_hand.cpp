#include "examples/guide/diagrams_hand.h"

#include <cmath>
#include <numbers>

#include "autograd/ops/softmax.h"
#include "nn/view/markup.h"
#include "tensor/create.h"
#include "tensor/utf8.h"

namespace program::drawing {

namespace {

constexpr double kHead = 8, kMargin = 8, kLineHeight = 1.25;

std::string paint(Color color) { return heed::detail::text("var(--", color.name, ", ", color.fallback, ")"); }

// Tenths of a unit are enough for every coordinate.
double to_tenths(double x) { return std::round(10 * x) / 10 + 0.0; }

// A part of a line in one style.
struct TextRun {
  std::string text;
  bool math, italic;
  char script;  // _ or ^, or 0

  bool same_style(const TextRun& other) const {
    return math == other.math && italic == other.italic && script == other.script;
  }
};

bool is_letter(uint32_t code) {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= 0x3B1 && code <= 0x3C9);
}

std::vector<TextRun> runs_of(const std::string& line) {
  std::vector<TextRun> runs;
  bool math = false, group = false;
  char script = 0;
  heed::for_each_character(line, [&](uint32_t code, std::string_view bytes) {
    if (code == '$') {
      math = !math;
    } else if (math && (code == '_' || code == '^')) {
      script = static_cast<char>(code);
    } else if (math && code == '{') {
      group = true;
    } else if (math && code == '}') {
      group = false;
      script = 0;
    } else {
      const TextRun run{std::string(math && code == '-' ? "−" : bytes), math, math && is_letter(code),
                        script};
      if (!runs.empty() && runs.back().same_style(run))
        runs.back().text += run.text;
      else
        runs.push_back(run);
      if (!group) script = 0;
    }
  });
  return runs;
}

// The runs as <tspan> elements. Each says how far it is below the one before.
std::string markup_of(const std::string& line, double size) {
  std::string markup;
  double depth = 0;
  for (const TextRun& run : runs_of(line)) {
    const double target = run.script == '_' ? 0.28 * size : run.script == '^' ? -0.36 * size : 0;
    std::string attributes;
    if (run.math) attributes += R"( font-family="serif")";
    if (run.italic) attributes += R"( font-style="italic")";
    if (run.script)
      attributes += heed::detail::text(" font-size=\"", std::max(9.5, to_tenths(0.74 * size)), "\"");
    if (target != depth) attributes += heed::detail::text(" dy=\"", to_tenths(target - depth), "\"");
    depth = target;
    const std::string text = heed::detail::escaped(run.text);
    markup += attributes.empty() ? text : "<tspan" + attributes + ">" + text + "</tspan>";
  }
  return markup;
}

double length_between(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }

// The line without its last `length`, where the head of an arrow is.
Points shortened(Points points, double length) {
  while (points.size() > 2 && length_between(points.back(), points[points.size() - 2]) <= length) {
    length -= length_between(points.back(), points[points.size() - 2]);
    points.pop_back();
  }
  const Point before = points[points.size() - 2];
  Point& last = points.back();
  const double share = length / length_between(last, before);
  last = {last.x + share * (before.x - last.x), last.y + share * (before.y - last.y)};
  return points;
}

}  // namespace

Box Box::cell(size_t row, size_t rows, size_t column, size_t columns) const {
  const double w = width / static_cast<double>(columns), h = height / static_cast<double>(rows);
  return {x + static_cast<double>(column) * w, y + static_cast<double>(row) * h, w, h};
}

Box around(Point center, double width, double height) {
  return {center.x - width / 2, center.y - height / 2, width, height};
}

Point on_circle(Point center, double radius, double angle) {
  const double radians = angle * std::numbers::pi / 180;
  return {center.x + radius * std::cos(radians), center.y - radius * std::sin(radians)};
}

Points arc(Point center, double radius, double from, double to) {
  Points points;
  constexpr int kParts = 24;
  for (int i = 0; i <= kParts; ++i)
    points.push_back(on_circle(center, radius, from + (to - from) * i / kParts));
  return points;
}

void Picture::label(Point at, const Words& words, const Letters& letters) {
  const std::string& text = in_language(words);
  const double step = kLineHeight * letters.size;
  double y = at.y - step * static_cast<double>(std::count(text.begin(), text.end(), '\n')) / 2;
  for (size_t begin = 0; begin <= text.size(); y += step) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    body_ +=
        heed::detail::line(R"(<text x="{}" y="{}" font-size="{}" text-anchor="{}" fill="{}">{}</text>)",
                           to_tenths(at.x), to_tenths(y + 0.36 * letters.size), letters.size, letters.align,
                           paint(letters.color), markup_of(text.substr(begin, end - begin), letters.size));
    include(y + 0.6 * letters.size);
    begin = end + 1;
  }
}

Box Picture::box(const Box& where, const Words& words, const Look& look) {
  const std::string color = paint(look.color);
  body_ += heed::detail::line(
      R"(<rect x="{}" y="{}" width="{}" height="{}" rx="{}" fill="{}" fill-opacity="{}" stroke="{}"{}/>)",
      to_tenths(where.x), to_tenths(where.y), to_tenths(where.width), to_tenths(where.height), look.round,
      color, std::round(100 * look.shade) / 100, color, look.dashed ? R"( stroke-dasharray="3 3")" : "");
  include(where.y + where.height);
  if (!in_language(words).empty()) label(where.center(), words, {.size = look.size});
  return where;
}

void Picture::row(const Box& where, const std::vector<Words>& words, const Look& look) {
  for (size_t i = 0; i < words.size(); ++i) box(where.cell(0, 1, i, words.size()), words[i], look);
}

Box Picture::matrix(const Box& where, size_t rows, size_t columns, Color color) {
  return shaded(where, rows, std::vector<double>(rows * columns, 0.12), color);
}

Box Picture::shaded(const Box& where, size_t rows, const std::vector<double>& shades, Color color) {
  const size_t columns = shades.size() / rows;
  for (size_t i = 0; i < shades.size(); ++i)
    box(where.cell(i / columns, rows, i % columns, columns), "",
        {.color = color, .shade = shades[i], .round = 0});
  return where;
}

void Picture::hatched(const Box& where) {
  const std::string color = paint(kSoft), id = name_ + "-hatch";
  hatches_.insert(heed::detail::line(
      R"svg(<pattern id="{}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V5" stroke="{}" stroke-width="1.6"/></pattern>)svg",
      id, color));
  body_ += heed::detail::line(
      R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="url(#{})" stroke="{}"/>)svg", to_tenths(where.x),
      to_tenths(where.y), to_tenths(where.width), to_tenths(where.height), id, color);
  include(where.y + where.height);
}

void Picture::mask(const Box& where, size_t rows, const std::vector<bool>& allowed) {
  const size_t columns = allowed.size() / rows;
  for (size_t i = 0; i < allowed.size(); ++i) {
    const Box cell = where.cell(i / columns, rows, i % columns, columns);
    if (allowed[i])
      shaded(cell, 1, {0.35});
    else
      hatched(cell);
  }
}

void Picture::area(const Box& where, Color color, double shade) {
  body_ += heed::detail::line(
      R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="{}" fill-opacity="{}"/>)svg", to_tenths(where.x),
      to_tenths(where.y), to_tenths(where.width), to_tenths(where.height), paint(color), shade);
  include(where.y + where.height);
}

void Picture::path(const Points& points, const Stroke& stroke, const std::string& attributes) {
  std::string d;
  for (const Point& point : points) {
    d += heed::detail::text(d.empty() ? "M" : "L", to_tenths(point.x), " ", to_tenths(point.y));
    include(point.y);
  }
  body_ += heed::detail::line(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}"{}{}/>)", d,
                              paint(stroke.color), to_tenths(stroke.width),
                              stroke.dashed ? R"( stroke-dasharray="3 3")" : "", attributes);
}

void Picture::line(const Points& points, const Stroke& stroke) { path(points, stroke, ""); }

void Picture::arrow(Points points, const Stroke& stroke) {
  const std::string id = heed::detail::text(name_, "-head-", stroke.color.name);
  heads_.insert(heed::detail::line(
      R"(<marker id="{}" markerUnits="userSpaceOnUse" markerWidth="8" markerHeight="8" refX="1" refY="4" orient="auto"><path d="M0 .6L8 4L0 7.4Z" fill="{}"/></marker>)",
      id, paint(stroke.color)));
  path(shortened(std::move(points), kHead - 1), stroke, " marker-end=\"url(#" + id + ")\"");
}

void Picture::weight(Point from, Point to, double weight, const Look& look) {
  const double half = (0.3 + 4 * weight) * length_between(from, to) / std::abs(to.y - from.y);
  body_ += heed::detail::line(R"(<path d="M{} {}H{}L{} {}H{}Z" fill="{}" fill-opacity="{}"/>)",
                              to_tenths(from.x - half), to_tenths(from.y), to_tenths(from.x + half),
                              to_tenths(to.x + half), to_tenths(to.y), to_tenths(to.x - half),
                              paint(look.color), look.shade);
  include(std::max(from.y, to.y));
}

std::string Picture::svg(const Words& sentence) const {
  const double height = std::ceil(height_) + kMargin;
  std::string svg = heed::detail::line(
      R"(<svg xmlns="http://www.w3.org/2000/svg" class="diagram" role="img" aria-label="{}" width="{}" )"
      R"(height="{}" viewBox="0 0 {} {}" fill="none"><defs>)",
      heed::detail::escaped(in_language(sentence)), kWidth, height, kWidth, height);
  for (const std::set<std::string>& definitions : {heads_, hatches_})
    for (const std::string& definition : definitions) svg += definition;
  return svg + "</defs>\n" + body_ + "</svg>\n";
}

std::vector<double> softmax_of(const std::vector<double>& scores) {
  return heed::softmax(heed::from_vector(scores, {std::ssize(scores)}), -1).to_vector<double>();
}

}  // namespace program::drawing
