#include "examples/translate/words.h"

namespace program::words {
namespace {

const Adjectives kOfPaper = {{"新", "new"}, {"旧", "old"}, {"好", "good"}};
const Adjectives kOfFruit = {{"大", "big"}, {"小", "small"}};
const Adjectives kOfDrinks = {{"热", "hot"}, {"冰", "cold"}};

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

}  // namespace

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

const std::vector<Place> kPlaces = {{"北京", "in Beijing", "to Beijing"},
                                    {"上海", "in Shanghai", "to Shanghai"},
                                    {"中国", "in China", "to China"},
                                    {"英国", "in England", "to England"},
                                    {"学校", "at school", "to school"},
                                    {"公园", "in the park", "to the park"},
                                    {"图书馆", "in the library", "to the library"},
                                    {"家", "at home", ""}};

const std::vector<Noun> kNouns = {kApple, kOrange, kEgg,  kRice,      kNoodles, kTea, kCoffee,
                                  kMilk,  kWater,  kBook, kNewspaper, kLetter,  kFilm};

const std::array<Adjective, 5> kNumbers = {
    {{"一", "one"}, {"两", "two"}, {"三", "three"}, {"四", "four"}, {"五", "five"}}};

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

}  // namespace program::words
