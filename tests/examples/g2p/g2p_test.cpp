#include "examples/g2p/lexicon.h"
#include "tests/support/exported.h"
#include "tests/support/results.h"

// The shadow memory of AddressSanitizer takes terabytes of addresses.
constexpr const char* kMemoryLimit = HEED_ASAN ? "" : "ulimit -v 2000000;";

namespace {

// A language with one sound per letter, except "ch", which is one sound, and a final "z", pronounced s.
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
TEST_CASE("g2p: learns a spelling and converts unseen words") {
  const Words words;
  const Json r = results_of("g2p", words.options("out", "--epochs 8"));
  CHECK(r["dev_word_errors"].size() == 8);
  CHECK(r["dev_word_errors"][0].get<double>() > 0.3);
  CHECK(r["test"]["word_errors"].get<double>() < 0.1);
  CHECK(r["test"]["phone_errors"].get<double>() < 0.04);
  CHECK(r["test"]["words"] == 300);
  for (const char* file :
       {"g2p.safetensors", "log.jsonl", "loss.svg", "word_errors.svg", "dev_answers.tsv", "test_answers.tsv"})
    CHECK_MESSAGE(std::filesystem::exists(words / "out/" + file), file);

  const std::string out = " --out " + words / "out";
  const Run said = run_program("g2p", "convert CHATIZ bonu" + out);
  CHECK(said.code == 0);
  CHECK(said.out == "CHATIZ\ttʃ a t i s\nbonu\tb o n u\n");
  const Run exported = run_program("g2p", "export --onnx " + words / "g2p.onnx" + out);
  CHECK(exported.out == words / "g2p_encoder.onnx" + ": source → lengths, memory, state\n" +
                            words / "g2p_decoder.onnx" +
                            ": lengths, memory, state, token → log_probabilities, next_state\n");
  CHECK(ExportedDecoder(words / "g2p").answers({{"b", "o", "n", "u"}, {"c", "h", "a", "t", "i", "z"}}, 20) ==
        std::vector<Tokens>{{"b", "o", "n", "u"}, {"tʃ", "a", "t", "i", "s"}});
  const Run some = run_program(
      "g2p", "convert bonu Ærø '' " + std::string(10000, 'a') + out + " --json " + words / "r.json");
  CHECK(some.code == 2);
  const Json answers = Json::parse(read_file(words / "r.json"))["words"];
  CHECK(answers[0]["phones"] == Json({"b o n u"}));
  CHECK(contains(answers[1]["refused"], "the model has never seen Æ, r, ø;"));
  CHECK(answers[2]["refused"] == "an empty word is not said");
  CHECK(answers[3]["refused"] == "has 10000 letters; a word has at most 100");
  CHECK(lines_of(some.out).size() == 4);
  const Run lines = run_shell(
      "{ printf '\\357\\273\\277bonu \\r\\n\\n' | " HEED_BINARY_DIR "/examples/g2p convert" + out + "; }");
  CHECK(lines.code == 2);
  CHECK(lines.out == "bonu\tb o n u\n\t# an empty word is not said\n");
  CHECK(contains(refusal_of("g2p", "convert" + out), "there are no words"));
  CHECK(run_program("g2p", "convert ' bonu ' 'bo nu'" + out).out ==
        " bonu \tb o n u\nbo nu\t# the model has never seen the space; it knows the letters of its training "
        "alone\n");
  // Each line is answered immediately, even if the input does not end.
  const Run talk =
      run_shell("{ rm -f " + words / "said" + "; { echo bonu; until grep -q . " + words / "said" +
                "; do sleep 0.02; done; echo bo; } | timeout 20 " HEED_BINARY_DIR "/examples/g2p convert" +
                out + " >" + words / "said" + "; }");
  CHECK(talk.code == 0);
  CHECK(lines_of(read_file(words / "said")).size() == 2);
  // A fast pipe is answered too. A line that is far too long is an error and is not stored.
  const Run fast =
      run_shell("{ yes bonu | timeout 60 " HEED_BINARY_DIR "/examples/g2p convert" + out + " | head -n 3; }");
  CHECK(fast.out == "bonu\tb o n u\nbonu\tb o n u\nbonu\tb o n u\n");
  const Run too_long =
      run_shell("{ head -c 50000000 /dev/zero | tr '\\0' a | (" + std::string(kMemoryLimit) +
                " OMP_NUM_THREADS=1 " HEED_BINARY_DIR "/examples/g2p convert" + out + "); }");
  CHECK(too_long.code == 2);
  CHECK(contains(too_long.out, "# has more than 20000 bytes; a word has at most 100 letters"));
  // Nothing is written, so --out need not be writable.
  CHECK(run_program("g2p", "convert bonu --ensemble " + words / "out/g2p.safetensors" + " --out " +
                               words.train + "/x")
            .code == 0);
  const Run best = run_program("g2p", "convert bonu --n-best 3 --alignment" + out);
  CHECK(lines_of(best.out).size() > 8);
  CHECK(best.out.starts_with("bonu\tb o n u\t-"));
  const Run many = run_program("g2p", "convert bonu --n-best 40" + out);
  Texts said_once = lines_of(many.out);
  for (std::string& line : said_once) line = line.substr(5, line.rfind('\t') - 5);
  CHECK(said_once.size() == 40);
  for (const std::string& phones : said_once) CHECK_FALSE((phones.empty() || contains(phones, "<")));
  std::ranges::sort(said_once);
  CHECK(std::ranges::adjacent_find(said_once) == said_once.end());
  CHECK(contains(read_file(words / "out/alignment_1.svg"), "bonu → b o n u"));
  CHECK(contains(read_file(words / "out/attention.html"), "bonu"));
  CHECK(run_program("g2p", "convert Æ na bo --alignment" + out).code == 2);
  CHECK(std::filesystem::exists(words / "out/alignment_2.svg"));
  CHECK(run_program("g2p", "convert bo --alignment" + out).code == 0);
  CHECK_FALSE(std::filesystem::exists(words / "out/alignment_2.svg"));

  const std::string model = words / "out/g2p.safetensors";
  const Json one = results_of("g2p", "evaluate " + words.test + out),
             two = results_of("g2p", "evaluate " + words.test + out + " --ensemble " + model + "," + model);
  CHECK(one["word_errors"] == r["test"]["word_errors"]);
  CHECK(two["word_errors"] == one["word_errors"]);
  CHECK(one["unseen_letters"] == 0);
  // Counts the word errors again from the written answers.
  program::PhoneScore score;
  const auto entries = program::read_lexicon(words.test),
             answered = program::read_lexicon(words / "out/answers.tsv");
  REQUIRE(entries.size() == answered.size());
  for (size_t i = 0; i < entries.size(); ++i) score.add(entries[i], answered[i].sounds[0]);
  CHECK(score.word_errors() == one["word_errors"].get<double>());

  // A sample of the words.
  const std::string sample = words.test + " --test-words 100" + out + " --json " + words / "sample.json";
  CHECK(contains(run_program("g2p", "evaluate " + sample).out,
                 "100 of 300 words (--test-words 0 takes all): "));
  CHECK(Json::parse(read_file(words / "sample.json"))["words"] == 100);
  CHECK(lines_of(read_file(words / "out/answers.tsv")).size() == 100);

  // The saved model is at least as good on --dev as after any epoch.
  const Values errors = r["dev_word_errors"].get<Values>();
  CHECK(results_of("g2p", "evaluate " + words.dev + " --beams 1" + out)["word_errors"].get<double>() <=
        *std::ranges::min_element(errors));
  CHECK(results_of("g2p", "evaluate " + words.write("odd.tsv", "bañu\tb a n u\n") + out)["unseen_letters"] ==
        1);
}

TEST_CASE("g2p: a resumed training gives the same model; a new training keeps the old model") {
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

  // A training that stopped after its last step, before it wrote its model: the file is still the old model.
  const std::string file = words / "out/g2p.safetensors";
  CHECK(run_program("g2p", words.options("out", "--epochs 1 --seed 3 --checkpoint-every 0")).code == 0);
  CHECK_FALSE(contains(run_program("g2p", words.options("out", plan + " --resume")).out, "is now"));
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::min());
  CHECK(contains(run_program("g2p", words.options("out", plan + " --resume")).out,
                 "is now " + file + ".before"));
  CHECK(model("out") == model("whole"));
}

TEST_CASE("g2p: an interrupt in the last step keeps that step") {
  const Folder words;
  const std::string train = words.write("train.tsv", made_up_words(0, 800));
  const std::string options = "train --train " + train + " --dev " + train +
                              " --epochs 1 --batch 4096 --width 128 --out " + words / "out";
  // The kernel says when the program has a handler for SIGINT, signal 2: then the training runs.
  const Run run = run_shell("{ env --default-signal=INT " HEED_BINARY_DIR "/examples/g2p " + options +
                            " & pid=$!; until grep -q '^SigCgt:.*[2367abef]$' /proc/$pid/status"
                            " || ! kill -0 $pid; do sleep 0.01; done; kill -INT $pid; wait $pid; }");
  CHECK(run.code == 130);
  CHECK(contains(run.err, "stopped after step 1 by SIGINT"));
  CHECK(results_of("g2p", options + " --resume")["steps"] == 1);
}

TEST_CASE("g2p: training for some minutes; averages of epochs; an ensemble of models") {
  const Words words;
  const Json r = results_of("g2p", words.options("out", "--minutes 0.05"));
  CHECK(r["steps"].get<int64_t>() > 3);
  const auto learn = [&](const std::string& out, const std::string& more) {
    const Run run = run_program("g2p", "train --train " + words.train +
                                           " --words 600 --epochs 3 --width 16 --layers 1 "
                                           "--batch 64 --out " +
                                           words / out + more);
    CHECK_MESSAGE(run.code == 0, run.err);
    CHECK(contains(run.out,
                   "600 words with 600 pronunciations to learn from, 60 to choose by: a part of them"));
    return run.out;
  };
  CHECK(contains(learn("a", " --average 1 --seed 1"), "kept: the model after epoch"));
  CHECK(contains(learn("b", " --average 2 --seed 2"), "the mean of the last 2 epochs"));
  CHECK(contains(learn("c", " --seed 2"),
                 "the mean of the last 2 epochs"));  // a fifth of the epochs, at least two
  const Json together =
      results_of("g2p", "evaluate " + words.test + " --ensemble " + words / "a/g2p.safetensors" + "," +
                            words / "b/g2p.safetensors" + " --out " + words / "both");
  CHECK(together["words"] == 300);
}

TEST_CASE("g2p: between epochs with equal word errors, fewer phone errors win") {
  const Words words;
  const Run run =
      run_program("g2p", "train --train " + words.train +
                             " --words 60 --epochs 6 --width 16 --layers 1 --batch 16 --average 1 "
                             "--beams 1 --json " +
                             words / "r.json --out " + words / "out");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const Json r = Json::parse(read_file(words / "r.json"));
  CHECK(r["dev_word_errors"][0].get<double>() > 0.999);
  CHECK(r["dev"]["word_errors"] == 1);
  CHECK_FALSE(contains(run.out, "kept: the model after epoch 1,"));
}

TEST_CASE("g2p: defaults" * doctest::test_suite("slow")) {
  const Folder folder;
  const auto begun = [&](const std::string& arguments) {
    const Run run = run_program("g2p", "train --stop-after 1 " + arguments + " --out " + folder / "out");
    CHECK_MESSAGE(run.code == 0, run.err);
    return run.out;
  };
  const std::string small = begun("--minutes 2");
  CHECK(contains(small, "20000 words with "));
  CHECK(contains(small, ", 128 wide\n"));
  const std::string large = begun("--epochs 1");
  CHECK(contains(large, "104167 words with 110611 pronunciations to learn from, 2670 to choose by\n"));
  CHECK(contains(large, "gru: 3444523 parameters, 384 wide\n"));
  CHECK(contains(begun("--epochs 1 --model transformer --words 1000"), ", 256 wide\n"));
}

TEST_CASE("g2p: errors") {
  const Words words;
  const auto refused = [&](const std::string& arguments) {
    return refusal_of("g2p", arguments + " --out " + words / "out");
  };
  CHECK(contains(refused("convert a"), "there is no model; g2p train makes one"));
  CHECK(contains(
      refused("hello"),
      "there is no command hello; there are train, convert, evaluate and export (g2p convert hello?)"));
  CHECK(contains(refused("train extra"), "train takes no word"));
  CHECK(contains(refused("train --minutes 1 --epochs 1"), "give one of them"));
  CHECK(contains(refused("train --minutes -1"), "--minutes is -1"));
  CHECK(contains(refused("train --width 30"), "a multiple of 4"));
  CHECK(contains(refused("train --words -5"), "--words is -5; it must be from 0 to 1000000000"));
  CHECK(contains(refused("convert a --skip-bad"), "--skip-bad is for train, evaluate; not for convert"));
  CHECK(contains(refused("convert a --log x"), "--log is for train"));
  CHECK(
      contains(refused("convert a --test-words 5"), "--test-words is for train, evaluate; not for convert"));
  CHECK(contains(refused("evaluate " + words.test + " --test-words -1"), "--test-words is -1"));
  CHECK(contains(refused("train --dropout 1"), "below 1"));
  CHECK(contains(refused("train --dev " + words.dev), "go with --train"));
  CHECK(contains(refused("train --n-best 2"), "--n-best is for convert"));
  CHECK(contains(refused("convert a --epochs 2"), "--epochs is for train"));
  CHECK(contains(refused("convert a --n-best 0"), "--n-best is 0"));
  CHECK(contains(refused("evaluate"), "name one file"));
  CHECK(contains(refused("evaluate " + words.test + " --json " + words.test), "would be overwritten"));
  CHECK(contains(refused("train --train " + words.write("bad.tsv", "a\n")), "bad.tsv: 1 row cannot be used"));
  const std::string skipped = "train --train " + words.write("two.tsv", "a\na\tb\nb\tc\n") +
                              " --skip-bad --epochs 1 --width 4 --out " + words / "skipped";
  CHECK(results_of("g2p", skipped)["skipped"] == 1);
  CHECK(contains(refused("train --train " + words.write("one.tsv", "a\tb\n")), "has one word"));
  CHECK_FALSE(std::filesystem::exists(words / "out"));
}
