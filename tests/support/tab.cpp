#include "tests/support/tab.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int kPatience = 120'000;  // milliseconds in which Chromium must answer

// The number of a key in events, as Windows counts them.
int number_of_key(const std::string& name) {
  static const std::map<std::string, int> numbers = {
      {"Backspace", 8}, {"Tab", 9},         {"Enter", 13},     {"Escape", 27}, {" ", 32},
      {"PageUp", 33},   {"PageDown", 34},   {"End", 35},       {"Home", 36},   {"ArrowLeft", 37},
      {"ArrowUp", 38},  {"ArrowRight", 39}, {"ArrowDown", 40}, {"Delete", 46}};
  const auto found = numbers.find(name);
  return found != numbers.end() ? found->second : std::toupper(name[0]);
}

// A value of the console as text.
std::string text_of(const Json& value) {
  if (value.contains("description")) return value["description"];
  return value.contains("value") ? value["value"].dump() : value.value("type", "");
}

}  // namespace

Tab::Tab(int seconds) {
  for (const char* pipe : {"commands", "answers"}) REQUIRE(mkfifo((folder_ / pipe).c_str(), 0600) == 0);
  const std::string command =
      "exec timeout -k 10 " + std::to_string(seconds) +
      " chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars"
      " --no-first-run --remote-debugging-pipe --lang=en-US --user-data-dir=" +
      (folder_ / "profile") + " --host-resolver-rules='MAP * ~NOTFOUND' about:blank 3< " +
      (folder_ / "commands") + " 4> " + (folder_ / "answers") + " > /dev/null 2> " + (folder_ / "log");
  child_ = fork();
  REQUIRE(child_ >= 0);
  if (child_ == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  commands_ = ::open((folder_ / "commands").c_str(), O_WRONLY | O_CLOEXEC);
  answers_ = ::open((folder_ / "answers").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(commands_ >= 0);
  REQUIRE(answers_ >= 0);
  const Json target = this->command("", "Target.createTarget", {{"url", "about:blank"}});
  session_ = this->command("", "Target.attachToTarget",
                           {{"targetId", target["targetId"]}, {"flatten", true}})["sessionId"];
  for (const char* domain : {"Page", "Runtime", "Log"}) send(std::string(domain) + ".enable");
  send("Target.setAutoAttach", {{"autoAttach", true}, {"waitForDebuggerOnStart", false}, {"flatten", true}});
  send("Emulation.setTouchEmulationEnabled", {{"enabled", true}});
  send("Emulation.setFocusEmulationEnabled", {{"enabled", true}});
}

// Chromium ends when its pipe is closed.
Tab::~Tab() {
  close(commands_);
  close(answers_);
  if (is_lost_) kill(child_, SIGTERM);
  waitpid(child_, nullptr, 0);
}

Json Tab::send(const std::string& method, const Json& parameters) {
  return command(session_, method, parameters);
}

Json Tab::command(const std::string& session, const std::string& method, const Json& parameters) {
  return answer_to(post(session, method, parameters));
}

int Tab::post(const std::string& session, const std::string& method, const Json& parameters) {
  Json message = {{"id", ++id_}, {"method", method}, {"params", parameters}};
  if (!session.empty()) message["sessionId"] = session;
  const std::string bytes = message.dump() + '\0';
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = write(commands_, bytes.data() + sent, bytes.size() - sent);
    require(count > 0);
    sent += static_cast<size_t>(count);
  }
  return id_;
}

Json Tab::answer_to(int id) {
  for (;;) {
    const Json answer = read_message();
    if (answer.contains("method")) {
      handle(answer);
    } else if (answer["id"] == id) {
      REQUIRE_MESSAGE(!answer.contains("error"), answer.dump());
      return answer["result"];
    }
  }
}

void Tab::require(bool answers) {
  is_lost_ = !answers;
  REQUIRE_MESSAGE(answers, "Chromium has ended or does not answer: ", read_file(folder_ / "log"));
}

// Messages end with a zero byte.
Json Tab::read_message() {
  for (;;) {
    if (const size_t end = received_.find('\0'); end != std::string::npos) {
      const Json message = Json::parse(received_.substr(0, end));
      received_.erase(0, end + 1);
      return message;
    }
    pollfd ready = {answers_, POLLIN, 0};
    require(poll(&ready, 1, kPatience) == 1);
    std::string bytes(1 << 16, '\0');
    const ssize_t count = read(answers_, bytes.data(), bytes.size());
    require(count > 0);
    received_.append(bytes, 0, static_cast<size_t>(count));
  }
}

void Tab::handle(const Json& event) {
  const std::string name = event["method"];
  const Json& about = event["params"];
  if (name == "Page.loadEventFired") {
    loaded_ = true;
  } else if (name == "Target.attachedToTarget") {
    workers_[about["sessionId"]] = true;
  } else if (name == "Target.detachedFromTarget") {
    workers_.erase(about["sessionId"]);
  } else if (name == "Runtime.exceptionThrown") {
    const Json& details = about["exceptionDetails"];
    console_ += details.value("text", "") + " " + text_of(details.value("exception", Json::object())) + "\n";
  } else if (name == "Log.entryAdded") {
    const Json& entry = about["entry"];
    if (entry["level"] == "error" || entry["level"] == "warning") console_ += entry.value("text", "") + "\n";
  } else if (name == "Runtime.consoleAPICalled" &&
             (about["type"] == "error" || about["type"] == "warning" || about["type"] == "assert")) {
    for (const Json& argument : about["args"]) console_ += text_of(argument) + " ";
    console_ += "\n";
  } else if (name == "Inspector.targetCrashed") {
    require(false);
  }
}

// By way of an empty page, since an address that differs in its fragment only would not be loaded again.
void Tab::open(const std::string& address) {
  for (const std::string& url : {std::string("about:blank"), address}) {
    loaded_ = false;
    send("Page.navigate", {{"url", url}});
    while (!loaded_) handle(read_message());
  }
}

std::string Tab::address_after(const std::string& part) {
  std::string address;
  for (int i = 0; i < 600 && address.find(part) == std::string::npos; ++i) {
    usleep(100'000);
    const Json frame = send("Page.getFrameTree")["frameTree"]["frame"];
    address = frame["url"].get<std::string>() + frame.value("urlFragment", "");
  }
  return address;
}

void Tab::resize(int width, int height) {
  send("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void Tab::prefer(Scheme scheme, bool reduced_motion) {
  const Json motion = {{"name", "prefers-reduced-motion"}, {"value", reduced_motion ? "reduce" : ""}},
             colors = {{"name", "prefers-color-scheme"},
                       {"value", scheme == Scheme::dark ? "dark" : "light"}};
  send("Emulation.setEmulatedMedia", {{"features", {motion, colors}}});
}

void Tab::look(int width, Scheme scheme) {
  resize(width, 800);
  prefer(scheme);
  settle();
}

Json Tab::evaluate(const std::string& expression) {
  const Json answer = send(
      "Runtime.evaluate",
      {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}, {"userGesture", true}});
  if (answer.contains("exceptionDetails"))
    FAIL(expression, ": ", text_of(answer["exceptionDetails"].value("exception", Json::object())));
  return answer["result"].value("value", Json());
}

std::vector<Json> Tab::evaluate_in_workers(const std::string& expression) {
  std::vector<Json> values;
  const std::map<std::string, bool> now = workers_;  // the answers may end one
  for (const auto& [session, is_open] : now)
    values.push_back(
        command(session, "Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}})["result"]
            .value("value", Json()));
  return values;
}

std::string Tab::notes(const std::string& script) {
  return evaluate("(async () => { let noted = ''; const note = text => { noted += text + '\\n'; };\n{" +
                  script + "}\nreturn noted; })()");
}

void Tab::wait_until(const std::string& expression) {
  const Json holds = evaluate(
      "(async () => { for (const end = performance.now() + 6e4; performance.now() < end;) { try { if (" +
      expression + ") return true; } catch {} await new Promise(done => setTimeout(done, 20)); } })()");
  REQUIRE_MESSAGE(holds == true, "never: ", expression);
}

void Tab::settle() {
  evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))");
}

void Tab::mouse(const std::string& type, double x, double y) {
  const bool is_down = type != "mouseReleased";
  send("Input.dispatchMouseEvent", {{"type", type},
                                    {"x", x},
                                    {"y", y},
                                    {"button", "left"},
                                    {"buttons", is_down ? 1 : 0},
                                    {"clickCount", type == "mouseMoved" ? 0 : 1}});
}

void Tab::touch(const std::vector<Touch>& events) {
  std::vector<int> ids;
  for (const auto& [type, x, y] : events) {
    const Json points = type == "touchEnd" ? Json::array() : Json::array({{{"x", x}, {"y", y}}});
    ids.push_back(post(session_, "Input.dispatchTouchEvent", {{"type", type}, {"touchPoints", points}}));
  }
  for (const int id : ids) answer_to(id);
}

void Tab::key(const std::string& name, bool shift) {
  Json event = {{"key", name},
                {"code", name == " " ? "Space" : name},
                {"windowsVirtualKeyCode", number_of_key(name)},
                {"modifiers", shift ? 8 : 0}};
  const std::string text = name == "Enter" ? "\r" : name.size() == 1 ? name : "";
  event["type"] = text.empty() ? "rawKeyDown" : "keyDown";
  if (!text.empty()) event["text"] = text;
  send("Input.dispatchKeyEvent", event);
  event["type"] = "keyUp";
  event.erase("text");
  send("Input.dispatchKeyEvent", event);
}

void Tab::type(const std::string& text) { send("Input.insertText", {{"text", text}}); }

double Tab::heap_bytes() {
  for (int i = 0; i < 2; ++i) send("HeapProfiler.collectGarbage");
  return send("Runtime.getHeapUsage")["usedSize"];
}

std::string Tab::console() { return std::exchange(console_, ""); }
