#pragma once

#include "tests/support/expect.h"
#include "tests/support/playground.h"
#include "tests/support/tab.h"

/// What a reader acts with.
enum class Hand { mouse, finger, keys };

/// The width of the window in pixels and the language.
struct Look {
  int width;
  std::string language;
};

/// A reader of the playground in a Tab: finds controls by their words, uses them, and reads the page. A
/// target is a JavaScript expression whose value is an element.
class Reader {
 public:
  explicit Reader(const std::string& page);
  Tab tab;

  /// Loads the page, with a fragment such as "lang=zh&length.T=48".
  void open(const std::string& fragment = "lang=en");
  void look(const Look& look);

  /// The control of a bench that has the words of a key of strings.*.json, such as "learn".
  static std::string control(const std::string& bench, const std::string& key, const Json& values = {});
  /// One of several in a group: `answer` is part of the key, such as "kernel.boxcar", or the text itself.
  static std::string option(const std::string& bench, const std::string& group, const std::string& answer);

  /// The picture below a caption, such as "alignment".
  static std::string picture(const std::string& bench, const std::string& caption);
  /// What a CSS selector finds in a bench, by its number.
  static std::string part(const std::string& bench, const std::string& selector, int index = 0);

  /// Clicks, taps, or presses Enter or Space.
  void press(const std::string& target, Hand hand = Hand::mouse);
  /// Moves a handle by some pixels, to the right and down. Keys move it by their own steps in that direction.
  void drag(const std::string& target, double dx, double dy, Hand hand = Hand::mouse);
  /// Presses at a place, moves from there, and lets go.
  void move_from(double x, double y, double dx, double dy, Hand hand);
  /// Moves the thumb of a slider to a value.
  void slide(const std::string& target, double value, Hand hand = Hand::mouse);
  /// Clicks or taps a place in a picture, or goes to it with arrow keys from the cell at the top left.
  void pick(const std::string& picture, int row, int column, Hand hand = Hand::mouse);
  /// Replaces a text and presses Enter.
  void write(const std::string& target, const std::string& text);
  /// Waits until the page is drawn.
  void settle();
  /// Waits until an expression is true or has an element, for at most 60 s. An error counts as false.
  void wait_until(const std::string& expression);

  /// The rows of each table behind the pictures, as texts.
  Json tables(const std::string& bench);
  /// A column of one of them, as numbers; NaN for texts.
  std::vector<double> column(const std::string& bench, int index, int table = 0);
  /// The visible text of an element that a CSS selector finds, and all numbers in it.
  std::string text(const std::string& selector);
  std::vector<double> numbers(const std::string& selector);
  /// Whether a goal is reached; it says what was found then.
  bool has_found(const std::string& bench, const std::string& goal);
  /// The words of a key in the present language.
  std::string words(const std::string& key);

 private:
  std::pair<double, double> place_of(const std::string& target);
  void press_at(double x, double y, Hand hand);
  std::string page_;
};

/// The playground, freshly loaded at 1280 pixels in the one Chromium of all its tests; null where it cannot
/// be made or opened, which the test's output says.
Reader* open_playground(const std::string& fragment = "lang=en");

/// The largest difference between two lists of numbers.
double distance(const std::vector<double>& a, const std::vector<double>& b);

/// Calls f for each width with each hand. The language changes in between, so that each hand and width has
/// both.
void for_each_hand(Reader& reader, const std::function<void(Hand)>& f);
