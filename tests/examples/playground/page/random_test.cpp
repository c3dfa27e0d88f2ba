// A reader who does anything: random dragging, tapping, typing and training on every bench. It takes a
// minute. For an hour:
//   HEED_PLAYGROUND_MINUTES=60 HEED_PLAYGROUND_SEED=1 build/release/tests/heed_example_tests -tc='page:
//   random*'

#include <chrono>
#include <random>
#include <set>

#include "tests/support/reader.h"

namespace {

const Texts kOddTexts = {"",
                         " ",
                         "😀",
                         "👩‍👩‍👧‍👦 爱 🇨🇳",
                         "1e999",
                         "-1e38",
                         "0,1\n1,",
                         "x,y\n1,2\n3",
                         "0,1\n1.2,3\n3,2\n4,1e30",
                         "1;1\n1;1\n1;1",
                         "5 5\n1e-30 2\n7 8\n-3,4",
                         "我爱中国",
                         "他喝茶",
                         "龘龘龘龘龘龘龘龘龘龘",
                         "<b>I</b> & 'you'",
                         "y = x",
                         "y = log(0 * x)",
                         "y = 1 / (x - x)",
                         "y = exp(exp(exp(x)))",
                         "y = sum(softmax([1, 2, 3] * q) * [4, 5, 6])",
                         "a = tanh(w * x + b); y = (a - 1)^2",
                         "x = [1, 2, 3]; y = sum(x * [1, 2])",
                         "y = ((((((((x))))))))",
                         "y = x +",
                         "x = x; y = x",
                         "y = 1 2 3"};

// One random action at a time; `done` says what it was.
class RandomReader {
 public:
  RandomReader(Reader& opened, uint32_t seed) : reader(opened), random_(seed) {
    // The guide is not there.
    reader.tab.evaluate(
        "addEventListener('click', event => event.target.closest('.read a') && event.preventDefault())");
  }

  Reader& reader;
  std::string done;

  void act() {
    done = "";
    if (chance(0.01)) return look();
    if (chance(0.02)) return scroll();
    const Json kinds = {"[role=slider]",
                        "[role=slider]",
                        "input[type=range]",
                        "input[type=range]",
                        "button",
                        "button",
                        "button",
                        "[role=radio]",
                        ".matrix",
                        "input[type=text], textarea",
                        "summary",
                        "input[type=checkbox]"};
    const std::string bench = "heed-bench:nth-of-type(" + std::to_string(1 + whole(7)) + ")";
    const std::string kind =
        chance(0.01) ? "nav button" : bench + " :is(" + kinds[whole(kinds.size())].get<std::string>() + ")";
    const int count =
        reader.tab.evaluate("(eyes.found = [...document.querySelectorAll(" + Json(kind).dump() +
                            ")].filter(node => eyes.isVisible(node) && !node.disabled)).length");
    if (count == 0) return;
    const std::string target = "eyes.found[" + std::to_string(whole(static_cast<size_t>(count))) + "]";
    done = reader.tab.evaluate(target + ".closest('heed-bench')?.getAttribute('name') + ' ' + " + target +
                               ".tagName + ' ' + eyes.words(" + target + ")");
    if (chance(0.3)) return keys(target);
    const std::string tag = reader.tab.evaluate(target + ".tagName");
    if (tag == "TEXTAREA" || reader.tab.evaluate(target + ".type") == "text")
      write(target);
    else
      pull(target);
  }

  // What asks for most memory: a whole training in each Worker, and a text that the model writes.
  void train_all() {
    for (const char* what :
         {"'translators').bench.learn()", "'model').bench.learn()", "'model').bench.write()"})
      reader.tab.evaluate("eyes.bench(" + std::string(what));
  }
  // Every bench in its first state, in English at 1280 pixels.
  void begin_again() {
    reader.tab.resize(1280, 800);
    reader.tab.evaluate(
        "for (const {bench} of document.querySelectorAll('heed-bench')) {"
        "  bench.stop?.(); bench.pause?.(); bench.reset?.(); bench.change({...bench.kind.defaults}); }"
        "language === 'en' || switchTo('en');"
        "for (const details of document.querySelectorAll('details')) details.open = false;");
    reader.tab.evaluate("new Promise(done => setTimeout(done, 1500))");
  }

 private:
  bool chance(double share) { return std::uniform_real_distribution<>()(random_) < share; }
  size_t whole(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
  double pixels(int most) { return std::uniform_int_distribution<>(-most, most)(random_); }

  void look() {
    const int width = std::array{1280, 800, 400}[whole(3)];
    done = std::to_string(width) + " pixels";
    reader.tab.resize(width, 800);
  }
  void scroll() {
    done = "scroll";
    reader.tab.touch("touchStart", 200, 400);
    const double to = 400 + pixels(300);
    reader.tab.touch("touchMove", 200, (400 + to) / 2);
    reader.tab.touch("touchMove", 200, to);
    reader.tab.touch("touchEnd", 200, to);
  }
  void keys(const std::string& target) {
    reader.tab.evaluate(target + ".focus()");
    for (size_t i = 1 + whole(8); i > 0; --i) {
      const std::string key =
          std::array{"ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp",
                     "PageDown",  "Enter",      " ",       "Delete",    "Tab",  "5",   "e"}[whole(14)];
      done += " " + key;
      reader.tab.key(key, chance(0.3));
    }
  }
  void write(const std::string& target) {
    const std::string text = kOddTexts[whole(kOddTexts.size())];
    done += " " + text;
    reader.write(target, text);
  }
  // Presses at a random place of the target with mouse or finger, and often moves before the release.
  void pull(const std::string& target) {
    const Json place =
        reader.tab.evaluate("eyes.anyPlace(" + target + "," + std::to_string(pixels(1000) / 2000 + 0.5) +
                            "," + std::to_string(pixels(1000) / 2000 + 0.5) + ")");
    const double x = place[0], y = place[1];
    const bool touches = chance(0.5);
    const auto send = [&](const char* of_mouse, const char* of_finger, double dx, double dy) {
      touches ? reader.tab.touch(of_finger, x + dx, y + dy) : reader.tab.mouse(of_mouse, x + dx, y + dy);
    };
    send("mousePressed", "touchStart", 0, 0);
    double dx = 0, dy = 0;
    for (size_t moves = chance(0.6) ? whole(8) : 0; moves > 0; --moves)
      send("mouseMoved", "touchMove", dx += pixels(30), dy += pixels(20));
    send("mouseReleased", "touchEnd", dx, dy);
  }

  std::mt19937 random_;
};

double variable(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : otherwise;
}

}  // namespace

TEST_CASE("page: random dragging, typing and training ends without error and in constant memory" *
          doctest::test_suite("slow")) {
  using Clock = std::chrono::steady_clock;
  Reader* const opened = open_playground();
  if (!opened) return;
  const double minutes = variable("HEED_PLAYGROUND_MINUTES", 0.33);
  const auto seed = static_cast<uint32_t>(variable("HEED_PLAYGROUND_SEED", 1));
  CAPTURE(seed);
  RandomReader random(*opened, seed);
  Tab& tab = random.reader.tab;

  struct Use {
    double wasm, worker, heap, nodes;
  };
  const auto use = [&] {
    random.begin_again();
    Use now = {tab.evaluate("heed.bytes()"), 0, tab.heap_bytes(), tab.send("Memory.getDOMCounters")["nodes"]};
    for (const Json& bytes : tab.evaluate_in_workers("self.heed ? heed.bytes() : 0"))
      now.worker += bytes.get<double>();
    return now;
  };
  const auto report = [](double after, const Use& now) {
    MESSAGE(after, " min: wasm ", now.wasm / 1024, " KiB, Worker ", now.worker / 1024, " KiB, JavaScript ",
            now.heap / 1024, " KiB, ", now.nodes, " nodes");
  };

  random.train_all();
  const double largest = use().worker;  // a Worker that begins again after an error is smaller for a while
  int actions = 0;
  std::set<std::string> faults;  // messages of heed to the reader
  const auto begin = Clock::now();
  const auto run_until = [&](double minute) {
    while (std::chrono::duration<double, std::ratio<60>>(Clock::now() - begin).count() < minute) {
      ++actions;
      random.act();
      CAPTURE(actions);
      CAPTURE(random.done);
      REQUIRE(tab.console() == "");
      REQUIRE(tab.evaluate("eyes.oddities()") == Json::array());
      for (const Json& fault : tab.evaluate("eyes.faults()")) faults.insert(fault);
    }
    const Use now = use();
    if (minutes > 1) report(minute, now);
    return now;
  };
  const Use warm = run_until(minutes / 4);
  Use now{};
  for (const double part : {0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}) now = run_until(minutes * part);
  if (minutes > 1) MESSAGE(actions, " actions");
  if (minutes > 1) MESSAGE(Json(faults).dump(1));
  // Memory of heed never shrinks: the largest request counts. Nodes and objects are those of the parts that
  // were opened.
  constexpr double kMiB = 1 << 20;
  CHECK(now.wasm < warm.wasm + 2 * kMiB);
  CHECK(now.worker < largest + 2 * kMiB);
  CHECK(now.heap < warm.heap + 2 * kMiB);
  CHECK(now.nodes < warm.nodes + 5000);
  CHECK(actions > 100 * minutes);
}
