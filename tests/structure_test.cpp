// Rules for the project's own files: includes have one direction, every source has a test, every op a row.
// The checks take the root of a tree, so that they can be tested on a copy with planted faults.

#include <fstream>
#include <regex>
#include <set>

#include "tests/support/compile.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace fs = std::filesystem;

namespace {

// A folder may include itself and the folders before it.
const std::array<std::string, 3> folders = {"tensor", "autograd", "nn"};

const std::regex included(R"re(^\s*#\s*include\s*"([^"]+)")re");

// The first group of a pattern in each matching line of a file.
Texts matches(const fs::path& file, const std::regex& pattern) {
  Texts found;
  for (const std::string& line : lines_of(read_file(file))) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) found.push_back(match[1]);
  }
  return found;
}

// Headers and sources under root/folder, as paths from root, in a fixed order.
std::vector<fs::path> sources(const fs::path& root, const std::string& folder) {
  std::vector<fs::path> found;
  if (!fs::exists(root / folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".h" || extension == ".cpp") found.push_back(fs::relative(entry.path(), root));
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool under(const fs::path& path, const std::string& folder) {
  return path.generic_string().starts_with(folder + "/");
}

// Folders of nn/ that the mathematics of nn/ (all other folders) must not include.
const std::array<std::string, 7> tools = {"nn/training", "nn/distributed", "nn/text", "nn/files",
                                          "nn/onnx",     "nn/view",        "nn/debug"};

bool is_mathematics(const fs::path& file) {
  return under(file, "nn") &&
         std::ranges::none_of(tools, [&](const std::string& folder) { return under(file, folder); });
}

// Checks the includes of a file in folders[rank]; rank == folders.size() means an umbrella header.
void check_file_includes(const fs::path& root, const fs::path& file, size_t rank, Findings& findings) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  const auto visible = folders.begin() + static_cast<std::ptrdiff_t>(std::min(rank + 1, folders.size()));

  int number = 0;
  for (const std::string& line : lines_of(read_file(root / file))) {
    ++number;
    std::smatch match;
    if (!std::regex_search(line, match, pattern)) continue;
    const std::string what = match[2];
    const auto report = [&](const std::string& rule) {
      findings.push_back(file.generic_string() + ":" + std::to_string(number) + ": includes " + what + ": " +
                         rule);
    };

    if (match[1] == "<") {
      // Standard headers have neither a dot nor a slash. Only sources may include others, since headers
      // affect users' compile times.
      const bool standard = what.find_first_of("./") == std::string::npos || what.starts_with("sys/");
      if (file.extension() == ".h" && !standard) report("a header includes only the standard library");
      continue;
    }
    if (!fs::exists(root / what)) {
      report("not a path from the project root");
    } else if (std::none_of(folders.begin(), visible,
                            [&](const std::string& folder) { return under(what, folder); })) {
      report("a folder may include only itself and the folders before it (tensor, autograd, nn)");
    } else if (is_mathematics(file) &&
               std::ranges::any_of(tools, [&](const std::string& folder) { return under(what, folder); })) {
      report(
          "the mathematics of nn/ includes neither training, distributed, text, files, onnx, view nor debug");
    } else if (file.extension() == ".h" && under(what, "tensor/kernels") && !under(file, "tensor/kernels") &&
               file != "heed/kernels.h") {
      report("few kernels are installed, so no other header may need them");
    }
  }
}

Findings check_includes(const fs::path& root) {
  Findings findings;
  for (size_t rank = 0; rank < folders.size(); ++rank)
    for (const fs::path& file : sources(root, folders[rank])) check_file_includes(root, file, rank, findings);
  check_file_includes(root, "heed.h", folders.size(), findings);
  for (const fs::path& file : sources(root, "heed"))
    check_file_includes(root, file, folders.size(), findings);
  return findings;
}

// Finds headers that include themselves through others. A header and its source count as one unit.
Findings check_cycles(const fs::path& root) {
  std::map<std::string, Texts> includes;
  for (const std::string& folder : folders)
    for (const fs::path& file : sources(root, folder)) {
      auto& all = includes[fs::path(file).replace_extension("").generic_string()];
      for (const std::string& what : matches(root / file, included)) {
        const std::string unit = fs::path(what).replace_extension("").generic_string();
        if (file.extension() == ".h" && unit != fs::path(file).replace_extension("")) all.push_back(unit);
      }
    }
  Findings findings;
  for (const auto& [start, unused] : includes) {
    std::set<std::string> reached;
    Texts next = includes[start];
    while (!next.empty()) {
      const std::string unit = next.back();
      next.pop_back();
      if (!reached.insert(unit).second) continue;
      next.insert(next.end(), includes[unit].begin(), includes[unit].end());
    }
    if (reached.contains(start)) findings.push_back(start + ".h includes itself through other headers");
  }
  return findings;
}

// tensor/shape.h and tensor/shape.cpp are tested by tests/tensor/shape_test.cpp, programs likewise. The
// families in autograd/ops are tested by the rows of op_cases.cpp instead, which check_op_rows() checks, and
// the programs in examples/tour by tests/examples/tour_test.cpp. examples/mine is the reader's own.
Findings check_mirrors(const fs::path& root) {
  std::set<fs::path> wanted;
  for (const char* folder : {"tensor", "autograd", "nn", "examples"})
    for (const fs::path& file : sources(root, folder))
      if (!under(file, "autograd/ops") && !under(file, "examples/tour") && !under(file, "examples/mine"))
        wanted.insert("tests" / file.parent_path() / (file.stem().string() + "_test.cpp"));

  Findings findings;
  for (const fs::path& test : wanted)
    if (!contains(read_file(root / test), "TEST_CASE"))
      findings.push_back(test.generic_string() + ": is missing or has no test case");
  return findings;
}

// A program is divided into parts of at most 400 lines.
Findings check_example_lines(const fs::path& root) {
  Findings findings;
  for (const fs::path& file : sources(root, "examples"))
    if (const size_t lines = lines_of(read_file(root / file)).size(); lines > 400)
      findings.push_back(file.generic_string() + ": has " + std::to_string(lines) +
                         " lines; 400 are the limit");
  return findings;
}

// The ops that are declared in autograd/ops/*.h and in F: functions with a result that begin in the first
// column. C++ operators are other names of ops.
std::set<std::string> declared_ops(const fs::path& root) {
  static const std::regex pattern(R"(^(?:inline )?(?:Tensor|[A-Z]\w*|std::\w+<.*>) (\w+)\()");
  std::set<std::string> ops;
  std::vector<fs::path> headers = sources(root, "autograd/ops");
  std::erase_if(headers, [](const fs::path& file) { return file.extension() != ".h"; });
  headers.insert(headers.end(), {"nn/functional.h", "nn/attention/scaled_dot_product.h"});
  for (const fs::path& header : headers)
    for (const std::string& line : lines_of(read_file(root / header))) {
      if (line == "namespace detail {") break;  // helpers come last
      std::smatch match;
      if (std::regex_search(line, match, pattern) && !match[1].str().starts_with("check_"))
        ops.insert(match[1]);
    }
  return ops;
}

// The ops with a row in tests/autograd/op_cases.cpp: a line that begins with {"name" or {.op = "name".
std::set<std::string> tested_ops(const fs::path& root) {
  static const std::regex pattern(R"re(^\s*\{(?:\.op = )?"(\w+))re");
  const Texts ops = matches(root / "tests/autograd/op_cases.cpp", pattern);
  return {ops.begin(), ops.end()};
}

Findings check_op_rows(const fs::path& root) {
  const std::set<std::string> declared = declared_ops(root), tested = tested_ops(root);
  Findings findings;
  for (const std::string& op : declared)
    if (!tested.contains(op)) findings.push_back("op_cases.cpp: no row for " + op);
  for (const std::string& op : tested)
    if (!declared.contains(op))
      findings.push_back("op_cases.cpp: a row for " + op + ", which is not declared");
  return findings;
}

// autograd/ops.h must include every family of operations, itself or in basic.h.
Findings check_families(const fs::path& root) {
  Texts all = matches(root / "autograd/ops.h", included);
  for (const std::string& header : matches(root / "autograd/ops/basic.h", included)) all.push_back(header);
  Findings findings;
  for (const fs::path& file : sources(root, "autograd/ops"))
    if (file.extension() == ".h" && std::find(all.begin(), all.end(), file.generic_string()) == all.end())
      findings.push_back("autograd/ops.h does not include " + file.generic_string());
  return findings;
}

// The heart: what a reader needs to understand a training step, in README's reading order. Headers and
// sources together, including comments, must not exceed kHeartLines.
const Texts heart = {"tensor/shape",
                     "tensor/storage",
                     "tensor/tensor",
                     "tensor/create",
                     "tensor/dtype",
                     "tensor/ref",
                     "tensor/error",
                     "autograd/operand",
                     "autograd/grad_mode",
                     "autograd/ops/arithmetic",
                     "autograd/ops/elementary",
                     "autograd/ops/elementwise",
                     "autograd/ops/reduce",
                     "autograd/ops/matmul",
                     "autograd/node",
                     "autograd/engine",
                     "nn/parameter",
                     "nn/init",
                     "nn/module",
                     "nn/layers/linear",
                     "nn/optim/optimizer"};
constexpr int64_t kHeartLines = 2969;

// Lines of a header and its source.
int64_t unit_lines(const fs::path& root, const std::string& unit) {
  int64_t lines = 0;
  for (const char* extension : {".h", ".cpp"})
    if (fs::exists(root / (unit + extension)))
      lines += std::ssize(lines_of(read_file(root / (unit + extension))));
  return lines;
}

// Rows | lines | `a/b.h`, `c/`: `d.h`, `e.h` | ... name the heart in reading order; the lines are right to
// ten.
Findings check_heart_rows(const fs::path& root, const std::string& readme) {
  static const std::regex row(R"(^\| (\d+) \| ([^|]*\.h`) \|.*)"), quoted("`([^`]+)`");
  Findings findings;
  Texts named;
  for (const std::string& line : lines_of(readme)) {
    std::smatch found;
    if (!std::regex_match(line, found, row)) continue;
    const std::string files = found[2];
    fs::path folder;
    int64_t lines = 0;
    for (std::sregex_iterator it(files.begin(), files.end(), quoted), end; it != end; ++it) {
      const fs::path file = (*it)[1].str();
      if (!file.has_filename()) {
        folder = file;
        continue;
      }
      named.push_back((folder / file).replace_extension().generic_string());
      lines += unit_lines(root, named.back());
    }
    if (std::abs(lines - std::stoll(found[1])) > 10)
      findings.push_back(files + ": " + std::to_string(lines) + " lines");
  }
  if (named != heart) findings.push_back("the heart has other files, or another order");
  return findings;
}

// The findings of `after` that are not in `before`, so that faults of the tree itself are reported only once.
Findings added(const Findings& before, const Findings& after) {
  Findings difference = after;
  std::erase_if(difference, [&](const auto& finding) { return std::ranges::count(before, finding) > 0; });
  return difference;
}

// A copy of the files that the checks read.
struct Copy : Folder {
  Copy() {
    for (const std::string folder : {"heed", "tensor", "autograd", "nn", "examples", "tests"})
      fs::copy(fs::path(HEED_SOURCE_DIR) / folder, path / folder, fs::copy_options::recursive);
    fs::copy(fs::path(HEED_SOURCE_DIR) / "heed.h", path / "heed.h");
  }
  void append(const fs::path& file, const std::string& text) const {
    fs::create_directories((path / file).parent_path());
    std::ofstream(path / file, std::ios::app) << text;
  }
  // Returns a function for the findings since this call.
  auto findings_of(Findings (*check)(const fs::path&)) const {
    return [this, check, before = check(path)] { return added(before, check(path)); };
  }
};

bool only_says(const Findings& findings, const std::string& text) {
  return findings.size() == 1 && contains(findings[0], text);
}

}  // namespace

// Programs and benchmarks include the whole library and are always rebuilt.
TEST_CASE("a new element-wise operation rebuilds few sources of the library and its tests") {
  static const std::regex pattern(R"re(#include [<"]([^>"]+)[>"])re");
  std::set<std::string> touched = {"autograd/ops/elementwise.h", "heed.h"};
  Texts built;
  for (size_t before = 0; before != touched.size();) {
    before = touched.size();
    for (const char* folder : {"tensor", "autograd", "nn", "tests"})
      for (const fs::path& file : sources(HEED_SOURCE_DIR, folder))
        for (const std::string& what : matches(fs::path(HEED_SOURCE_DIR) / file, pattern))
          if (touched.contains(what) && touched.insert(file.string()).second && file.extension() == ".cpp")
            built.push_back(file.string());
  }
  CAPTURE(built);
  CHECK(built.size() <= 41);
  CHECK(built.size() > 20);  // else the includes were not followed
}

TEST_CASE("includes follow the order of the folders") { require_none(check_includes(HEED_SOURCE_DIR)); }

TEST_CASE("there are no include cycles") {
  require_none(check_cycles(HEED_SOURCE_DIR));
  const Copy copy;
  copy.append("tensor/error.h", "#include \"tensor/shape.h\"\n");
  CHECK(check_cycles(copy.path).size() >= 2);
}

TEST_CASE("public headers compile without a warning") {
  std::string all = "#include \"heed.h\"\n";
  for (const char* folder : {"heed", "tensor", "autograd", "nn"})
    for (const fs::path& file : sources(HEED_SOURCE_DIR, folder))
      if (file.extension() == ".h" && !under(file, "tensor/kernels"))
        all += "#include \"" + file.generic_string() + "\"\n";
  require_none(compile_errors(all, "-std=c++20 -Wall -Wextra -Wshadow -Werror"));
}

TEST_CASE("every source has a test file") { require_none(check_mirrors(HEED_SOURCE_DIR)); }

TEST_CASE("no source of examples/ has more than 400 lines") {
  require_none(check_example_lines(HEED_SOURCE_DIR));
  const Copy copy;
  copy.append("examples/planted/planted.cpp", std::string(401, '\n'));
  CHECK(check_example_lines(copy.path) ==
        Findings{"examples/planted/planted.cpp: has 401 lines; 400 are the limit"});
}

TEST_CASE("every family of operations is in autograd/ops.h") {
  require_none(check_families(HEED_SOURCE_DIR));
  const Copy copy;
  copy.append("autograd/ops/planted.h", "#pragma once\n");
  CHECK(check_families(copy.path) == Findings{"autograd/ops.h does not include autograd/ops/planted.h"});
}

TEST_CASE("the heart is within its budget, and README lists its files in reading order with their lines") {
  const fs::path root = HEED_SOURCE_DIR;
  int64_t lines = 0;
  for (const std::string& unit : heart) lines += unit_lines(root, unit);
  CHECK(lines <= kHeartLines);
  for (const char* readme : {"README.md", "README.zh.md"})
    require_none(check_heart_rows(root, read_file(root / readme)));

  const std::string readme = read_file(root / "README.md");
  const auto changed = [&](const std::string& from, const std::string& to) {
    return check_heart_rows(root, std::regex_replace(readme, std::regex(from), to));
  };
  CHECK(only_says(changed("`reduce.h`, `matmul.h`", "`matmul.h`, `reduce.h`"), "another order"));
  CHECK(only_says(changed("\\| 280 \\|", "| 340 |"), "`autograd/node.h`: "));
}

TEST_CASE("invalid includes are detected") {
  const Copy copy;
  copy.append("nn/planted.h", "#pragma once\n");
  const auto now = copy.findings_of(check_includes);
  const auto planted = [&](const fs::path& file, const std::string& include, const std::string& rule) {
    const std::string text = read_file(copy.path / file);
    copy.append(file, "#include " + include + "\n");
    CHECK_MESSAGE(only_says(now(), rule), file.string(), " includes ", include);
    std::ofstream(copy.path / file) << text;
  };
  const std::string direction = "only itself and the folders before it";
  planted("tensor/shape.cpp", "\"autograd/node.h\"", direction);
  planted("tensor/kernels/elementwise.cpp", "\"autograd/ops.h\"", direction);
  planted("autograd/engine.cpp", "\"nn/planted.h\"", direction);
  planted("nn/module.cpp", "\"heed.h\"", direction);
  planted("nn/module.cpp", "\"tests/structure_test.cpp\"", direction);
  planted("nn/module.cpp", "\"module.h\"", "not a path from the project root");
  planted("nn/module.cpp", "\"nn/view/capture.h\"", "the mathematics of nn/");
  planted("nn/layers/linear.h", "\"nn/debug/profile.h\"", "the mathematics of nn/");
  planted("nn/module.h", "<nlohmann/json.hpp>", "only the standard library");
  planted("heed.h", "<cblas.h>", "only the standard library");
  planted("autograd/node.h", "\"tensor/kernels/elementwise.h\"", "few kernels are installed");
}

TEST_CASE("a source without a test is detected") {
  const Copy copy;
  const auto now = copy.findings_of(check_mirrors);
  copy.append("nn/layers/planted.h", "#pragma once\n");
  CHECK(only_says(now(), "tests/nn/layers/planted_test.cpp"));
  copy.append("tests/nn/layers/planted_test.cpp", "// a file alone is no test\n");
  CHECK(only_says(now(), "tests/nn/layers/planted_test.cpp"));
  copy.append("tests/nn/layers/planted_test.cpp", "TEST_CASE(\"planted\") {}\n");
  require_none(now());
  copy.append("examples/tour/planted.cpp", "int main() {}\n");
  require_none(now());
  copy.append("examples/planted/planted.cpp", "int main() {}\n");
  CHECK(only_says(now(), "tests/examples/planted/planted_test.cpp"));
}

TEST_CASE("every op has a row in the table of op tests, and every row an op") {
  CHECK(declared_ops(HEED_SOURCE_DIR).size() > 100);  // else the pattern no longer fits the header
  require_none(check_op_rows(HEED_SOURCE_DIR));
  const Copy copy;
  const auto now = copy.findings_of(check_op_rows);
  copy.append("autograd/ops/shape.h", "Tensor planted_op(Operand x, int64_t dim);\n");
  CHECK(only_says(now(), "no row for planted_op"));
  copy.append("tests/autograd/op_cases.cpp",
              "    {\"planted_op\", [](auto& in) { return in[0]; }, {{2}}},\n");
  require_none(now());
  copy.append("tests/autograd/op_cases.cpp", "    {.op = \"planted_row\", .call = {}},\n");
  CHECK(only_says(now(), "planted_row, which is not declared"));
}
