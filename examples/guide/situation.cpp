#include "examples/guide/situation.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "tensor/error.h"
#include "tensor/table.h"

namespace program {

using heed::check;

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, separator);) parts.push_back(part);
  return parts;
}

namespace {

std::string url_decoded(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

}  // namespace

Situation::Situation(std::string bench, const std::string& state) : bench_(std::move(bench)) {
  for (const std::string& part : parts_of(state, '&')) {
    const size_t end = std::min(part.find('='), part.size() - 1);
    values_[part.substr(0, end)] = url_decoded(part.substr(end + 1));
  }
}

std::string Situation::text(const std::string& key, const std::string& usual) {
  known_.push_back(key);
  const auto found = values_.find(key);
  return found == values_.end() ? usual : found->second;
}

void Situation::replace(const std::string& key, std::span<float> numbers) {
  const std::string given = text(key, "");
  if (given.empty()) return;
  const std::vector<std::string> parts = parts_of(given, ',');
  check(parts.size() == numbers.size(), key, "=", given, " has ", parts.size(), " numbers instead of ",
        numbers.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    char* end = nullptr;
    numbers[i] = std::strtof(parts[i].c_str(), &end);
    check(!parts[i].empty() && *end == '\0', key, "=", given, ": \"", parts[i], "\" is not a number");
  }
}

void Situation::end() const {
  for (const auto& [key, value] : values_)
    check(std::ranges::find(known_, key) != known_.end(), "the bench ", bench_, " has no state ", key,
          "; it has ", heed::detail::listed(known_));
}

}  // namespace program
