#include "examples/translation.h"

#include <doctest/doctest.h>

#include <array>

#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace heed;
using namespace program;

namespace {

const std::vector<Pair> kPairs = {{"我爱中国", "I love China"},
                                  {"他爱茶", "he loves tea"},
                                  {"我去中国", "I go to China"},
                                  {"他去北京", "he goes to Beijing"}};

}  // namespace

// covers: C-000-01
TEST_CASE("Translation: a saved one translates as before, bit for bit") {
  const Folder folder;
  for (const auto& [model, attention] : std::vector<std::pair<std::string, std::string>>{
           {"rnn", "none"}, {"attention", "bilinear"}, {"transformer", "none"}}) {
    INFO(model);
    manual_seed(1);
    const Translation translation(model, attention, kPairs);
    Adam optimizer(translation.module().parameters(), {.lr = 1e-2});
    double first = 0, last = 0;
    for (int step = 0; step < 60; ++step) {
      optimizer.zero_grad();
      const Tensor loss = translation.loss(kPairs);
      loss.backward();
      optimizer.step();
      (step == 0 ? first : last) = loss.item();
    }
    CHECK(last < 0.1 * first);
    const std::string path = folder / (model + ".safetensors");
    translation.save(path);
    const Translation loaded = Translation::load(path);
    CHECK(loaded.options().model == model);
    CHECK(loaded.module().training());  // asking left it as it was
    const std::vector<Tokens> sources = {{"我", "爱", "中", "国"}, {"他", "去", "北", "京"}};
    const auto answers = loaded.translate(sources);
    CHECK(answers == translation.translate(sources));
    CHECK(answers[1] == Tokens{"he", "goes", "to", "Beijing"});
    CHECK(loaded.translate(sources, 3) == translation.translate(sources, 3));
    CHECK(loaded.attends() == (model != "rnn"));
    if (!loaded.attends()) {
      CHECK_THROWS_WITH_AS(loaded.alignment(sources[0], answers[0]),
                           "a model without attention has no alignment", Error);
      continue;
    }
    const AttentionMap map = loaded.alignment(sources[0], {"I", "love", "China"});
    CHECK(map.weights.shape() == Shape{1, 4, 4});
    CHECK(map.queries == Tokens{"I", "love", "China", "<eos>"});
    CHECK(map.keys == sources[0]);
    CHECK(largest_difference(sum(map.weights, -1), ones({1, 4}, float64)) < 1e-6);
    CHECK(loaded.attention(sources[0], {"I"}).size() == (model == "transformer" ? 6 : 1));
  }
}

TEST_CASE("Translation: unknown words are named, marks at the end left out") {
  const Translation translation("attention", "dot", kPairs);
  CHECK(translation.source_tokens("我爱北京。") == Tokens{"我", "爱", "北", "京"});
  const std::string error = message([&] { translation.source_tokens("我爱猫和狗和猫"); });
  CHECK(error.find("never seen 猫, 和, 狗;") != error.npos);
  const auto refusal = [&](const std::string& text) {
    return message([&] { translation.source_tokens(text); });
  };
  CHECK(refusal(" ?") == "--text: there is nothing to translate in \" ?\"");
  CHECK(refusal("我爱pizza和 C3PO pizza").find("never seen pizza, 和, C3PO;") != error.npos);
  CHECK(refusal("我\x1b[31m\u202e爱")
            .starts_with("--text: \"我U+001B[31mU+202E爱\": the model has never seen U+001B, "));
  CHECK(refusal("我\xff") == "--text: byte 3 of the text is not UTF-8; save the text in UTF-8");
  std::string longest;
  for (int i = 0; i <= kLongestSentence; ++i) longest += "我";
  CHECK(refusal(longest) == "--text: has 201 words or characters; a sentence has at most 200");
  const Folder folder;
  save_safetensors(folder / "other.safetensors", {{"w", ones({1})}});
  CHECK(message([&] {
          Translation::load(folder / "other.safetensors");
        }).find("was not written by translate") != std::string::npos);
  translation.save(folder / "model.safetensors");
  const auto [tensors, metadata] = load_safetensors(folder / "model.safetensors");
  for (const auto& [name, value, why] :
       std::vector<std::array<std::string, 3>>{{"model", "x", "is of a model \"x\""},
                                               {"attention", "", "there is no score"},
                                               {"source", "", ""}}) {
    Metadata damaged = metadata;
    damaged[name] = value;
    save_safetensors(folder / "damaged.safetensors", tensors, damaged);
    const std::string text = message([&] { Translation::load(folder / "damaged.safetensors"); });
    CHECK(text.starts_with(folder / "damaged.safetensors: "));
    CHECK(text.find(why) != std::string::npos);
  }
}
