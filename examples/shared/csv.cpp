#include "examples/shared/csv.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "examples/shared/bad_rows.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace program {
namespace {

constexpr const char* kEmpty = "is empty";
constexpr const char* kText = "is not a number";

// A number and nothing else; the reason if it is not one.
const char* parse(std::string_view text, double& value) {
  text = trim(text);
  if (text.empty()) return kEmpty;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return kText;
  if (error == std::errc::result_out_of_range) return "does not fit a 64-bit number";
  return std::isfinite(value) ? nullptr : "is not a finite number";
}

// A field as an error shows it: on one line, and not all of a long one.
std::string shown(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  size_t size = std::min<size_t>(text.size(), 40);
  while (size < text.size() && size > 0 && (text[size] & 0xC0) == 0x80) --size;
  return "\"" + text.substr(0, size) + (size < text.size() ? "...\"" : "\"");
}

bool is_text(std::string_view field) {
  double number;
  const char* wrong = parse(field, number);
  return wrong && (wrong == kEmpty || wrong == kText);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    text_ = read_bytes(path);
    heed::check(heed::valid_utf8(text_) == text_.size() && text_.find('\0') == text_.npos, path,
                ": is not UTF-8 text; save it as CSV in UTF-8");
    rest_ = unmarked(text_);
    for (const char candidate : {',', ';', '\t'})
      if (rest_.substr(0, rest_.find_first_of("\r\n")).find(candidate) != rest_.npos) {
        separator_ = candidate;
        break;
      }
  }

  /// The next row that is not empty; false at the end. `line` is where it starts.
  bool next(std::vector<std::string>& fields) {
    do {
      if (rest_.empty()) return false;
      line = next_line_;
      read_row(fields);
    } while (fields.size() == 1 && trim(fields[0]).empty());
    return true;
  }

  /// "data.csv, line 3"
  std::string place() const { return path_ + ", line " + std::to_string(line); }

  int64_t line = 1;

 private:
  void read_row(std::vector<std::string>& fields) {
    fields.clear();
    while (true) {
      fields.push_back(read_field());
      if (rest_.empty()) return;
      const char after = rest_.front();
      rest_.remove_prefix(1);
      if (after == separator_) continue;
      if (after == '\r' && rest_.starts_with('\n')) rest_.remove_prefix(1);
      ++next_line_;
      return;
    }
  }

  std::string read_field() {
    const char stops[] = {separator_, '\r', '\n', '\0'};
    const auto plain = [&] {
      const size_t size = std::min(rest_.find_first_of(std::string_view(stops, 3)), rest_.size());
      const std::string_view field = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return field;
    };
    const size_t quote = rest_.find_first_not_of(" \t");
    if (quote == rest_.npos || rest_[quote] != '"' || separator_ == '\t') return std::string(plain());

    rest_.remove_prefix(quote + 1);
    std::string field;
    while (true) {
      const size_t size = rest_.find('"');
      heed::check(size != rest_.npos, place(),
                  ": a quoted field is not closed by a second \"; add it, or double the first");
      field += rest_.substr(0, size);
      rest_.remove_prefix(size + 1);
      if (!rest_.starts_with('"')) break;
      field += '"';
      rest_.remove_prefix(1);
    }
    for (const char c : field) next_line_ += c == '\n';
    heed::check(trim(plain()).empty(), place(),
                ": text after the closing \" of a field; a \" within it is written \"\"");
    return field;
  }

  std::string path_, text_;
  std::string_view rest_;
  char separator_ = ',';
  int64_t next_line_ = 1;
};

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + shown(name);
  return text;
}

// The place of the column that the user asks for; without a wish, `otherwise`.
size_t find_column(const Reader& reader, const std::vector<std::string>& names, bool header,
                   const std::string& wish, size_t otherwise) {
  size_t found = otherwise;
  if (!wish.empty()) {
    found = names.size();
    for (size_t i = 0; header && i < names.size(); ++i)
      if (names[i] == wish) {
        heed::check(found == names.size(), reader.place(), ": column ", shown(wish),
                    " is there twice; give its number, from 1");
        found = i;
      }
    size_t number = 0;
    const auto [end, error] = std::from_chars(wish.data(), wish.data() + wish.size(), number);
    if (found == names.size() && error == std::errc() && end == wish.data() + wish.size() && number >= 1)
      found = number - 1;
  }
  heed::check(found < names.size(), reader.place(), ": there is no column ",
              wish.empty() ? std::to_string(otherwise + 1) : shown(wish), "; there ",
              names.size() == 1 ? "is one" : "are " + std::to_string(names.size()),
              header ? ": " + list(names) : std::string(", without names"),
              names.size() == 1 ? "; fields are separated by commas, semicolons or tabs" : "");
  return found;
}

}  // namespace

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  for (char block[1 << 16]; file;) {
    file.read(block, sizeof block);
    bytes.append(block, static_cast<size_t>(file.gcount()));
  }
  heed::check(!file.bad() && file.eof(), path, ": cannot be read; is it there, and is it a file?");
  return bytes;
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string_view unmarked(std::string_view text) {
  return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

std::string read_text(const std::string& path) {
  const std::string bytes = read_bytes(path);
  const std::string_view text = unmarked(bytes);
  heed::check_utf8(path, text);
  return std::string(text);
}

Columns read_csv(const std::string& path, const std::string& x, const std::string& y, bool skip_bad) {
  Reader reader(path);
  std::vector<std::string> fields;
  heed::check(reader.next(fields), path, ": is empty");

  // A first line that is all text is a header; so is one with a text that was asked for as a column.
  double number = 0;
  std::vector<std::string> names;
  bool header = false;
  size_t texts = 0;
  for (const std::string& field : fields) {
    names.emplace_back(trim(field));
    if (!is_text(field)) continue;
    ++texts;
    header = header || (!names.back().empty() && (names.back() == x || names.back() == y));
  }
  header = header || texts == names.size();
  const size_t x_at = find_column(reader, names, header, x, 0);
  const size_t y_at = find_column(reader, names, header, y, x_at == 1 && !x.empty() ? 0 : 1);
  heed::check(x_at != y_at, reader.place(), ": x and y are the same column, ", x_at + 1,
              "; name two different ones by --x and --y");
  const auto name_of = [&](size_t column) {
    return header ? names[column] : "column " + std::to_string(column + 1);
  };

  Columns columns{name_of(x_at), name_of(y_at), {}, {}};
  const auto read = [&](size_t column) {
    const char* wrong = parse(fields[column], number);
    if (wrong)
      heed::fail(header ? "column " + shown(names[column]) : name_of(column), ": ", shown(fields[column]),
                 " ", wrong,
                 fields[column].find(',') == std::string::npos ? "" : "; write a decimal point, not a comma");
    return number;
  };
  if (header && !reader.next(fields)) return columns;
  BadRows bad(path, skip_bad);
  do
    bad.note(reader.line, [&] {
      heed::check(fields.size() == names.size(), "the row has ", fields.size(),
                  fields.size() == 1 ? " field" : " fields", ", the first line has ", names.size(),
                  "; a text that holds a separator is put in \"\"");
      const double row[] = {read(x_at), read(y_at)};
      columns.x.push_back(row[0]);
      columns.y.push_back(row[1]);
    });
  while (reader.next(fields));
  columns.skipped = bad.count();
  return columns;
}

}  // namespace program
