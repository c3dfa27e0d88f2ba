// Any table is read or throws, for any columns. If no row was skipped, reading without skipping must give the
// same.

#include "examples/shared/csv.h"

#include <cmath>

#include "tensor/error.h"
#include "tests/faults/fuzz/fuzz.h"

void seeds(const std::function<void(std::string_view)>& add) {
  for (const char* text : {"x,y\n1,2\n3,4\n", "\xEF\xBB\xBF x ; y ; z\r\n1;2;a\r\n-3e2;.5;\"b\"\"c\"\r\n",
                           "1\t2\n\n3\t4\n", "\"a, b\",x\n1,\"2\"\n\"3\",4\nbad\n5,nan\n6,+7\n"})
    add(text);
}

void run(std::string_view bytes) {
  const MemoryFile file(bytes);
  for (const char* x : {"", "x", "2"}) {
    try {
      const program::Columns some = program::read_csv(file.path(), x, "", true);
      expect(some.x.size() == some.y.size(), "columns of different lengths");
      for (const double value : some.x) expect(std::isfinite(value), "a number that is not finite");
      if (some.skipped > 0) continue;
      const program::Columns all = program::read_csv(file.path(), x, "", false);
      expect(all.x == some.x && all.y == some.y, "no row was skipped, but it differs");
    } catch (const heed::Error&) {
    }
  }
}
