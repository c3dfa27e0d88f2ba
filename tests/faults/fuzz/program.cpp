// The bytes choose a program of operations. heed and a simple interpreter must agree on values and gradients.

#include "tests/faults/fuzz/fuzz.h"
#include "tests/support/random_program.h"

void seeds(const std::function<void(std::string_view)>& add) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::string bytes(1, static_cast<char>(seed));
    for (unsigned state = seed, i = 0; i < 200; ++i)
      bytes += static_cast<char>((state = state * 1103515245 + 12345) >> 16);
    add(bytes);
  }
}

// The first byte chooses smooth operations or all, and the gradient to compare; then two bytes make a choice.
void run(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto first = static_cast<unsigned char>(bytes[0]);
  size_t at = 1;
  const auto choose = [&]() -> uint64_t {
    uint64_t number = 0;
    for (int i = 0; i < 2; ++i)
      number = number << 8 | (at < bytes.size() ? static_cast<unsigned char>(bytes[at++]) : 0);
    return number;
  };
  const std::string wrong = wrong_program(choose, first % 2, first / 2);
  expect(wrong.empty(), wrong);
}
