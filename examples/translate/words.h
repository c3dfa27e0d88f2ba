#pragma once

#include <array>
#include <string>
#include <vector>

/// The words of the grammar in both languages (grammar.h).
namespace program::words {

using Text = std::string;

/// I, he, and all others.
enum class Person { first, third, other };
/// A person as subject and as object: 他, he, him.
struct Someone {
  Text chinese, subject, object;
  Person person;
};
extern const std::vector<Someone> kPeople;
extern const Someone kWho;

enum class Tense { present, past, future, progressive };
/// A time, and the tense that it takes.
struct Time {
  Text chinese, english;
  Tense tense;
};
extern const std::vector<Time> kTimes;

/// A place as where one is, and as where one goes. 家, at home, has only the first.
struct Place {
  Text chinese, there, to;
};
extern const std::vector<Place> kPlaces;

struct Adjective {
  Text chinese, english;
};
using Adjectives = std::vector<Adjective>;
extern const std::array<Adjective, 5> kNumbers;
extern const std::vector<Adjective> kLanguages;

/// A thing, its measure word, and its English singular and plural. Things that are not counted themselves
/// have containers: cup of, cups of.
struct Noun {
  Text chinese, measure, one, many;
  Text container = {}, containers = {};
  Adjectives adjectives = {};
};
extern const std::vector<Noun> kNouns, kJobs;

/// An action, its English forms, and the things that it may be done to.
struct Verb {
  Text chinese, base, third, past, progressive;
  std::vector<Noun> objects = {};
};
extern const Verb kGo, kHave, kStudy;
extern const std::vector<Verb> kVerbs, kFeelings;

}  // namespace program::words
