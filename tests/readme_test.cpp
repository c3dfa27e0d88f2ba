// What the README's tables promise of the programs.

#include <filesystem>
#include <map>
#include <regex>

#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

// What the rows of the tables say of a command of a program in their last cell.
struct Shown {
  Texts phrases, files;  // that it prints, and draws
};

std::map<std::string, Shown> commands_of(const std::string& readme) {
  static const std::regex row(R"(^\|.*\| `([^`]+)`:?([^|]*)\|$)"), phrase("\"([^\"]+)\""),
      file("`(out/[^`]+)`");
  std::map<std::string, Shown> all;
  for (const std::string& line : lines_of(readme)) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    const std::string command = found[1], rest = found[2], program = command.substr(0, command.find(' '));
    if (!std::filesystem::exists(std::string(HEED_BINARY_DIR) + "/examples/" + program)) continue;
    Shown& shown = all[command];
    for (std::sregex_iterator it(rest.begin(), rest.end(), phrase), end; it != end; ++it)
      shown.phrases.push_back((*it)[1]);
    for (std::sregex_iterator it(rest.begin(), rest.end(), file), end; it != end; ++it)
      shown.files.push_back((*it)[1]);
  }
  return all;
}

}  // namespace

TEST_CASE("README: every command of its tables ends well, prints what the row says and draws it" *
          doctest::test_suite("slow")) {
  const Folder folder;
  std::filesystem::create_directory_symlink(std::string(HEED_SOURCE_DIR) + "/examples", folder / "examples");
  const auto all = commands_of(read_file(std::string(HEED_SOURCE_DIR) + "/README.md"));
  REQUIRE(all.size() > 30);
  for (const auto& [command, shown] : all) {
    CAPTURE(command);
    const Run run =
        run_shell("cd '" + folder.path.string() + "' && '" HEED_BINARY_DIR "/examples/'" + command);
    CHECK_MESSAGE(run.code == 0, run.err);
    for (const std::string& phrase : shown.phrases) {
      CAPTURE(phrase);
      CHECK(contains(run.out, phrase));
    }
    for (const std::string& file : shown.files) {
      CAPTURE(file);
      CHECK(std::filesystem::exists(folder / file));
    }
  }
}
