// Drives the bench of the translators in Chromium.

#include "tests/support/playground.h"
#include "tests/support/results.h"

TEST_CASE("page translators: the record, a training in the Worker, and a forbidden cell" *
          doctest::test_suite("slow")) {
  const std::string page = playground_page();
  if (page.empty()) return;
  const Visit seen = visit(page, R"js(
    const until = async holds => { while (!holds()) await new Promise(done => setTimeout(done, 50)); };
    await loaded;
    await until(() => document.querySelector('heed-bench[name=translators]')?.bench.now?.plain);
    const {bench} = document.querySelector('heed-bench[name=translators]');
    note(bench.states.length + ' ' + bench.reference());
    bench.change({at: bench.lastRecorded, forbidden: [1, 1]});
    await until(() => bench.now.attention?.weights && bench.now.attention !== bench.now.plain);
    note(bench.now.plain.text + ', ' + bench.now.attention.weights[1][1]);
    bench.learnButton.click();
    await until(() => bench.own && bench.states.length > 2);
    bench.learnButton.click();
    await until(() => !bench.running);
    note(bench.losses[0][0] > bench.losses.at(-1)[0]);)js");
  CHECK(seen.console == "");
  CHECK(seen.result == "14 I love China\nI love China, 0\ntrue\n");
}
