#include "examples/bad_rows.h"

#include "tensor/error.h"

namespace program {

void BadRows::note(int64_t line, const std::function<void()>& read) {
  try {
    read();
  } catch (const heed::Error& error) {
    ++count_;
    if (table_.rows() < kMost) table_.add({std::to_string(line), error.what()});
  }
}

int64_t BadRows::count() const {
  const auto more = count_ - static_cast<int64_t>(table_.rows());
  heed::check(count_ == 0 || skips_, path_, ": ", count_, count_ == 1 ? " row" : " rows",
              " cannot be used; correct or remove what is wrong, or pass over it by --skip-bad\n",
              table_.to_string("  "), more > 0 ? "\n  and " + std::to_string(more) + " more" : "");
  return count_;
}

}  // namespace program
