#include "tensor/compiler.h"

#include "tests/support/compile.h"
#include "tests/support/expect.h"

TEST_CASE("a compiler that lacks something gives one error for a public header, which names it") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"-std=c++17", "heed needs C++20: compile with -std=c++20"},
      {"-std=c++20 -fno-exceptions", "heed needs exceptions: compile without -fno-exceptions"},
      {"-std=c++20 -U__GNUC__ -D__GNUC__=10 -U__clang_major__ -D__clang_major__=14",
       "heed needs GCC 11, Clang 15, or newer"},
      {"-std=c++20 -D_MSC_VER=1940", "heed needs GCC or Clang"}};
  for (const char* header : {"heed.h", "heed/debug.h", "heed/files.h", "heed/kernels.h", "heed/onnx.h",
                             "heed/text.h", "heed/training.h", "heed/version.h", "heed/view.h"}) {
    CAPTURE(header);
    const std::string source = "#include \"" + std::string(header) + "\"\nint main() {}\n";
    for (const auto& [options, message] : cases) {
      CAPTURE(options);
      const std::vector<std::string> errors = compile_errors(source, options);
      REQUIRE(errors.size() == 1);
      CHECK(contains(errors[0], message));
    }
  }
}
