// Drives the bench of the translators in Chromium.

#include "tests/support/playground.h"
#include "tests/support/results.h"

TEST_CASE("page translators: the record, a training in the Worker, and a forbidden cell" *
          doctest::test_suite("slow")) {
  const std::string page = playground_page();
  if (page.empty()) return;
  const Visit seen = visit(page, R"js(
    window.waiting = true;
    // The clock of visit() leaps from timer to timer, so real time for the Worker passes in a loop.
    const pause = () => {
      for (let i = 0; i < 2e8; ++i);
      return new Promise(done => setTimeout(done, 50));
    };
    const until = async holds => { while (!holds()) await pause(); };
    (async () => {
      await loaded;
      await pause();
      const {bench} = document.querySelector('heed-bench[name=translators]');
      await until(() => bench.now?.plain);
      note(bench.states.length + ' ' + bench.reference());
      bench.change({at: bench.lastRecorded, forbidden: [1, 1]});
      await until(() => bench.now.attention?.weights && bench.now.attention !== bench.now.plain);
      note(bench.now.plain.text + ', ' + bench.now.attention.weights[1][1]);
      bench.learnButton.click();
      await until(() => bench.own && bench.states.length > 2);
      bench.learnButton.click();
      await until(() => !bench.running);
      note(bench.losses[0][0] > bench.losses.at(-1)[0]);
      window.waiting = false;
    })();)js");
  CHECK(seen.console == "");
  CHECK(seen.result == "14 I love China\nI love China, 0\ntrue\n");
}
