#include "examples/language_model/texts.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "nn/files/text_file.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace fs = std::filesystem;

namespace program {
namespace {

std::string without_returns(std::string text) {
  std::erase(text, '\r');
  return text;
}

}  // namespace

HeldOutText own_sources() {
  const fs::path root = HEED_SOURCE_DIR;
  std::vector<fs::path> files = {root / "README.md"};
  for (const char* folder : {"tensor", "autograd", "nn", "examples", "tests", "bench"}) {
    std::error_code missing;
    for (const auto& file : fs::recursive_directory_iterator(root / folder, missing))
      if (file.path().extension() == ".h" || file.path().extension() == ".cpp") files.push_back(file.path());
    heed::check(!missing, (root / folder).string(),
                ": heed's sources no longer exist; give another text with --text FILE");
  }
  std::ranges::sort(files);
  HeldOutText text{std::to_string(files.size()) + " files of heed's sources, every tenth of them held out",
                   "", ""};
  for (size_t i = 0; i < files.size(); ++i)
    (i % 10 == 9 ? text.held_out : text.learned) += without_returns(heed::read_text(files[i].string()));
  return text;
}

HeldOutText read_held_out_text(const std::string& file) {
  if (file.empty()) return own_sources();
  const std::string text = without_returns(heed::read_text(file));
  size_t end = text.size() - text.size() / 10;
  while (end < text.size() && heed::first_character(std::string_view(text).substr(end)).size == 0) ++end;
  return {file + ", its last tenth held out", text.substr(0, end), text.substr(end)};
}

}  // namespace program
