#include "examples/translate/corpus.h"
#include "tests/support/exported.h"
#include "tests/support/results.h"

// covers: C-100-05
TEST_CASE("translate: trains, saves, plots, and translates with the saved model") {
  const Folder folder;
  const std::string out = " --out '" + folder / "out" + "'";
  const Json r = results_of("translate", "--steps 25 --batch 16 --threads 1" + out);
  for (const char* key : {"exact_match", "bleu", "seconds"}) CHECK(r[key].is_number());
  int64_t sentences = 0;
  for (const Json& row : r["by_length"]) {
    CHECK(row["exact_match"].is_number());
    sentences += row["n"].get<int64_t>();
  }
  CHECK(sentences == 600);
  CHECK(r["alignment"]["source"] == Json({"我", "爱", "中", "国"}));
  CHECK(r["alignment"]["weights"].size() == r["alignment"]["target"].size());
  CHECK(contains(read_file(folder / "out/attention.html"), "<!DOCTYPE html>"));
  CHECK(contains(read_file(folder / "out/alignment_1.svg"), "中"));
  const Json answer = results_of("translate", "--text 我昨天在北京吃了苹果" + out);
  CHECK(answer["translation"].is_string());
  const Json exported = results_of("translate", "export --onnx '" + folder / "t.onnx" + "'" + out);
  CHECK(exported["files"] == Json({folder / "t_encoder.onnx", folder / "t_decoder.onnx"}));
  CHECK(program::join(
            ExportedDecoder(folder / "t").answers({program::tokenise("我昨天在北京吃了苹果")}, 100)[0]) ==
        answer["translation"].get<std::string>());
  const std::string nowhere = refusal_of("translate", "export --onnx /nowhere/t.onnx" + out);
  CHECK(contains(nowhere, "/nowhere/t_encoder.onnx: cannot be written; /nowhere is no folder"));
  CHECK(contains(refusal_of("translate", "--text 我爱鳄鱼" + out), "never seen 鳄, 鱼"));
  CHECK(contains(refusal_of("translate", "--text ''" + out), "--text"));
  std::string text;
  for (int i = 0; i < 41; ++i) text += "我";
  const Run wide = run_program("translate", "--text " + text + out);
  CHECK(wide.code == 0);
  CHECK(contains(wide.out, "too much for a terminal: see alignment.svg"));
  CHECK(contains(wide.out, folder / "out/alignment.svg"));

  // Pictures of an earlier text or model are deleted.
  const auto drawn = [&](const std::string& file) { return std::filesystem::exists(folder / "out/" + file); };
  const Run narrow = run_program("translate", "--text 我爱中国" + out);
  CHECK(drawn("alignment.svg"));
  CHECK(narrow.out.ends_with("\n"));
  CHECK_FALSE(narrow.out.ends_with("\n\n"));
  results_of("translate", "--attention none --steps 5 --batch 16 --threads 1" + out);
  for (int i = 1; i <= 4; ++i) CHECK_FALSE(drawn("alignment_" + std::to_string(i) + ".svg"));
  CHECK_FALSE(drawn("attention.html"));
}

TEST_CASE("translate: a user's own pairs, one to a line") {
  const Folder folder;
  std::string text;
  for (const char* who : {"ich", "du", "er", "sie", "wir"})
    for (const char* what : {"tee", "wasser", "milch"})
      text += std::string(who) + " mag " + what + "\t" + what + " gefällt " + who + "\n";
  const std::string file = folder.write("pairs.tsv", text), out = " --out '" + folder / "out" + "'";
  const Json r = results_of("translate", "--pairs '" + file + "' --steps 60 --threads 1" + out);
  CHECK(r["loss"].get<double>() < 1);
  const std::string bad = folder.write("bad.tsv", "no tab\n");
  CHECK(contains(refusal_of("translate", "--pairs '" + bad + "'" + out), "bad.tsv"));
}

TEST_CASE("translate: if no pair can be left out, it says what the test does not show") {
  const Folder folder;
  std::string text;  // every pair has a word of its own
  for (const char* word : {"eins", "zwei", "drei", "vier", "elf", "acht", "neun", "zehn", "null", "zwölf"})
    text += std::string(word) + " ja\t" + word + " yes\n";
  const Run run = run_program("translate", "--pairs '" + folder.write("pairs.tsv", text) +
                                               "' --steps 2 --batch 4 --json '" + folder / "r.json" +
                                               "' --out '" + folder / "out" + "'");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  CHECK(Json::parse(read_file(folder / "r.json"))["tested_on"] == "training sentences");
  CHECK(contains(run.out, "10 sentences of the training (each has a rare word, so none was left out)"));
  CHECK(contains(run.out,
                 "The model has learned from these sentences. How well it translates others is not known"));
  CHECK_FALSE(contains(run.out, "From the shortest third"));
  CHECK(contains(read_file(folder / "out/by_length.gp"), "sentences learned from"));
}

TEST_CASE("translate: all models compared, each in its own folder") {
  const Folder folder;
  const Run run = run_program("translate", "--compare --steps 20 --out '" + folder / "out" + "' --json '" +
                                               folder / "all.json" + "'");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const Json all = Json::parse(read_file(folder / "all.json"));
  for (const std::string model : {"rnn", "attention", "transformer"}) {
    CAPTURE(model);
    CHECK(all[model]["model"] == model);
    CHECK(all[model]["by_length"].size() > 5);
    CHECK(contains(run.out, "\n" + model + "  "));
    CHECK(std::filesystem::exists(folder / "out/" + model + "/translate.safetensors"));
  }
  CHECK(contains(run.out, "-- all three"));
  CHECK(contains(run.out, "of 600 mistakes in 600 sentences"));
  CHECK(read_file(folder / "out/by_length.csv").starts_with("length,rnn,attention,transformer\n"));
  for (const char* option : {"--model rnn", "--attention dot", "--text 我"})
    CHECK(contains(refusal_of("translate", std::string("--compare ") + option), "--compare trains all"));
}

TEST_CASE("translate: contradictory options are errors") {
  const auto refused = [](const std::string& arguments) { return refusal_of("translate", arguments); };
  CHECK(contains(refused("--model transformer --attention none"), "take --model rnn"));
  CHECK(contains(refused("--model transformer --attention dot"), "scaled dot products of its own"));
  CHECK(contains(refused("--model rnn --attention dot"), "has none"));
  CHECK(contains(refused("--model lstm"), "--model"));
  CHECK(contains(refused("--steps -1"), "--steps is -1; it must be from 1 to 1000000000"));
  CHECK(contains(refused("--batch 0"), "--batch is 0; it must be from 1 to 100000"));
  CHECK(contains(refused("--lr -0.5"), "--lr is -0.5; it must be above 0"));
  CHECK(contains(refused("--text ''"), "--text is empty; give a sentence"));
  CHECK(contains(refused("--beams 1000000000000"), "--beams is 1000000000000; it must be from 1 to 1000"));
  CHECK(contains(refused("--text 我 --model rnn"), "--model is for training"));
  CHECK(contains(refused("--text 我 --log x"), "--log is for training"));
  CHECK(contains(refused("--compare --attention dot"), "--attention chooses one model"));
  CHECK(contains(refused("--text 我 --out /tmp"), "there is no model yet"));
  CHECK(contains(refused("--text 我 --out /nowhere/at/all"), "/nowhere/at/all"));
}

// covers: C-003-01 C-003-02 C-003-04 C-003-05
TEST_CASE("translate: attention is better than none on long unseen sentences" * doctest::test_suite("slow")) {
  const Folder folder;
  const auto learn = [&](const std::string& arguments) {
    return results_of("translate", arguments + " --steps 800 --out '" + folder / "out" + "'");
  };
  const Json with = learn("--attention additive"), without = learn("--attention none");
  CHECK(with["exact_match"].get<double>() >= 0.95);
  const double gap_short =
      with["thirds"]["shortest"].get<double>() - without["thirds"]["shortest"].get<double>();
  const double gap_long =
      with["thirds"]["longest"].get<double>() - without["thirds"]["longest"].get<double>();
  CHECK(gap_long > 0.1);
  CHECK(gap_long > gap_short + 0.05);  // the gap grows with the length
  CHECK_FALSE(without.contains("alignment"));

  CHECK(with["alignment"]["target"] == Json({"I", "love", "China"}));
  const auto a = with["alignment"]["weights"].get<std::vector<Values>>();
  for (const size_t i : {0u, 1u})
    CHECK(std::max_element(a[i].begin(), a[i].end()) - a[i].begin() == static_cast<long>(i));
  CHECK(a[2][2] + a[2][3] > 0.6);
}
