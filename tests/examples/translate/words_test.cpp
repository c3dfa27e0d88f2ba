#include "examples/translate/words.h"

#include <set>

#include "tests/support/expect.h"

using namespace program::words;

TEST_CASE("words: no two words of a kind are equal, and every form is there") {
  const auto check_distinct = [](const auto& words) {
    std::set<std::string> chinese;
    for (const auto& word : words) {
      CHECK_FALSE(word.chinese.empty());
      CHECK_MESSAGE(chinese.insert(word.chinese).second, word.chinese);
    }
  };
  check_distinct(kPeople);
  check_distinct(kTimes);
  check_distinct(kPlaces);
  check_distinct(kNouns);
  check_distinct(kVerbs);
  for (const Noun& noun : kNouns) {
    CAPTURE(noun.chinese);
    for (const std::string& form : {noun.measure, noun.one, noun.many}) CHECK_FALSE(form.empty());
    CHECK(noun.container.empty() == noun.containers.empty());
  }
  for (const Verb& verb : kVerbs) {
    CAPTURE(verb.chinese);
    for (const std::string& form : {verb.base, verb.third, verb.past, verb.progressive})
      CHECK_FALSE(form.empty());
    CHECK_FALSE(verb.objects.empty());
  }
}
