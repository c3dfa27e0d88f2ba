#include "examples/shared/unknown_argument.h"

#include <algorithm>

#include "nn/text/metrics.h"
#include "tensor/utf8.h"

namespace program {
namespace {

heed::Tokens letters_in(const std::string& word) {
  heed::Tokens letters;
  for (const char letter : word) letters.emplace_back(1, letter);
  return letters;
}

}  // namespace

std::string unknown_argument(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& options) {
  const auto unknown =
      std::ranges::find_if(arguments, [](const std::string& word) { return word.starts_with("-"); });
  if (unknown == arguments.end())
    return heed::printable(arguments.at(0)) + " is no option; options begin with --, and --help lists them";
  const std::string given = unknown->substr(0, unknown->find('='));
  std::string nearest;
  int64_t least = std::ssize(given) / 3 + 1;
  for (const std::string& option : options)
    if (const int64_t edits = heed::edit_distance(letters_in(given), letters_in(option)); edits < least) {
      least = edits;
      nearest = option;
    }
  return "there is no option " + heed::printable(given) +
         (nearest.empty() ? "; --help lists all" : "; did you mean " + nearest + "?");
}

}  // namespace program
