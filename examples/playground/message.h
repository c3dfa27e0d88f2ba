#pragma once

#include <heed.h>

#include <span>
#include <string>
#include <vector>

/// The numbers that the page and the functions of the playground exchange.
namespace program {

/// Reads a request from front to back. Errors name the function and what is missing or wrong.
class RequestReader {
 public:
  RequestReader(const char* function, std::span<const float> numbers) : function_(function), left_(numbers) {}

  /// The next number; it must be finite.
  double number(const char* name);
  /// The next number, which must be an integer from `least` to `most`.
  int64_t integer(const char* name, int64_t least, int64_t most);
  /// The next `count` numbers: [count], float64.
  heed::Tensor numbers(const char* name, int64_t count);
  /// A text: its length in bytes, at most `most`, then its bytes.
  std::string text(const char* name, int64_t most = 100000);
  /// Throws if numbers are left.
  void end() const;

 private:
  const char* function_;
  std::span<const float> left_;
};

/// Appends numbers to an answer or a request.
void append(std::vector<float>& answer, double number);
/// Appends all numbers of x, row by row.
void append(std::vector<float>& answer, const heed::Tensor& x);
/// Appends a text: its length in bytes, then its bytes.
void append(std::vector<float>& answer, const std::string& text);

}  // namespace program
