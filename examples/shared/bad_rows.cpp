#include "examples/shared/bad_rows.h"

#include <algorithm>

#include "examples/shared/csv.h"
#include "tensor/error.h"

namespace program {

void BadRows::note(int64_t line, const std::function<void()>& read) {
  try {
    read();
  } catch (const heed::Error& error) {
    ++count_;
    if (table_.rows() < kMaxOperands) table_.add({std::to_string(line), error.what()});
  }
}

int64_t BadRows::count() const {
  const auto more = count_ - static_cast<int64_t>(table_.rows());
  heed::check(count_ == 0 || skips_, path_, ": ", count_, count_ == 1 ? " row" : " rows",
              " cannot be used; correct or remove what is wrong, or pass over it by --skip-bad\n",
              table_.to_string("  "), more > 0 ? "\n  and " + std::to_string(more) + " more" : "");
  return count_;
}

int64_t each_line(const std::string& path, bool skip_bad, const std::function<void(std::string_view)>& read) {
  const std::string text = read_bytes(path);
  std::string_view rest = unmarked(text);
  BadRows bad(path, skip_bad);
  for (int64_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != line.npos) bad.note(number, [&] { read(line); });
  }
  return bad.count();
}

}  // namespace program
