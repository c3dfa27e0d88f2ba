// Any table is read or throws, for any columns. If no row was skipped, reading without skipping must give the
// same.

#include "nn/files/csv.h"

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
  const std::vector<std::vector<std::string>> all_columns = {{}, {"", ""}, {"x", ""}, {"2", ""}, {"y"}};
  for (const std::vector<std::string>& columns : all_columns) {
    try {
      const heed::CsvOptions options{.columns = columns, .skip_bad = true, .dtype = heed::float64};
      const heed::CsvTable some = heed::read_csv(file.path(), options);
      expect(some.values.size(1) == static_cast<int64_t>(some.names.size()), "a name for each column");
      const std::vector<double> numbers = some.values.to_vector<double>();
      for (const double number : numbers) expect(std::isfinite(number), "a number that is not finite");
      if (some.skipped > 0) continue;
      const heed::CsvTable all = heed::read_csv(file.path(), {.columns = columns, .dtype = heed::float64});
      expect(all.values.to_vector<double>() == numbers, "no row was skipped, but it differs");
    } catch (const heed::Error&) {
    }
  }
}
