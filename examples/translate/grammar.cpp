#include "examples/translate/grammar.h"

#include <cctype>
#include <unordered_set>

#include "examples/translate/words.h"
#include "tensor/utf8.h"

using heed::Generator;

namespace program {
namespace {

using namespace words;

template <class List>
const auto& pick(Generator& random, const List& list) {
  return list[static_cast<size_t>(random.integer(0, static_cast<int64_t>(list.size())))];
}

bool chance(Generator& random, double p) { return random.uniform() < p; }

// The parts with spaces between them, without those that are empty.
Text phrase(const std::vector<Text>& parts) {
  Text text;
  for (const Text& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

Text with_article(const Text& noun) {
  return (Text("aeiou").find(noun[0]) == Text::npos ? "a " : "an ") + noun;
}

// The words of one part of a sentence in both languages.
struct Phrase {
  Text chinese, english;
};

// `generic`: as such, in the plural where there is one.
Phrase thing(Generator& random, const Noun& noun, bool generic) {
  const Adjective adjective =
      !noun.adjectives.empty() && chance(random, 0.3) ? pick(random, noun.adjectives) : Adjective{};
  const bool counted = noun.container.empty();
  const Text one = phrase({noun.container, adjective.english, noun.one});  // cup of hot tea, red apple
  const Text many = phrase({noun.containers, adjective.english, noun.many});
  const Text chinese = adjective.chinese + noun.chinese;
  const double form = random.uniform();
  if (form < 0.25 && !generic) {
    const Adjective& number = pick(random, kNumbers);
    return {number.chinese + noun.measure + chinese,
            phrase({number.english, number.chinese == "一" ? one : many})};
  }
  if (form < 0.35) return {"这" + noun.measure + chinese, "this " + one};
  if (form < 0.45) return {"那" + noun.measure + chinese, "that " + one};
  if (form < 0.50 && counted) return {"这些" + chinese, "these " + many};
  if (form < 0.55 && counted) return {"那些" + chinese, "those " + many};
  const Text bare = phrase({adjective.english, generic ? noun.many : noun.one});
  return {chinese, counted && !generic ? with_article(bare) : bare};
}

// Everything that a sentence may have; what it lacks is empty.
struct Clause {
  Someone subject;
  Tense tense = Tense::present;
  bool negative = false, question = false;
  Phrase adverb = {}, time = {}, companion = {}, place = {}, object = {}, degree = {};
  Text wish = {};           // 想 or 喜欢 before the verb
  Text question_word = {};  // in English, where it comes first
  Verb verb = {};
};

Text be(Tense tense, Person person) {
  if (tense == Tense::past) return person == Person::other ? "were" : "was";
  return person == Person::first ? "am" : person == Person::third ? "is" : "are";
}

// The auxiliary and the form of the verb that goes with it; both "be" in sentences without a verb.
std::pair<Text, Text> predicate(const Clause& c) {
  const bool third = c.subject.person == Person::third;
  const bool asks = c.question || !c.question_word.empty();
  if (c.verb.base.empty())
    return c.tense == Tense::future ? std::pair<Text, Text>("will", "be")
                                    : std::pair(be(c.tense, c.subject.person), Text());
  if (c.tense == Tense::future) return {"will", c.verb.base};
  if (c.tense == Tense::progressive) return {be(Tense::present, c.subject.person), c.verb.progressive};
  if (asks || c.negative) return {c.tense == Tense::past ? "did" : third ? "does" : "do", c.verb.base};
  return {"", c.tense == Tense::past ? c.verb.past : third ? c.verb.third : c.verb.base};
}

Pair sentence(Clause c) {
  const bool copula = c.verb.base.empty(), past = c.tense == Tense::past;
  const Text denial = !c.negative ? "" : c.verb.chinese == "有" || (past && !copula) ? "没" : "不";
  const Text done = past && !c.negative && !copula ? "了" : "";
  const Text with = c.companion.chinese.empty() ? "" : "和" + c.companion.chinese;
  const Text there = c.place.chinese.empty() ? "" : "在" + c.place.chinese;
  Pair pair;
  pair.source = c.subject.chinese + c.time.chinese + c.adverb.chinese + denial + c.degree.chinese + c.wish +
                with + there + c.verb.chinese + done + c.object.chinese + (c.question ? "吗" : "");

  if (!c.wish.empty()) {
    const Verb& wish = c.wish == "想" ? Verb{"", "want", "wants", "", ""} : kFeelings[1];
    c.verb.third = wish.third + " to " + c.verb.base;
    c.verb.base = wish.base + " to " + c.verb.base;
  }
  const auto [auxiliary, verb] = predicate(c);
  const bool inverted = c.question || !c.question_word.empty();
  pair.target =
      phrase({c.question_word, inverted ? auxiliary : "", c.subject.subject, inverted ? "" : auxiliary,
              c.negative ? "not" : "", c.adverb.english, verb, c.object.english, c.companion.english,
              c.place.english, c.degree.english, c.time.english});
  pair.target[0] = static_cast<char>(std::toupper(pair.target[0]));
  if (inverted || c.subject.chinese == kWho.chinese) pair.target += "?";
  return pair;
}

bool is_several(const Someone& someone) { return someone.chinese.ends_with("们"); }

Phrase adverb(Generator& random, const Clause& c) {
  if (c.negative || c.subject.chinese == kWho.chinese || !chance(random, 0.15)) return {};
  return is_several(c.subject) && chance(random, 0.5) ? Phrase{"都", "all"} : Phrase{"也", "also"};
}

// Who, and whether it is denied or asked. One does not ask oneself.
Clause begin(Generator& random) {
  Clause c{pick(random, kPeople)};
  const bool oneself = c.subject.chinese == "我" || c.subject.chinese == "我们";
  const double form = random.uniform();
  c.negative = form < 0.15;
  c.question = form >= 0.15 && form < 0.28 && !oneself;
  if (form >= 0.95) c.subject = kWho;
  c.adverb = adverb(random, c);
  return c;
}

// Somebody else: neither the same nor one of them, as 我 is of 我们.
const Someone& other(Generator& random, const Someone& than) {
  while (true)
    if (const Someone& found = pick(random, kPeople); found.chinese != than.chinese &&
                                                      found.chinese + "们" != than.chinese &&
                                                      found.chinese != than.chinese + "们")
      return found;
}

// 我喜欢中国, 他很爱这本书, 她喜欢在家喝茶
Pair feeling(Generator& random) {
  Clause c = begin(random);
  c.verb = pick(random, kFeelings);
  const double form = random.uniform();
  if (form < 0.3 && c.verb.base == "like") {
    c.wish = c.verb.chinese;
    c.verb = pick(random, kVerbs);
    c.object = thing(random, pick(random, c.verb.objects), true);
    if (const Place& place = pick(random, kPlaces); chance(random, 0.4))
      c.place = {place.chinese, place.there};
    return sentence(c);
  }
  if (form < 0.6) {
    const Place& place = kPlaces[static_cast<size_t>(random.integer(0, 4))];
    c.object = {place.chinese, place.to.substr(3)};
  } else if (form < 0.75) {
    const Someone& someone = other(random, c.subject);
    c.object = {someone.chinese, someone.object};
  } else if (form < 0.8) {
    const Adjective& language = pick(random, kLanguages);
    c.object = {language.chinese, language.english};
  } else {
    c.object = thing(random, pick(random, kNouns), true);
  }
  if (!c.negative && chance(random, 0.2)) c.degree = {"很", "very much"};
  return sentence(c);
}

// 他是老师, 我昨天在家, 你有几本书
Pair state(Generator& random) {
  Clause c = begin(random);
  const double form = random.uniform();
  if (form < 0.3) {
    const Noun& job = pick(random, kJobs);
    if (c.subject.chinese == "老师" || c.subject.chinese == kWho.chinese) c.subject = kPeople[1];
    c.verb.chinese = "是";
    c.object = {job.chinese, is_several(c.subject) ? job.many : with_article(job.one)};
  } else if (form < 0.65) {
    const Place& place = pick(random, kPlaces);
    c.place = {place.chinese, place.there};
    if (chance(random, 0.6)) {
      const Time& time = pick(random, kTimes);
      c.time = {time.chinese, time.english};
      c.tense = time.tense;
    }
    if (chance(random, 0.1) && c.subject.chinese != kWho.chinese) {
      c.place = {"哪里", ""};
      c.question_word = "where";
      c.negative = c.question = false;
      c.adverb = {};
    }
  } else {
    c.verb = kHave;
    const Noun& noun = pick(random, kNouns);
    c.object = thing(random, noun, false);
    if (!c.negative && !c.question && c.subject.chinese != kWho.chinese && chance(random, 0.2)) {
      c.object = {"几" + noun.measure + noun.chinese, ""};
      c.question_word = phrase({"how many", noun.containers, noun.many});
      c.adverb = {};
    }
  }
  return sentence(c);
}

// 我昨天和他在北京吃了苹果
Pair action(Generator& random) {
  Clause c = begin(random);
  if (chance(random, 0.65)) {
    const Time& time = pick(random, kTimes);
    c.time = {time.chinese, time.english};
    c.tense = time.tense;
  } else if (chance(random, 0.5)) {
    c.tense = Tense::past;
  }
  if (c.negative && (c.tense == Tense::progressive || c.time.chinese.starts_with("每"))) c.negative = false;
  if ((c.tense == Tense::future || c.time.chinese.empty()) && c.tense != Tense::past && chance(random, 0.2)) {
    c.wish = "想";
    c.tense = Tense::present;
  }
  const double form = random.uniform();
  if (form < 0.2) {
    const Place& place = kPlaces[static_cast<size_t>(random.integer(0, 7))];
    c.verb = kGo;
    c.object = {place.chinese, place.to};
  } else if (form < 0.3) {
    const Adjective& language = pick(random, kLanguages);
    c.verb = kStudy;
    c.object = {language.chinese, language.english};
  } else {
    c.verb = pick(random, kVerbs);
    c.object = thing(random, pick(random, c.verb.objects), false);
  }
  if (chance(random, 0.3)) {
    const Someone& someone = other(random, c.subject);
    c.companion = {someone.chinese, "with " + someone.object};
  }
  if (c.verb.base != "go" && chance(random, 0.5)) {
    const Place& place = pick(random, kPlaces);
    c.place = {place.chinese, place.there};
  }

  // A question word in the place of what it asks for.
  if (c.negative || c.question || c.subject.chinese == kWho.chinese || !chance(random, 0.15))
    return sentence(c);
  c.adverb = {};
  const double asked = random.uniform();
  if (asked < 0.3 && c.verb.base == "go") {
    c.object = {"哪里", ""};
    c.question_word = "where";
  } else if (asked < 0.3) {
    c.place = {"哪里", ""};
    c.question_word = "where";
  } else if (asked < 0.5 && c.wish.empty()) {
    c.time = {"什么时候", ""};
    c.tense = Tense::future;
    c.question_word = "when";
  } else if (c.verb.objects.empty()) {
    return sentence(c);
  } else if (asked < 0.8) {
    c.object = {"什么", ""};
    c.question_word = "what";
  } else {
    const Noun& noun = pick(random, c.verb.objects);
    c.object = {"几" + noun.measure + noun.chinese, ""};
    c.question_word = phrase({"how many", noun.containers, noun.many});
  }
  return sentence(c);
}

}  // namespace

std::vector<Pair> generate_corpus(Generator& generator, int64_t count) {
  std::vector<Pair> pairs(held_out_pairs().begin(), held_out_pairs().end());
  std::unordered_set<Text> known{pairs[0].source, pairs[1].source};
  while (static_cast<int64_t>(pairs.size()) < count) {
    const double kind = generator.uniform();
    Pair pair = kind < 0.2 ? feeling(generator) : kind < 0.4 ? state(generator) : action(generator);
    if (heed::split_characters(pair.source).size() > 16 || !known.insert(pair.source).second) continue;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace program
