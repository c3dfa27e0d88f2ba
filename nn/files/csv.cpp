#include "nn/files/csv.h"

#include <cfloat>
#include <charconv>
#include <sstream>

#include "nn/files/text_file.h"
#include "tensor/create.h"
#include "tensor/utf8.h"

namespace heed {
namespace {

constexpr const char* kEmpty = "is empty";
constexpr const char* kText = "is not a number";
constexpr const char* kTooLarge = "is too large for the dtype";

// std::from_chars of a double, which libc++ lacks before version 20.
std::from_chars_result read_double(const char* begin, const char* end, double& value) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(begin, end, value);
#else
  std::istringstream stream(std::string(begin, end));
  stream.imbue(std::locale::classic());
  const bool whole = bool(stream >> value) && stream.peek() == EOF;
  return {whole ? end : begin, whole ? std::errc() : std::errc::invalid_argument};
#endif
}

// Reads a number and nothing else. Returns what is wrong, or null.
const char* parse_number(std::string_view text, DType dtype, double& value) {
  text = trim(text);
  if (text.empty()) return kEmpty;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, error] = read_double(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return kText;
  if (error == std::errc() && !std::isfinite(value)) return "is not a finite number";
  if (error == std::errc::result_out_of_range) {  // from_chars does not say whether too large or too small
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    stream >> value;  // about 0, or at least the largest number
    if (std::abs(value) > 1) return kTooLarge;
  }
  return dtype == float64 || std::abs(value) <= FLT_MAX ? nullptr : kTooLarge;
}

bool is_text(std::string_view field) {
  double number;
  const char* wrong = parse_number(field, float64, number);
  return wrong == kEmpty || wrong == kText;
}

// A field for a message: in one line and shortened.
std::string shown_field(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  size_t size = std::min<size_t>(text.size(), 40);
  while (size < text.size() && size > 0 && (text[size] & 0xC0) == 0x80) --size;
  return "\"" + text.substr(0, size) + (size < text.size() ? "...\"" : "\"");
}

class CsvReader {
 public:
  explicit CsvReader(const std::string& path) : path_(path), text_(read_bytes(path)) {
    check(valid_utf8(text_) == text_.size() && text_.find('\0') == text_.npos, path,
          ": is not UTF-8 text; save it as CSV in UTF-8");
    rest_ = without_byte_order_mark(text_);
    const size_t begin = rest_.find_last_of("\r\n", rest_.find_first_not_of(" \t\r\n")) + 1;
    const std::string_view first = rest_.substr(begin, rest_.find_first_of("\r\n", begin) - begin);
    for (const char candidate : {'\t', ';', ','})
      if (first.find(candidate) != first.npos) separator_ = candidate;
  }

  /// Reads the next row that is not empty, and sets `line` to its first line. Returns false at the end.
  bool next(std::vector<std::string>& fields) {
    do {
      if (rest_.empty()) return false;
      line = next_line_;
      fields.clear();
      do fields.push_back(read_field());
      while (take(separator_));
      take('\r'), take('\n');  // either or both
      ++next_line_;
    } while (fields.size() == 1 && trim(fields[0]).empty());
    return true;
  }

  /// "data.csv, line 3"
  std::string place() const { return path_ + ", line " + std::to_string(line); }

  int64_t line = 1;

 private:
  // Whether c comes next, and then removes it.
  bool take(char c) {
    const bool next = rest_.starts_with(c);
    rest_.remove_prefix(next);
    return next;
  }

  std::string read_field() {
    const char stops[] = {separator_, '\r', '\n'};
    const auto unquoted = [&] {
      const size_t size = std::min(rest_.find_first_of(std::string_view(stops, sizeof stops)), rest_.size());
      const std::string_view field = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return field;
    };
    const size_t quote = rest_.find_first_not_of(" \t");
    if (quote == rest_.npos || rest_[quote] != '"' || separator_ == '\t') return std::string(unquoted());

    rest_.remove_prefix(quote + 1);
    std::string field;
    do {
      const size_t size = rest_.find('"');
      check(size != rest_.npos, place(),
            ": a quoted field has no closing \"; add it, or write \"\" for a \" within the field");
      field += rest_.substr(0, size + 1);
      rest_.remove_prefix(size + 1);
    } while (take('"'));
    field.pop_back();  // the closing "
    for (const char c : field) next_line_ += c == '\n';
    check(trim(unquoted()).empty(), place(),
          ": text follows the closing \" of a field; write \"\" for a \" within the field");
    return field;
  }

  std::string path_, text_;
  std::string_view rest_;
  char separator_ = ',';
  int64_t next_line_ = 1;
};

// The first line of a file: names, or already numbers.
struct FirstLine {
  std::string place;
  std::vector<std::string> fields;
  bool header;

  // "; the file has 3 columns: "a", "b", "c""
  std::string columns() const {
    const bool one = fields.size() == 1;
    const std::string names = detail::listed(detail::mapped(fields, shown_field));
    return detail::text("; the file has ", fields.size(), one ? " column" : " columns",
                        header ? ": " + names : " without names",
                        one ? "; fields are separated by commas, semicolons or tabs" : "");
  }
  // The column with this name or number.
  size_t find(const std::string& wanted) const {
    check(!header || std::ranges::count(fields, wanted) < 2, place, ": column ", shown_field(wanted),
          " appears twice; give its number instead, counted from 1");
    size_t found = header ? std::ranges::find(fields, wanted) - fields.begin() : fields.size(), number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (found == fields.size() && error == std::errc() && end == wanted.data() + wanted.size() && number > 0)
      found = number - 1;
    check(found < fields.size(), place, ": there is no column ", shown_field(wanted), columns());
    return found;
  }
};

FirstLine first_line(const CsvReader& reader, std::vector<std::string> fields, const CsvOptions& options) {
  FirstLine first{reader.place(), std::move(fields), false};
  for (std::string& field : first.fields) field = trim(field);
  const auto wanted = [&](const std::string& field) {
    return !field.empty() && is_text(field) && std::ranges::count(options.columns, field) > 0;
  };
  const bool empty = std::ranges::all_of(first.fields, &std::string::empty);
  const bool texts = std::ranges::all_of(first.fields, is_text);
  first.header = std::ranges::any_of(first.fields, wanted) || (!empty && texts);
  return first;
}

std::vector<size_t> find_columns(const FirstLine& first, const std::vector<std::string>& wanted) {
  std::vector<size_t> columns(wanted.empty() ? first.fields.size() : wanted.size(), first.fields.size());
  const auto taken = [&](size_t column) { return std::ranges::count(columns, column) > 0; };
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].empty()) continue;
    const size_t column = first.find(wanted[i]);
    check(!taken(column), first.place, ": ", shown_field(wanted[i]), " is column ", column + 1,
          ", which is read already; name another column");
    columns[i] = column;
  }
  for (size_t& column : columns)
    for (size_t next = 0; column == first.fields.size(); ++next) {
      if (next == first.fields.size())
        fail(first.place, ": ", columns.size(), " columns are needed", first.columns());
      if (!taken(next)) column = next;
    }
  return columns;
}

}  // namespace

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  check(options.dtype == float32 || options.dtype == float64, "read_csv: dtype is ", options.dtype,
        "; it must be float32 or float64");
  CsvReader reader(path);
  std::vector<std::string> fields;
  check(reader.next(fields), path, ": is empty");
  const FirstLine first = first_line(reader, fields, options);
  const std::vector<size_t> columns = find_columns(first, options.columns);

  CsvTable table;
  for (const size_t column : columns)
    table.names.push_back(first.header ? first.fields[column] : "column " + std::to_string(column + 1));
  std::vector<double> values, row(columns.size());
  BadRows bad(path, options.skip_bad);
  for (bool more = !first.header || reader.next(fields); more; more = reader.next(fields))
    bad.note(reader.line, [&] {
      check(fields.size() == first.fields.size(), "the row has ", fields.size(),
            fields.size() == 1 ? " field" : " fields", ", the first line has ", first.fields.size(),
            "; quote a text that contains a separator");
      for (size_t i = 0; i < columns.size(); ++i) {
        const std::string &field = fields[columns[i]], &name = table.names[i];
        if (const char* wrong = parse_number(field, options.dtype, row[i]))
          fail(first.header ? "column " + shown_field(name) : name, ": ", shown_field(field), " ", wrong,
               field.find(',') == std::string::npos ? "" : "; write a decimal point, not a comma");
      }
      values.insert(values.end(), row.begin(), row.end());
    });
  table.skipped = bad.count();
  const int64_t width = std::ssize(columns);
  table.values = from_vector(values, {std::ssize(values) / width, width}, options.dtype);
  return table;
}

}  // namespace heed
