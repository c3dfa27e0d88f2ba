#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

/// The common hand of the guide's diagrams: boxes, arrows, matrices and labels that look the same in each.
/// Lengths are in units of the picture, which is 360 wide; y points down.
namespace program::drawing {

/// Width of every picture.
constexpr double kWidth = 360;

/// A variable of the page, and its value for light pages that do not define it.
struct Color {
  const char *name, *fallback;
};
constexpr Color kInk{"ink", "#222"}, kSoft{"soft", "#5a5a5a"}, kAccent{"accent", "#0064a5"};
/// Queries, keys and values have these colors in every diagram.
constexpr Color kQuery{"query", "#b3510a"}, kKey{"key", "#0f7f63"}, kValue{"value", "#8052c8"};

/// A text in both languages, or one for both. Between two $ is mathematics: letters are italic, - is a minus,
/// x_1 and x_{ij} are subscripts, K^T is a superscript. \n starts a new line.
struct Words {
  Words(const char* both) : Words(both, both) {}
  Words(const std::string& both) : Words(both, both) {}
  Words(std::string in_english, std::string in_chinese)
      : english(std::move(in_english)), chinese(std::move(in_chinese)) {}
  std::string english, chinese;
};

/// A point of the picture.
struct Point {
  double x, y;
};
using Points = std::vector<Point>;

/// A rectangle, and the points where arrows touch it.
struct Box {
  double x, y, width, height;

  Point center() const { return {x + width / 2, y + height / 2}; }
  /// The point of an edge that divides it in `share` and 1 - share, from the left or from above.
  Point top(double share = 0.5) const { return {x + share * width, y}; }
  Point bottom(double share = 0.5) const { return {x + share * width, y + height}; }
  Point left(double share = 0.5) const { return {x, y + share * height}; }
  Point right(double share = 0.5) const { return {x + width, y + share * height}; }
  /// The cell of a matrix that fills the box.
  Box cell(size_t row, size_t rows, size_t column, size_t columns) const;
};
/// The box with this center.
Box around(Point center, double width, double height);
/// A point of a circle. The angle is in degrees, counterclockwise from the right.
Point on_circle(Point center, double radius, double angle);
/// Points along a circle, from one angle to another.
Points arc(Point center, double radius, double from, double to);

/// How a label looks. `align` says which part of the label is at its point: start, middle or end.
struct Letters {
  Color color = kInk;
  double size = 13;
  const char* align = "middle";
};
/// How a box looks. `shade` is the opacity of its color, `round` the radius of its corners.
struct Look {
  Color color = kSoft;
  double shade = 0.12;
  double round = 4;
  bool dashed = false;
  double size = 13;  ///< of its letters
};
/// How a line looks.
struct Stroke {
  Color color = kSoft;
  double width = 1.4;
  bool dashed = false;
};

/// A picture in the making. It is as high as what is drawn.
class Picture {
 public:
  /// All ids of the picture begin with `name`.
  Picture(std::string name, bool chinese) : name_(std::move(name)), chinese_(chinese) {}

  /// A text whose middle is at the height of the point.
  void label(Point at, const Words& words, const Letters& letters = {});
  /// Returns `where`.
  Box box(const Box& where, const Words& words = "", const Look& look = {});
  /// A row of equal boxes with these words.
  void row(const Box& where, const std::vector<Words>& words, const Look& look = {});
  /// An empty matrix.
  Box matrix(const Box& where, size_t rows, size_t columns, Color color = kSoft);
  /// A matrix whose cells are shaded by numbers from 0 to 1, row by row.
  Box shaded(const Box& where, size_t rows, const std::vector<double>& shades, Color color = kAccent);
  /// A cell that is forbidden.
  void hatched(const Box& where);
  /// A matrix of scores, row by row: those that are allowed are shaded, the others are hatched.
  void mask(const Box& where, size_t rows, const std::vector<bool>& allowed);
  /// A filled rectangle without an edge. `shade` is the opacity of its color.
  void area(const Box& where, Color color, double shade);
  void line(const Points& points, const Stroke& stroke = {});
  /// A line with a head at its last point.
  void arrow(Points points, const Stroke& stroke = {});
  /// A line as thick as a weight from 0 to 1, between horizontal edges of boxes.
  void weight(Point from, Point to, double weight, const Look& look = {.color = kAccent, .shade = 1});

  /// The <svg> element. The sentence says what it shows.
  std::string svg(const Words& sentence) const;

 private:
  const std::string& in_language(const Words& words) const {
    return chinese_ ? words.chinese : words.english;
  }
  void path(const Points& points, const Stroke& stroke, const std::string& attributes);
  void include(double y) { height_ = std::max(height_, y); }

  std::string name_;
  bool chinese_;
  double height_ = 0;
  std::string body_;
  std::set<std::string> heads_, hatches_;  // markup of what is defined once
};

/// The weights of scores: their softmax.
std::vector<double> softmax_of(const std::vector<double>& scores);

}  // namespace program::drawing
