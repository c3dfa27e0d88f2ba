#include "examples/translate/corpus.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "examples/shared/bad_rows.h"
#include "examples/shared/csv.h"
#include "tensor/create.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace program {
namespace {

using heed::Generator;
using heed::Tokens;
using Text = std::string;

// ---- words ----

enum class Person { first, third, other };  // I, he, the rest
struct Someone {
  Text chinese, subject, object;
  Person person;
};
const std::vector<Someone> kPeople = {{"我", "I", "me", Person::first},
                                      {"你", "you", "you", Person::other},
                                      {"他", "he", "him", Person::third},
                                      {"她", "she", "her", Person::third},
                                      {"我们", "we", "us", Person::other},
                                      {"他们", "they", "them", Person::other},
                                      {"小明", "Xiaoming", "Xiaoming", Person::third},
                                      {"老师", "the teacher", "the teacher", Person::third},
                                      {"我妈妈", "my mother", "my mother", Person::third},
                                      {"我的朋友", "my friend", "my friend", Person::third}};
const Someone kWho = {"谁", "who", "", Person::third};

enum class Tense { present, past, future, progressive };
struct Time {
  Text chinese, english;
  Tense tense;
};
const std::vector<Time> kTimes = {{"昨天", "yesterday", Tense::past},
                                  {"昨天早上", "yesterday morning", Tense::past},
                                  {"昨天晚上", "yesterday evening", Tense::past},
                                  {"去年", "last year", Tense::past},
                                  {"上个月", "last month", Tense::past},
                                  {"明天", "tomorrow", Tense::future},
                                  {"明天早上", "tomorrow morning", Tense::future},
                                  {"明天晚上", "tomorrow evening", Tense::future},
                                  {"明年", "next year", Tense::future},
                                  {"下个月", "next month", Tense::future},
                                  {"每天", "every day", Tense::present},
                                  {"每天早上", "every morning", Tense::present},
                                  {"每天晚上", "every evening", Tense::present},
                                  {"现在", "now", Tense::progressive}};

struct Place {
  Text chinese, there, to;  // 家, at home, -
};
const std::vector<Place> kPlaces = {{"北京", "in Beijing", "to Beijing"},
                                    {"上海", "in Shanghai", "to Shanghai"},
                                    {"中国", "in China", "to China"},
                                    {"英国", "in England", "to England"},
                                    {"学校", "at school", "to school"},
                                    {"公园", "in the park", "to the park"},
                                    {"图书馆", "in the library", "to the library"},
                                    {"家", "at home", ""}};

struct Adjective {
  Text chinese, english;
};
using Adjectives = std::vector<Adjective>;
const Adjectives kOfPaper = {{"新", "new"}, {"旧", "old"}, {"好", "good"}};
const Adjectives kOfFruit = {{"大", "big"}, {"小", "small"}};
const Adjectives kOfDrinks = {{"热", "hot"}, {"冰", "cold"}};

struct Noun {
  Text chinese, measure, one, many;
  Text container = {}, containers = {};  // of what is not counted itself: cup of, cups of
  Adjectives adjectives = {};
};
const Noun kApple = {"苹果", "个", "apple", "apples", "", "", kOfFruit},
           kOrange = {"橘子", "个", "orange", "oranges", "", "", kOfFruit},
           kEgg = {"鸡蛋", "个", "egg", "eggs", "", "", kOfFruit},
           kRice = {"米饭", "碗", "rice", "rice", "bowl of", "bowls of"},
           kNoodles = {"面条", "碗", "noodles", "noodles", "bowl of", "bowls of"},
           kTea = {"茶", "杯", "tea", "tea", "cup of", "cups of", kOfDrinks},
           kCoffee = {"咖啡", "杯", "coffee", "coffee", "cup of", "cups of", kOfDrinks},
           kMilk = {"牛奶", "杯", "milk", "milk", "cup of", "cups of", kOfDrinks},
           kWater = {"水", "杯", "water", "water", "cup of", "cups of", kOfDrinks},
           kBook = {"书", "本", "book", "books", "", "", kOfPaper},
           kNewspaper = {"报纸", "张", "newspaper", "newspapers", "", "", kOfPaper},
           kLetter = {"信", "封", "letter", "letters", "", "", kOfPaper},
           kFilm = {"电影", "部", "film", "films", "", "", kOfPaper};
const std::vector<Noun> kNouns = {kApple, kOrange, kEgg,  kRice,      kNoodles, kTea, kCoffee,
                                  kMilk,  kWater,  kBook, kNewspaper, kLetter,  kFilm};

const std::array<Adjective, 5> kNumbers = {
    {{"一", "one"}, {"两", "two"}, {"三", "three"}, {"四", "four"}, {"五", "five"}}};

struct Verb {
  Text chinese, base, third, past, progressive;
  std::vector<Noun> objects = {};
};
const Verb kGo = {"去", "go", "goes", "went", "going"}, kHave = {"有", "have", "has", "had", "having"},
           kStudy = {"学", "study", "studies", "studied", "studying"};
const std::vector<Verb> kVerbs = {
    {"吃", "eat", "eats", "ate", "eating", {kApple, kOrange, kEgg, kRice, kNoodles}},
    {"喝", "drink", "drinks", "drank", "drinking", {kTea, kCoffee, kMilk, kWater}},
    {"买", "buy", "buys", "bought", "buying", {kApple, kOrange, kEgg, kTea, kMilk, kBook, kNewspaper}},
    {"读", "read", "reads", "read", "reading", {kBook, kNewspaper, kLetter}},
    {"写", "write", "writes", "wrote", "writing", {kLetter, kBook}},
    {"看", "watch", "watches", "watched", "watching", {kFilm}}};
const std::vector<Verb> kFeelings = {{"爱", "love", "loves", "", ""}, {"喜欢", "like", "likes", "", ""}};
const std::vector<Adjective> kLanguages = {{"中文", "Chinese"}, {"英文", "English"}};
const std::vector<Noun> kJobs = {{"老师", "", "teacher", "teachers"},
                                 {"学生", "", "student", "students"},
                                 {"医生", "", "doctor", "doctors"},
                                 {"工程师", "", "engineer", "engineers"}};

// ---- grammar ----

template <class List>
const auto& pick(Generator& random, const List& list) {
  return list[static_cast<size_t>(random.integer(0, static_cast<int64_t>(list.size())))];
}

bool chance(Generator& random, double p) { return random.uniform() < p; }

// "a b" of "a" and "b", and of parts that may be missing.
Text words(const std::vector<Text>& parts) {
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
  const Text one = words({noun.container, adjective.english, noun.one});  // cup of hot tea, red apple
  const Text many = words({noun.containers, adjective.english, noun.many});
  const Text chinese = adjective.chinese + noun.chinese;
  const double form = random.uniform();
  if (form < 0.25 && !generic) {
    const Adjective& number = pick(random, kNumbers);
    return {number.chinese + noun.measure + chinese,
            words({number.english, number.chinese == "一" ? one : many})};
  }
  if (form < 0.35) return {"这" + noun.measure + chinese, "this " + one};
  if (form < 0.45) return {"那" + noun.measure + chinese, "that " + one};
  if (form < 0.50 && counted) return {"这些" + chinese, "these " + many};
  if (form < 0.55 && counted) return {"那些" + chinese, "those " + many};
  const Text bare = words({adjective.english, generic ? noun.many : noun.one});
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
      words({c.question_word, inverted ? auxiliary : "", c.subject.subject, inverted ? "" : auxiliary,
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
      c.question_word = words({"how many", noun.containers, noun.many});
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
    c.question_word = words({"how many", noun.containers, noun.many});
  }
  return sentence(c);
}

const Pair kHeldOut[] = {{"我爱中国", "I love China"},
                         {"我昨天在北京吃了苹果", "I ate an apple in Beijing yesterday"}};

// ---- files and parts ----

// Whether a text is of a language that writes no spaces: Chinese, Japanese.
bool has_characters(std::string_view text) {
  while (!text.empty()) {
    const auto [code, size] = heed::first_character(text);
    if (code >= 0x2E80 && code < 0xAC00) return true;
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return false;
}

}  // namespace

std::vector<Pair> generate_corpus(Generator& generator, int64_t count) {
  std::vector<Pair> pairs(std::begin(kHeldOut), std::end(kHeldOut));
  std::unordered_set<Text> known{pairs[0].source, pairs[1].source};
  while (static_cast<int64_t>(pairs.size()) < count) {
    const double kind = generator.uniform();
    Pair pair = kind < 0.2 ? feeling(generator) : kind < 0.4 ? state(generator) : action(generator);
    if (heed::split_characters(pair.source).size() > 16 || !known.insert(pair.source).second) continue;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

Tokens tokenise(const std::string& sentence) {
  return has_characters(sentence) ? heed::split_characters(sentence) : heed::split_words(sentence);
}

std::string join(const Tokens& tokens) {
  Text text;
  for (const Text& token : tokens) text += token;
  return has_characters(text) ? text : heed::join_words(tokens);
}

namespace {

// A line of a file of pairs.
Pair parse_pair(std::string_view line) {
  heed::check_utf8("the line", line);
  const size_t tab = line.find('\t');
  heed::check(tab != line.npos, "has no tab; a line is a sentence, a tab, its translation");
  heed::check(line.find('\t', tab + 1) == line.npos,
              "has more than one tab; a line is a sentence, a tab, its translation");
  Pair pair{Text(trim(line.substr(0, tab))), Text(trim(line.substr(tab + 1)))};
  for (const bool before : {true, false}) {
    const auto count = std::ssize(tokenise(before ? pair.source : pair.target));
    const char* what = before ? "the sentence before the tab " : "the translation after the tab ";
    heed::check(count > 0, what, "is empty");
    heed::check(count <= kLongestSentence, what, "has ", count, " words or characters, and at most ",
                kLongestSentence, " are taken");
  }
  return pair;
}

}  // namespace

std::vector<Pair> read_pairs(const std::string& path, bool skip_bad, int64_t* skipped) {
  std::vector<Pair> pairs;
  std::unordered_set<Text> known;
  const int64_t count = each_line(path, skip_bad, [&](std::string_view line) {
    Pair pair = parse_pair(line);
    if (known.insert(pair.source + '\t' + pair.target).second) pairs.push_back(std::move(pair));
  });
  if (skipped) *skipped = count;
  heed::check(pairs.size() >= 10, path, ": has ", pairs.size(),
              " different pairs; at least 10 are needed to train and to test");
  return pairs;
}

Split split(const std::vector<Pair>& pairs, uint64_t seed, double test_share) {
  heed::check(test_share >= 0 && test_share < 1, "split: test_share is ", test_share, "; it lies in [0, 1)");
  // How many sentences have each word; source and target words are told apart by their side.
  using Words = std::vector<std::pair<bool, Text>>;
  std::map<Words::value_type, int64_t> left;
  std::unordered_map<Text, int64_t> translations;
  std::vector<Words> words_of;
  for (const Pair& pair : pairs) {
    Words found;
    for (const Text& word : tokenise(pair.source)) found.emplace_back(false, word);
    for (const Text& word : tokenise(pair.target)) found.emplace_back(true, word);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (const auto& word : found) ++left[word];
    words_of.push_back(std::move(found));
    ++translations[pair.source];
  }

  Generator random(seed);
  const auto n = static_cast<int64_t>(pairs.size());
  std::vector<int64_t> order = heed::randperm(n, &random).to_vector<int64_t>();
  const auto at = [&](int64_t i) -> const Pair& { return pairs[static_cast<size_t>(i)]; };
  const auto held_out = [&](int64_t i) {
    return std::find(std::begin(kHeldOut), std::end(kHeldOut), at(i)) != std::end(kHeldOut);
  };
  std::stable_partition(order.begin(), order.end(), held_out);
  const auto wanted = static_cast<size_t>(test_share * static_cast<double>(n));
  Split parts;
  for (const int64_t i : order) {
    const Words& words = words_of[static_cast<size_t>(i)];
    const bool common = std::all_of(words.begin(), words.end(), [&](const auto& w) { return left[w] > 5; });
    const bool test =
        (parts.test.size() < wanted && common && translations[at(i).source] == 1) || held_out(i);
    (test ? parts.test : parts.train).push_back(at(i));
    if (test)
      for (const auto& word : words) --left[word];
  }
  return parts;
}

}  // namespace program
