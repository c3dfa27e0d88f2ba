#include "nn/onnx/import.h"
#include "tensor/kernels/matmul.h"
#include "tests/support/results.h"

// Sentences from a small grammar.
static std::string sentences(int count) {
  heed::Generator random(1);
  const auto one = [&](const Texts& of) {
    return of[static_cast<size_t>(random.integer(0, std::ssize(of)))];
  };
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "the " + one({"cat", "dog", "bird"}) + one({" sees", " hears", " follows"}) + " the " +
            one({"tree", "猫", "river"}) + one({" today", " again", ""}) + ".\n";
  return text;
}

const std::string kSmall = " --width 32 --layers 2 --heads 2 --context 32 --batch 8 --lr 1e-2 --threads 1";

TEST_CASE("language_model: trains, compares with n-grams, generates text with the saved model") {
  const Folder folder;
  const std::string text = folder.write("text.txt", "\xEF\xBB\xBF" + sentences(600)),
                    out = " --out '" + folder / "out" + "'";
  const Json r =
      results_of("language_model", "train --text '" + text + "' --vocabulary 300 --steps 80" + kSmall + out);
  const auto bits = [&](const char* name) { return r[name].get<double>(); };
  CHECK(bits("bits_per_byte") < 0.6 * bits("unigram"));
  CHECK(bits("unigram") < bits("uniform"));
  CHECK(bits("five_gram") < 0.6 * bits("unigram"));
  CHECK(r["perplexity"].get<double>() < 5);
  CHECK(r["steps"] == 80);
  CHECK(contains(r["text"].get<std::string>(), "the "));
  const std::string held_out = read_file(folder / "out/held_out.txt");
  CHECK(sentences(600).ends_with(held_out));
  CHECK(held_out.size() >= sentences(600).size() / 10 - 3);
  CHECK(contains(read_file(folder / "out/attention.html"), "<!DOCTYPE html>"));

  // The same text for the same seed, on any number of threads, with and without the cache.
  const auto written = [&](const std::string& arguments) {
    return results_of("language_model", "write --prompt 'the cat' --length 100" + arguments + out)["text"]
        .get<std::string>();
  };
  const std::string first = written(" --threads 1");
  CHECK(first.starts_with("the cat"));
  CHECK(written(" --threads 2") == first);
  if (heed::kernel::has_own_product(heed::float32)) CHECK(written(" --no-cache") == first);
  CHECK(written(" --seed 2") != first);
  CHECK(written(" --temperature 0 --seed 3") == written(" --top-k 1 --seed 4"));
  const auto from_nothing = [&](const std::string& prompt) {
    return results_of("language_model", "write --length 50" + prompt + out)["text"].get<std::string>();
  };
  CHECK(from_nothing("").starts_with("\n"));
  CHECK(from_nothing(" --prompt ''") == from_nothing(""));
  const Run printed = run_program("language_model", "write --prompt 'the cat' --length 100" + out);
  CHECK(printed.out.starts_with(first + "\n"));

  CHECK(run_program("language_model", "write --prompt 'the cat' --length 100 --model '" +
                                          folder / "out/language_model.safetensors" + "' --out '" +
                                          folder / "elsewhere" + "'")
            .out.starts_with(first + "\n"));
  CHECK(std::filesystem::exists(folder / "elsewhere/attention.html"));
  CHECK(contains(refusal_of("language_model", "train --model x" + out), "--model is for writing"));
  const Run exported = run_program("language_model", "export --onnx '" + folder / "m.onnx" + "' --model '" +
                                                         folder / "out/language_model.safetensors" + "'");
  CHECK(exported.out ==
        folder / "m.onnx" +
            ": key_0, key_1, tokens, value_0, value_1 → log_probabilities, next_key_0, next_key_1, "
            "next_value_0, next_value_1\n");
  CHECK(load_onnx(folder / "m.onnx").parameter_count() > 1000);

  const auto refused = [&](const std::string& arguments) {
    return refusal_of("language_model", "write " + arguments + out);
  };
  CHECK(contains(refused("--width 32"), "--width is for training"));
  CHECK(contains(refused("--log x"), "--log is for training"));
  CHECK(contains(refused("--prompt \"$(printf 'a\\377')\""), "--prompt: byte 1 of the text is not UTF-8"));
  CHECK(contains(refused("again"), "the command is \"again\"; it is one of train, write and export"));
}

TEST_CASE("language_model: a training that is worse than counting says what would do") {
  const Folder folder;
  const std::string text = folder.write("text.txt", sentences(600));
  const auto learn = [&](const std::string& arguments) {
    const Run run = run_program("language_model", "train --text '" + text + "' --vocabulary 300 --length 5 " +
                                                      arguments + kSmall + " --out '" + folder / "out" + "'");
    CHECK_MESSAGE(run.code == 0, run.err);
    return run.out;
  };
  const std::string few = learn("--steps 1");
  CHECK(contains(few, "\n1 step of 8 windows, "));
  CHECK(contains(
      few,
      "\nThis training was too short, and counting predicts better than the model: --steps 500 would do "
      "much better.\n"));
  const std::string short_time = learn("--minutes 0.002");
  CHECK(contains(short_time, "; to repeat exactly this run: --steps "));
  CHECK(contains(short_time, "counting predicts better than the model: --minutes "));
  CHECK_FALSE(contains(learn("--steps 500"), "too short"));
}

TEST_CASE("language_model: a resumed training of a character model gives the same model") {
  const Folder folder;
  const std::string text = folder.write("text.txt", sentences(100));
  const auto learn = [&](const std::string& where, const std::string& arguments) {
    return run_program("language_model", "--text '" + text +
                                             "' --tokens characters --length 20 --steps 12 --dropout 0.1" +
                                             kSmall + arguments + " --out '" + folder / where + "'");
  };
  const auto model = [&](const std::string& where) {
    return read_file(folder / where + "/language_model.safetensors");
  };
  const Run whole = learn("whole", "");
  REQUIRE(whole.code == 0);
  CHECK(contains(whole.out, "the text is short: with "));
  CHECK(contains(whole.out, " a model soon memorizes them. 20000 or more are better\n"));
  REQUIRE(learn("parts", " --stop-after 5").code == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "parts/language_model.safetensors"));
  const Run resumed = learn("parts", " --resume");
  REQUIRE_MESSAGE(resumed.code == 0, resumed.err);
  CHECK(contains(resumed.out, "resuming after step 5"));
  CHECK(model("whole") == model("parts"));
  CHECK(contains(learn("parts", " --resume --vocabulary 20").err, "--vocabulary"));
  CHECK(contains(refusal_of("language_model", "write --prompt '犬 犬猪' --out '" + folder / "whole" + "'"),
                 "has never seen 犬, 猪;"));
  CHECK(contains(refusal_of("language_model", "write --prompt 'cat 犬' --out '" + folder / "whole" + "'"),
                 "--prompt: the model has never seen 犬"));
}

TEST_CASE("language_model: text without line feeds; training for some minutes; the old model is kept") {
  const Folder folder;
  std::string line = sentences(100);
  std::ranges::replace(line, '\n', ' ');
  const std::string arguments = "--text '" + folder.write("line.txt", line) +
                                "' --tokens characters --length 20 --minutes 0.02" + kSmall;
  const auto learn = [&](const std::string& more) {
    return run_program("language_model", arguments + more + " --out '" + folder / "out" + "'");
  };
  const Run first = learn(" --seed 1");
  REQUIRE_MESSAGE(first.code == 0, first.err);
  CHECK(contains(first.out, "-- what it writes\n "));  // the most frequent character
  const auto model = [&](const char* more) {
    return read_file(folder / "out/language_model.safetensors" + more);
  };
  const std::string before = model("");
  CHECK(learn(" --seed 2 --stop-after 1").code == 0);
  CHECK(model("") == before);
  CHECK(contains(learn(" --seed 2 --resume").out, "the model of an earlier training is now "));
  CHECK(model(".before") == before);
  CHECK_FALSE(contains(learn(" --seed 2 --resume").out, "the model of an earlier training"));
}

TEST_CASE("language_model: impossible options are errors before any work begins") {
  const Folder folder;
  const std::string out = " --out '" + folder / "out" + "'", text = folder.write("text.txt", sentences(3)),
                    bytes = folder.write("bytes", "a\xFFz"), empty = folder.write("empty", "");
  const auto refused = [&](const std::string& arguments) {
    return refusal_of("language_model", arguments + out);
  };
  CHECK(contains(refused("write"), "there is no model yet; language_model train makes one"));
  CHECK(contains(refused("--temperature -1"), "--temperature is -1"));
  CHECK(contains(refused("--temperature nan"), "--temperature is nan"));
  CHECK(contains(refused("--top-p 0"), "--top-p is 0; it must be above 0, and at most 1"));
  CHECK(contains(refused("--top-k -1"), "--top-k is -1"));
  CHECK(contains(refused("--length 0"), "--length is 0"));
  CHECK(contains(refused("--width 130 --heads 4"), "--heads is 4, --width 130"));
  CHECK(contains(refused("--width 100000"), "--width is 100000; it must be from 2 to 4096"));
  CHECK(contains(refused("--context 1"), "--context is 1"));
  CHECK(contains(refused("--vocabulary 200"), "of byte-pairs it must be from 256 to 4096"));
  CHECK(contains(refused("--vocabulary 1 --tokens characters"), "of characters it must be from 2 to 4096"));
  CHECK(contains(refused("--tokens words"), "--tokens"));
  CHECK(contains(refused("--steps 5 --minutes 1"), "plan the same; give one of them"));
  CHECK(contains(refused("--lr 0"), "--lr is 0"));
  CHECK(contains(refused("--batch 0"), "--batch is 0"));
  CHECK(contains(refused("--dropout 1"), "--dropout is 1"));
  CHECK(contains(refused("--text /nowhere/at/all"), "/nowhere/at/all"));
  CHECK(contains(refused("--text '" + bytes + "'"), "bytes: byte 1 of the text is not UTF-8"));
  CHECK(contains(refused("--text '" + empty + "'"), "there is no text to hold out; give a longer one"));
  CHECK(
      contains(refused("--text '" + text + "' --context 500"), "give a longer text or a smaller --context"));
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE("language_model: learns heed's own sources in a few hundred steps" * doctest::test_suite("slow")) {
  const Folder folder;
  const Json r = results_of("language_model", "--steps 500 --threads 1 --out '" + folder / "out" + "'");
  CHECK(r["bits_per_byte"].get<double>() < 0.7 * r["unigram"].get<double>());
  CHECK(r["five_gram"].get<double>() < 0.5 * r["unigram"].get<double>());
}
