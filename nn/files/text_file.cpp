#include "nn/files/text_file.h"

#include <fstream>

#include "tensor/utf8.h"

namespace heed {

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  for (char block[1 << 16]; file;) {
    file.read(block, sizeof block);
    bytes.append(block, static_cast<size_t>(file.gcount()));
  }
  check(!file.bad() && file.eof(), path, ": cannot be read; does it exist, and is it a file?");
  return bytes;
}

std::string read_text(const std::string& path) {
  const std::string bytes = read_bytes(path);
  const std::string_view text = without_byte_order_mark(bytes);
  check_utf8(path, text);
  return std::string(text);
}

std::string_view without_byte_order_mark(std::string_view text) {
  return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

void BadRows::note(int64_t line, const std::function<void()>& read) try {
  read();
} catch (const Error& error) {
  constexpr size_t kMaxRows = 20;
  ++count_;
  if (table_.rows() < kMaxRows) table_.add({std::to_string(line), error.what()});
}

int64_t BadRows::count() const {
  const auto more = count_ - static_cast<int64_t>(table_.rows());
  check(count_ == 0 || skip_, path_, ": ", count_, count_ == 1 ? " row" : " rows",
        " cannot be used; correct or remove what is wrong, or skip bad rows\n", table_.to_string("  "),
        more > 0 ? "\n  and " + std::to_string(more) + " more" : "");
  return count_;
}

int64_t each_line(const std::string& path, bool skip_bad, const std::function<void(std::string_view)>& read) {
  const std::string text = read_bytes(path);
  std::string_view rest = without_byte_order_mark(text);
  BadRows bad(path, skip_bad);
  for (int64_t number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!trim(line).empty()) bad.note(number, [&] { read(line); });
  }
  return bad.count();
}

}  // namespace heed
