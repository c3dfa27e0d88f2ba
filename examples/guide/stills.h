#pragma once

#include <map>
#include <string>
#include <vector>

/// What the benches of the playground show before they are touched, computed natively: for readers without
/// JavaScript or WebAssembly.
namespace program {

/// The words of the playground in a language, by key: "regression.title".
struct BenchWords {
  std::string language;  ///< en or zh
  std::map<std::string, std::string> words;

  /// Throws if there are none for the key.
  const std::string& operator()(const std::string& key) const;
};
/// Those of examples/playground/page/strings.LANGUAGE.json.
BenchWords bench_words(const std::string& language);

/// A still picture of a bench, and the numbers behind it.
struct Still {
  std::string picture;                          ///< SVG
  std::vector<std::vector<std::string>> table;  ///< the first row has the names of the columns
};

/// The still picture of a bench in a situation. `state` is as in the fragment of the playground's address:
/// "w=4&own=1" for
///
///   regression    w, kernel, own, query             tokens   heads, positions, allowed
///   plane         score, normalizer, width, query   tape     text, a formula
///   translators   at, the number of a state         length   T, factor
///
/// The meanings of the numbers are those of the header of the bench. `record` is a training of the
/// translators (examples/playground/record.h). Errors: an unknown bench, which names those that there are; a
/// state that the bench does not have; a number that is none or out of range.
Still still_of(const std::string& bench, const std::string& state, const BenchWords& words,
               const std::string& record);

}  // namespace program
