// Drives the bench of the reader's own model in Chromium.

#include <numeric>

#include "tests/support/reader.h"

namespace {

std::string of_model(const std::string& key) { return Reader::control("model", key); }

}  // namespace

TEST_CASE("page model: it learns, writes, and shows what it attended to" * doctest::test_suite("slow")) {
  Reader* const opened = open_playground();
  if (!opened) return;
  Reader& reader = *opened;
  reader.press(of_model("learn"));
  reader.wait_until("eyes.bench('model').bench.training.step >= 100");
  reader.press(of_model("stop"));
  reader.wait_until(of_model("on"));
  const std::vector<double> learned = reader.column("model", 1), unseen = reader.column("model", 2);
  CHECK(learned.front() > learned.back() + 1);
  CHECK(unseen.front() > unseen.back() + 1);
  CHECK(reader.tab.evaluate("eyes.bench('model').querySelectorAll('.samples q').length") >= 3);

  reader.slide(of_model("temperature"), 0);
  std::string texts[2];
  for (std::string& text : texts) {
    for (int i = 0; i < 3; ++i) reader.settle();  // what is written moves the page
    const std::string seed = "eyes.bench('model').bench.state.seed";
    const int before = reader.tab.evaluate(seed);
    reader.press(of_model("write"), Hand::finger);
    reader.wait_until(seed + " !== " + std::to_string(before) + " && eyes.one('[name=model] .written mark')");
    text = reader.text("[name=model] .written");
    CHECK(text.starts_with("I "));
  }
  reader.wait_until("eyes.bench('model').bench.reached.has('cold')");
  CHECK(texts[0] == texts[1]);
  reader.slide(of_model("at"), 60, Hand::keys);
  const std::vector<double> weights = reader.column("model", 1, 2);
  CHECK(weights.size() == 48);
  CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == doctest::Approx(1).epsilon(0.02));

  reader.tab.evaluate(
      "{ const box = eyes.one('[name=model] textarea'); box.value = 'short'; "
      "box.dispatchEvent(new Event('change')); }");
  reader.settle();
  CHECK(reader.text("[name=model] .written") == "");
  reader.press(of_model("learn"));
  reader.wait_until("eyes.one('[name=model] .fault').textContent.includes('at least 600')");
  reader.press(Reader::option("model", "sample", "sample.chinese"));
  reader.press(of_model("learn"));
  reader.wait_until("eyes.bench('model').bench.training.step >= 20");
  CHECK(reader.text("[name=model] .fault") == "");
  CHECK(reader.tab.console() == "");
}
