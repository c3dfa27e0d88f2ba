#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/program.h"

using Json = nlohmann::json;

/// The colors that the reader prefers.
enum class Scheme { light, dark };

/// A tab of Chromium that a test uses as a reader does: with events of mouse, touch and keyboard that the
/// browser handles like real ones. It speaks the DevTools protocol through two pipes and has no network
/// connection.
class Tab {
 public:
  /// Starts Chromium, which ends after `seconds` at the latest.
  explicit Tab(int seconds = 300);
  ~Tab();
  Tab(const Tab&) = delete;

  /// Opens an address and returns when its page is loaded.
  void open(const std::string& address);
  /// Waits for at most 60 s until a page leads on to one whose address has this part; returns where it is
  /// then.
  std::string address_after(const std::string& part);
  void resize(int width, int height);
  /// What the reader prefers.
  void prefer(Scheme scheme, bool reduced_motion = false);
  /// A window of this width whose page is drawn.
  void look(int width, Scheme scheme);

  /// Whether Chromium has ended or no longer answers.
  bool is_lost() const { return is_lost_; }

  /// The value of a JavaScript expression. Waits if it is a promise; the test fails if it throws.
  Json evaluate(const std::string& expression);
  /// The same in each Worker of the page.
  std::vector<Json> evaluate_in_workers(const std::string& expression);
  /// The arguments of note() in a script, one a line.
  std::string notes(const std::string& script);
  /// Waits until an expression is true or has an element, for at most 60 s. An error counts as false.
  void wait_until(const std::string& expression);
  /// Waits until the page is drawn.
  void settle();

  /// Mouse events at a place of the window, in pixels: mousePressed, mouseMoved, mouseReleased.
  void mouse(const std::string& type, double x, double y);
  /// An event of one finger: touchStart, touchMove or touchEnd.
  struct Touch {
    std::string type;
    double x, y;
  };
  /// Gives the page these events at once, however busy it is: a finger that rests where it begins neither
  /// taps nor scrolls.
  void touch(const std::vector<Touch>& events);
  void touch(const std::string& type, double x, double y) { touch({{type, x, y}}); }
  /// Touches a place and lifts the finger.
  void tap(double x, double y) { touch({{"touchStart", x, y}, {"touchEnd", x, y}}); }
  /// Presses and releases a key, such as "ArrowLeft", "Tab", " " or "a".
  void key(const std::string& name, bool shift = false);
  /// Types a text where the focus is, as an input method does.
  void type(const std::string& text);

  /// Bytes of JavaScript objects that are in use after garbage collection.
  double heap_bytes();
  /// Errors and warnings of the console since the last call, one a line.
  std::string console();

  /// Sends a command of the protocol to the page and returns its result.
  Json send(const std::string& method, const Json& parameters = Json::object());

 private:
  Json command(const std::string& session, const std::string& method, const Json& parameters);
  int post(const std::string& session, const std::string& method, const Json& parameters);
  Json answer_to(int id);
  Json read_message();
  void require(bool answers);
  void handle(const Json& event);

  Folder folder_;
  int child_, commands_, answers_;
  std::string received_;  // from Chromium, not yet read as a message
  std::string session_, console_;
  std::map<std::string, bool> workers_;  // their sessions
  int id_ = 0;
  bool loaded_ = false, is_lost_ = false;
};
