#include "examples/playground/message.h"

#include <cmath>

namespace program {

using namespace heed;

double RequestReader::number(const char* name) {
  check(!left_.empty(), function_, ": the request ends before ", name);
  const double value = left_.front();
  left_ = left_.subspan(1);
  check(std::isfinite(value), function_, ": ", name, " is ", value, "; it must be a finite number");
  return value;
}

int64_t RequestReader::integer(const char* name, int64_t least, int64_t most) {
  const double value = number(name);
  check(
      value == std::floor(value) && value >= static_cast<double>(least) && value <= static_cast<double>(most),
      function_, ": ", name, " is ", value, "; it must be an integer from ", least, " to ", most);
  return static_cast<int64_t>(value);
}

Tensor RequestReader::numbers(const char* name, int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(number(name));
  return from_vector(values, {count}, float64);
}

std::string RequestReader::text(const char* name, int64_t most) {
  std::string bytes(static_cast<size_t>(integer(name, 0, most)), ' ');
  for (char& byte : bytes) byte = static_cast<char>(integer(name, 0, 255));
  return bytes;
}

void RequestReader::end() const {
  check(left_.empty(), function_, ": the request has ", left_.size(), " numbers too many");
}

void append(std::vector<float>& answer, double number) { answer.push_back(static_cast<float>(number)); }

void append(std::vector<float>& answer, const Tensor& x) {
  for (const double number : to(x, float64).to_vector<double>()) append(answer, number);
}

void append(std::vector<float>& answer, const std::string& text) {
  append(answer, static_cast<double>(text.size()));
  for (const char byte : text) append(answer, static_cast<double>(static_cast<unsigned char>(byte)));
}

}  // namespace program
