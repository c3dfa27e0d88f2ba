#include "nn/debug/profile.h"

#include <nlohmann/json.hpp>

#include "heed.h"
#include "tests/support/expect.h"

static const Sequential& model() {
  static const Sequential one{Linear(8, 4), Sequential{Tanh(), Linear(4, 2)}};
  return one;
}

static Tensor step() {
  const Tensor x = ones({16, 8}), labels = zeros({16}, int64);
  return F::cross_entropy(model()(x), labels);
}

TEST_CASE("Profile records every outermost operation and rule with its module, FLOPs and memory") {
  step();
  Profile profile;
  const Tensor loss = step();
  const size_t forward = profile.events().size();
  loss.backward();
  const std::vector<ProfileEvent>& events = profile.events();
  Texts found;
  double end = 0;
  for (const ProfileEvent& event : events) {
    found.push_back(std::string(event.backward ? "d " : "") + event.operation + " " + event.module);
    CHECK(event.start >= end);  // one after the other
    CHECK(event.seconds >= 0);
    end = event.start + event.seconds;
  }
  CHECK(end <= profile.seconds());
  CHECK(Texts(found.begin(), found.begin() + static_cast<int64_t>(forward)) ==
        Texts{"ones ", "zeros ", "linear 0", "tanh 1.0", "linear 1.1", "cross_entropy "});
  Texts rules;
  for (const std::string& one : found)
    if (one.starts_with("d ")) rules.push_back(one);
  CHECK(rules == Texts{"d cross_entropy ", "d linear 1.1", "d tanh 1.0", "d linear 0"});
  for (const ProfileEvent& event : events) {
    if (event.operation != "linear") continue;
    const int64_t in = event.module == std::string("0") ? 8 : 4, product = 2 * 16 * in * (in / 2);
    const int64_t products = event.backward ? (in == 8 ? 1 : 2) : 1;  // the first input has no gradient
    CHECK(event.flops == products * product);
    if (!event.backward) CHECK(event.bytes >= 16 * in / 2 * 4);
  }
}

TEST_CASE("Profile: two tables and a trace") {
  Profile profile;
  step().backward();
  const std::string text = to_string(profile);
  for (const char* part :
       {"operation", "linear", "module  ", "(no module)", "1.1 ", "GFLOP/s on ", "ms in all"})
    CHECK(contains(text, part));
  const auto trace = nlohmann::json::parse(chrome_trace(profile))["traceEvents"];
  int64_t spans = 0, operations = 0;
  for (const auto& event : trace) {
    CHECK(event["ph"] == "X");
    CHECK(event["dur"].get<double>() >= 0);
    const std::string kind = event["cat"];
    (kind.starts_with("module") ? spans : operations) += 1;
    if (!kind.starts_with("module")) continue;
    // A module's span holds its operations.
    for (const auto& other : trace) {
      const auto module = other["args"].find("module");
      if (module == other["args"].end() || *module != event["args"]["path"]) continue;
      if ((other["cat"] == "backward") != (kind != "module")) continue;
      CHECK(other["ts"].get<double>() >= event["ts"].get<double>());
      CHECK(other["ts"].get<double>() + other["dur"].get<double>() <=
            event["ts"].get<double>() + event["dur"].get<double>() + 1e-6);
    }
  }
  CHECK(operations == std::ssize(profile.events()));
  CHECK(spans == 8);  // 0, 1, 1.0 and 1.1, forward and backward
}

TEST_CASE("Profile changes no bit, records an operation that throws, and stops at its end") {
  const std::string alone = bytes_of(step());
  {
    Profile profile;
    CHECK(bytes_of(step()) == alone);
    CHECK_THROWS_AS(ones({2}) + ones({3}), Error);
    const size_t before = profile.events().size();
    CHECK(profile.events().back().operation == "add");
    const Tensor x = ones({1});
    CHECK(profile.events().size() == before + 1);
  }
  const Profile again;
  CHECK(again.events().empty());
}
