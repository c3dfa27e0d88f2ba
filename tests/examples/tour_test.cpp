// The rules for examples/tour: seven small programs, each with a page in two languages that quotes its
// output.

#include <regex>

#include "tensor/utf8.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace fs = std::filesystem;

namespace {

const fs::path tour = fs::path(HEED_SOURCE_DIR) / "examples/tour";

// The names of the programs, in order.
Texts tour_programs() {
  Texts names;
  for (const auto& file : fs::directory_iterator(tour))
    if (file.path().extension() == ".cpp") names.push_back(file.path().stem());
  std::ranges::sort(names);
  return names;
}

// The first fenced block of a page, between ```text and ```.
std::string quoted_output(const std::string& page) {
  const std::string begin = "```text\n", end = "```\n";
  const size_t from = page.find(begin);
  if (from == page.npos) return "";
  return page.substr(from + begin.size(), page.find(end, from + begin.size()) - from - begin.size());
}

}  // namespace

TEST_CASE("tour: seven programs of at most 120 lines, which include only heed.h and the standard library") {
  static const std::regex include(R"(^\s*#\s*include\s*(.*)$)"), allowed("<(heed\\.h|[a-z_]+)>");
  const Texts names = tour_programs();
  CHECK(names == Texts{"01_linear", "02_mlp", "03_kernel_regression", "04_attention", "05_translator",
                       "06_language_model", "07_digits_cnn"});
  for (const std::string& name : names) {
    CAPTURE(name);
    const Texts lines = lines_of(read_file((tour / name).string() + ".cpp"));
    CHECK(lines.size() <= 120);
    int64_t loops = 0;
    for (const std::string& line : lines) {
      std::smatch found;
      if (std::regex_match(line, found, include))
        CHECK_MESSAGE(std::regex_match(found[1].str(), allowed), line);
      loops += contains(line, "loss.backward();");
    }
    CHECK(loops == 1);  // the training loop is visible
  }
}

// A seed fixes the bits for one compiler: the pages quote g++'s build. ctest runs each program in every
// build.
TEST_CASE("tour: each page quotes what its program prints, and the program has learned" *
          doctest::skip(contains(HEED_CXX, "clang"))) {
  for (const std::string& name : tour_programs()) {
    CAPTURE(name);
    const Run run = run_program(name, "");
    CHECK(run.code == 0);
    CHECK(run.err.empty());
    for (const char* page : {".md", ".zh.md"}) {
      CAPTURE(page);
      const std::string text = read_file((tour / name).string() + page);
      CHECK(quoted_output(text) == run.out);
    }
  }
}

TEST_CASE("tour: a program that does not learn says so and exits with 1") {
  const Folder folder;
  const auto run = [&] {
    return run_shell("cd '" + folder.path.string() + "' && '" HEED_BINARY_DIR "/tests/tour_digits'");
  };
  const Run nothing = run();
  CHECK(nothing.code == 1);
  CHECK(nothing.out == "examples/tour/digits/digits.csv cannot be read.\n");

  fs::create_directories(folder / "examples/tour/digits");
  const fs::path digits = tour / "digits/digits.csv";
  fs::copy(digits, folder / "examples/tour/digits");
  const Run right = run();
  CHECK(right.code == 0);
  CHECK(right.out == run_program("02_mlp", "").out);

  // Labels that have nothing to do with the images.
  heed::Generator random(1);
  std::string without_sense;
  for (const std::string& line : lines_of(read_file(digits)))
    without_sense += line.substr(0, line.rfind(',') + 1) + std::to_string(random.integer(0, 10)) + "\n";
  folder.write("examples/tour/digits/digits.csv", without_sense);
  const Run wrong = run();
  CHECK(wrong.code == 1);
  CHECK(wrong.out.ends_with("\nThe model does not read digits.\n"));
}

TEST_CASE("tour: the pages of both languages have the same code, and they are short") {
  static const std::regex code("`[^`]+`(?!`)");
  for (const std::string& name : tour_programs()) {
    CAPTURE(name);
    Texts quotes[2];
    int language = 0;
    for (const char* page : {".md", ".zh.md"}) {
      const std::string text = read_file((tour / name).string() + page);
      const Texts outside = lines_of(replaced(text, quoted_output(text), ""));
      CHECK(outside.size() >= 10);
      CHECK(outside.size() <= 50);
      for (const std::string& line : outside)
        for (std::sregex_iterator it(line.begin(), line.end(), code), end; it != end; ++it)
          quotes[language].push_back(it->str());
      ++language;
    }
    std::ranges::sort(quotes[0]);
    std::ranges::sort(quotes[1]);
    CHECK(quotes[0] == quotes[1]);
  }
}
