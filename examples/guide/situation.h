#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

/// The state in which a bench of the playground begins: "w=4&own=1", as in the fragment of its address.
namespace program {

/// The parts of a text between separators.
std::vector<std::string> parts_of(const std::string& text, char separator);

class Situation {
 public:
  /// Values are coded as in a URL: %2B is a plus, and a plus is a space.
  Situation(std::string bench, const std::string& state);

  /// The value of a key, or the usual one.
  std::string text(const std::string& key, const std::string& usual);
  /// Replaces the usual numbers by those of the key, which are separated by commas. Throws if there are more
  /// or fewer, or if one is not a number.
  void replace(const std::string& key, std::span<float> numbers);
  void replace(const std::string& key, float& number) { replace(key, std::span(&number, 1)); }
  /// Throws if the state has a key that none of the calls before named.
  void end() const;

 private:
  std::string bench_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> known_;
};

}  // namespace program
