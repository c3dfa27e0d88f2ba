#include <filesystem>
#include <nlohmann/json.hpp>

#include "examples/lexicon.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using Json = nlohmann::json;

namespace {

// A language that is said as it is written, but for "ch", one sound, and a "z" at the end, said as s.
std::string made_up_words(size_t first, size_t count) {
  const Texts onsets = {"b", "d", "g", "k", "l", "m", "n", "p", "s", "t", "ch"},
              vowels = {"a", "e", "i", "o", "u"};
  std::string text;
  for (size_t i = first; i < first + count; ++i) {
    const std::string a = onsets[i % 11], b = vowels[i / 11 % 5], c = onsets[i / 55 % 11],
                      d = vowels[i / 605 % 5];
    const bool z = i % 3 == 0;
    const auto said = [](const std::string& onset) { return onset == "ch" ? std::string("tʃ") : onset; };
    text += a + b + c + d + (z ? "z" : "") + "\t" + said(a) + " " + b + " " + said(c) + " " + d +
            (z ? " s" : "") + "\n";
  }
  return text;
}

struct Words : Folder {
  std::string train = write("train.tsv", made_up_words(0, 2400)),
              dev = write("dev.tsv", made_up_words(2400, 100)),
              test = write("test.tsv", made_up_words(2500, 300));
  std::string options(const std::string& out, const std::string& more) const {
    return "train --train " + train + " --dev " + dev + " --test " + test +
           " --width 32 --layers 1 --batch 32 --lr 0.005 --out " + *this / out + " " + more;
  }
};

}  // namespace

// covers: C-003-02 C-003-05
TEST_CASE("g2p: learns a spelling, and is asked for words that no list has") {
  const Words words;
  const Json r = results_of("g2p", words.options("out", "--epochs 8"));
  CHECK(r["dev_word_errors"].size() == 8);
  CHECK(r["dev_word_errors"][0].get<double>() > 0.3);
  CHECK(r["test"]["word_errors"].get<double>() < 0.1);
  CHECK(r["test"]["phone_errors"].get<double>() < 0.04);
  CHECK(r["test"]["words"] == 300);
  for (const char* file : {"g2p.safetensors", "log.jsonl", "loss.svg", "word_errors.svg", "answers.tsv"})
    CHECK_MESSAGE(std::filesystem::exists(words / "out/" + file), file);

  const std::string out = " --out " + words / "out";
  const Run said = run_program("g2p", "convert CHATIZ bonu" + out);
  CHECK(said.code == 0);
  CHECK(said.out == "CHATIZ\ttʃ a t i s\nbonu\tb o n u\n");
  const Run some = run_program(
      "g2p", "convert bonu Ærø '' " + std::string(10000, 'a') + out + " --json " + words / "r.json");
  CHECK(some.code == 2);
  const Json answers = Json::parse(read_file(words / "r.json"))["words"];
  CHECK(answers[0]["phones"] == Json({"b o n u"}));
  CHECK(contains(answers[1]["refused"], "the model has never seen Æ, r, ø;"));
  CHECK(answers[2]["refused"] == "an empty word is not said");
  CHECK(answers[3]["refused"] == "has 10000 letters; a word has at most 100");
  CHECK(lines_of(some.out).size() == 4);
  const Run lines =
      run_shell("{ printf 'bonu\\r\\n\\n' | " HEED_BINARY_DIR "/examples/g2p convert" + out + "; }");
  CHECK(lines.code == 2);
  CHECK(lines.out == "bonu\tb o n u\n\t# an empty word is not said\n");
  const Run best = run_program("g2p", "convert bonu --n-best 3 --alignment" + out);
  CHECK(lines_of(best.out).size() > 8);
  CHECK(best.out.starts_with("bonu\tb o n u\t-"));
  CHECK(contains(read_file(words / "out/alignment_1.svg"), "bonu → b o n u"));
  CHECK(contains(read_file(words / "out/attention.html"), "bonu"));

  const std::string model = words / "out/g2p.safetensors";
  const Json one = results_of("g2p", "evaluate " + words.test + out),
             two = results_of("g2p", "evaluate " + words.test + out + " --ensemble " + model + "," + model);
  CHECK(one["word_errors"] == r["test"]["word_errors"]);
  CHECK(two["word_errors"] == one["word_errors"]);
  CHECK(one["unseen_letters"] == 0);
  // The referee's own count.
  program::PhoneScore score;
  const auto entries = program::read_lexicon(words.test),
             answered = program::read_lexicon(words / "out/answers.tsv");
  REQUIRE(entries.size() == answered.size());
  for (size_t i = 0; i < entries.size(); ++i) score.add(entries[i], answered[i].sounds[0]);
  CHECK(score.word_errors() == one["word_errors"].get<double>());
}

TEST_CASE("g2p: stopped and gone on with, the same model; a new one spares the old") {
  const Words words;
  const std::string plan = "--epochs 1 --seed 3 --checkpoint-every 20";
  CHECK(run_program("g2p", words.options("whole", plan)).code == 0);
  const auto model = [&](const std::string& out) { return read_file(words / out + "/g2p.safetensors"); };
  for (const char* more : {" --stop-after 13", " --resume --stop-after 40 --threads 2", " --resume"})
    CHECK(run_program("g2p", words.options("pieces", plan + more)).code == 0);
  CHECK(model("pieces") == model("whole"));
  const Run other = run_program("g2p", words.options("pieces", "--epochs 2 --seed 3 --resume"));
  CHECK(other.code == 2);
  CHECK(contains(other.err, "--epochs            1    2"));
  const Run anew = run_program("g2p", words.options("pieces", "--epochs 1 --seed 4 --model transformer"));
  CHECK(contains(anew.out, "is now " + words / "pieces/g2p.safetensors.before"));
  CHECK(read_file(words / "pieces/g2p.safetensors.before") == model("whole"));
  CHECK(model("pieces") != model("whole"));
  CHECK(run_program("g2p", "convert bonu --out " + words / "pieces").code == 0);
}

TEST_CASE("g2p: by the clock") {
  const Words words;
  const Json r = results_of("g2p", words.options("out", "--minutes 0.05"));
  CHECK(r["steps"].get<int64_t>() > 3);
}

TEST_CASE("g2p: what is wrong, and what to do") {
  const Words words;
  const auto refused = [&](const std::string& arguments) {
    return refusal_of("g2p", arguments + " --out " + words / "out");
  };
  CHECK(contains(refused("convert"), "there are no words"));
  CHECK(contains(refused("convert a"), "there is no model; g2p train makes one"));
  CHECK(contains(refused("hello"),
                 "there is no command hello; there are train, convert and evaluate (g2p convert hello?)"));
  CHECK(contains(refused("train extra"), "train takes no word"));
  CHECK(contains(refused("train --minutes 1 --epochs 1"), "give one of them"));
  CHECK(contains(refused("train --minutes -1"), "--minutes is -1"));
  CHECK(contains(refused("train --width 30"), "a multiple of 4"));
  CHECK(contains(refused("train --dropout 1"), "below 1"));
  CHECK(contains(refused("train --dev " + words.dev), "go with --train"));
  CHECK(contains(refused("train --n-best 2"), "--n-best is for convert"));
  CHECK(contains(refused("convert a --epochs 2"), "--epochs is for train"));
  CHECK(contains(refused("convert a --n-best 0"), "--n-best is 0"));
  CHECK(contains(refused("evaluate"), "name one file"));
  CHECK(contains(refused("evaluate " + words.test + " --json " + words.test), "would be overwritten"));
  CHECK(contains(refused("train --train " + words.write("bad.tsv", "a\n")), "bad.tsv: 1 row cannot be used"));
  CHECK(contains(refused("train --train " + words.write("one.tsv", "a\tb\n")), "has one word"));
  CHECK_FALSE(std::filesystem::exists(words / "out"));
}
