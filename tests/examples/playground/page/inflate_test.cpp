// Unpacks gzip as the page does, under node.

#include "tests/support/expect.h"
#include "tests/support/program.h"

#include <doctest/doctest.h>

TEST_CASE("page inflate: unpacks what gzip has packed, in each kind of block") {
  if (run_shell("command -v node").code != 0) {
    MESSAGE("skipped: node is not installed (.ci/setup.sh ci)");
    return;
  }
  const Folder folder;
  const std::string script =
      folder.write("run.js", R"js(
    const gunzip = require(')js" HEED_SOURCE_DIR
                             R"js(/examples/playground/page/inflate.js'), zlib = require('zlib');
    let seed = 1;
    const random = () => (seed = seed * 48271 % 0x7fffffff) / 0x7fffffff;
    const noise = Buffer.from(Array.from({length: 70000}, () => random() * 256));
    const words = Buffer.from(Array.from({length: 9000}, () => ['query ', 'key ', 'value '][Math.floor(random() * 3)]).join(''));
    const texts = ['', 'a', 'abab'.repeat(5000), noise, words].map(text => Buffer.from(text));
    for (const text of texts)
      for (const options of [{level: 0}, {level: 1}, {level: 9}, {strategy: zlib.constants.Z_FIXED}])
        if (Buffer.compare(Buffer.from(gunzip(zlib.gzipSync(text, options))), text)) console.log(text.length, options);
    console.log('done');)js");
  const Run run = run_shell("node '" + script + "'");
  CHECK(run.err == "");
  CHECK(run.out == "done\n");
}
