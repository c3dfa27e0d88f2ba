#include "examples/language_model/language.h"

#include "nn/optim/adaptive.h"
#include "tensor/kernels/matmul.h"
#include "tests/support/exported.h"
#include "tests/support/program.h"

using namespace program;

const std::string kText = "the cat sees the dog, the dog sees the cat.\n";

static Language small(int64_t context = 8) {
  manual_seed(1);
  return Language(TextTokens("characters", kText, 100),
                  {.width = 16, .layers = 2, .heads = 2, .context = context, .dropout = 0.1});
}

TEST_CASE("language: about uniform before training, better after it") {
  const Language language = small(16);
  const Ids text = language.tokens().encode(kText);
  const double alike = std::log2(static_cast<double>(language.tokens().size()));
  const double first = language.bits(text) / static_cast<double>(text.size());
  CHECK(first == doctest::Approx(alike).epsilon(0.1));
  CHECK(test::unregistered_leaves(language.net()(from_vector(text, {1, std::ssize(text)})), language.net()) ==
        "");
  Adam optimizer(language.net().parameters(), {.lr = 1e-2});
  for (int i = 0; i < 200; ++i) {
    const Tensor loss = language.loss(narrow(from_vector(text, {1, std::ssize(text)}), 1, i % 24, 17));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  CHECK(language.bits(text) / static_cast<double>(text.size()) < 0.5 * first);
  CHECK(language.net().training());
}

TEST_CASE("language: bits() sums over tokens that each see at least half a context") {
  for (const int64_t context : {2, 7, 8}) {
    const Language language = small(context);
    const Ids text = language.tokens().encode(kText + "x");
    for (const size_t length : {0, 1, 2, 5, 8, 9, 12, 13, 30, 45}) {
      const Ids ids(text.end() - static_cast<long>(length), text.end());
      double want = language.tokens().unknown_bits(ids);
      if (length > 0) want += std::log2(static_cast<double>(language.tokens().size()));
      language.net().eval();
      for (int64_t i = 1; i < std::ssize(ids); ++i) {
        // The window that predicts token i: the first one that contains enough tokens before it.
        const int64_t half = context / 2, at = i - 1;
        const int64_t first = at < context ? 0 : ((at - context) / half + 1) * half;
        const Ids before(ids.begin() + first, ids.begin() + i);
        const Tensor logits = language.net()(from_vector(before, {1, std::ssize(before)}));
        const Tensor last = narrow(logits, 1, std::ssize(before) - 1, 1);
        const Tensor next = from_vector(Ids{ids[static_cast<size_t>(i)]}, {1, 1});
        want += softmax_cross_entropy(last, next).item() / std::log(2.0);
      }
      language.net().train();
      CHECK(language.bits(ids) == doctest::Approx(want).epsilon(1e-5));
    }
  }
}

TEST_CASE("language: generates the same with and without a cache, threads or captured attention") {
  const Language language = small();
  const Ids prompt = language.tokens().encode("the dog sees");
  const auto written = [&](bool cached, bool attends) {
    Writer writer(language, prompt, cached, attends);
    Generator generator(4);
    Ids ids;
    for (int i = 0; i < 100; ++i) ids.push_back(writer.next(generator, {.top_p = 0.9}));
    if (attends) {
      const std::vector<AttentionMap> maps = writer.attention();
      CHECK(maps.size() == 2);
      for (const AttentionMap& map : maps) {
        CHECK(map.weights.shape() == Shape{2, Writer::kRemembered, Writer::kRemembered});
        for (int64_t q = 0; q < Writer::kRemembered; q += 9) {
          const std::vector<double> row = map.row(q);
          double sum = 0;
          for (const double weight : row) sum += weight;
          CHECK(sum <= 1.0001);
          std::vector<bool> unseen;
          for (const double weight : row) unseen.push_back(weight == 0);
          CHECK(map.masked(q) == unseen);
        }
        double sum = 0;
        for (const double weight : map.row(Writer::kRemembered - 1)) sum += weight;
        CHECK(sum == doctest::Approx(1).epsilon(1e-4));
        CHECK(map.queries[0] == map.keys[1]);
      }
    }
    return ids;
  };
  const Ids first = written(true, false);
  CHECK(written(true, false) == first);
  CHECK(written(true, true) == first);
  if (kernel::has_own_product(float32)) CHECK(written(false, false) == first);
  {
    const Threads two(2);
    CHECK(written(true, false) == first);
  }
  CHECK(language.net().training());
  CHECK_ERROR(Writer(language, {}), "there is nothing to write on from");

  // With few tokens, the prompt is part of the keys.
  Writer writer(language, prompt, true, true);
  CHECK(writer.attention().empty());
  Generator generator(4);
  for (int i = 0; i < 2; ++i) writer.next(generator, {});
  CHECK(writer.attention()[0].weights.shape() == Shape{2, 2, 13});
}

TEST_CASE("language: saved in a file; damaged files are errors") {
  const Folder folder;
  const std::string file = folder / "model.safetensors";
  for (const std::string& kind : TextTokens::kinds()) {
    manual_seed(2);
    const Language language(TextTokens(kind, kText, 270),
                            {.width = 16, .layers = 1, .heads = 2, .context = 6});
    language.save(file);
    const Language read = Language::load(file, "language_model train");
    const Ids text = language.tokens().encode(kText);
    CHECK(read.tokens().encode(kText) == text);
    CHECK(read.options().context == 6);
    CHECK(read.bits(text) == language.bits(text));
  }
  const std::string whole = read_file(file);
  const auto refusal = [&](std::string bytes) {
    const std::string damaged = folder.write("damaged.safetensors", bytes);
    const std::string said = message([&] { Language::load(damaged, "language_model train"); });
    CHECK(contains(said, "damaged.safetensors"));
    CHECK(contains(said, "language_model"));
    return said;
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string bytes = whole;
    REQUIRE(from.size() == to.size());
    return bytes.replace(bytes.find(from), from.size(), to);
  };
  refusal(whole.substr(0, whole.size() / 2));
  CHECK(contains(refusal(changed("\"width\":\"16\"", "\"width\":\"x6\"")), "width"));
  CHECK(contains(refusal(changed("\"width\":\"16\"", "\"width\":\"18\"")), "is damaged"));
  CHECK(contains(refusal(changed("\"heads\":\"2\"", "\"heads\":\"3\"")), "is damaged"));
  CHECK(contains(refusal(changed("\"tokens\"", "\"tokenx\"")), "has no \"tokens\""));
  CHECK(contains(refusal(changed("characters", "charactery")), "must be byte-pairs or characters"));
  CHECK_ERROR_HAS(LanguageOptions({.width = 100, .heads = 3}).check(), "--heads is 3, --width 100");
  CHECK_ERROR_HAS(LanguageOptions({.width = 5000}).check(), "--width is 5000; it must be from 2 to 4096");
}

TEST_CASE("language: an exported step continues a text as the model does") {
  const Folder folder;
  for (const std::string& kind : TextTokens::kinds()) {
    manual_seed(3);
    const Language language(TextTokens(kind, kText + kText, 270), {.width = 16, .layers = 2, .heads = 2});
    const Ids prompt = language.tokens().encode("the dog");
    Writer writer(language, prompt);
    Ids wanted, found;
    Generator random(1);
    for (int i = 0; i < 20; ++i) wanted.push_back(writer.next(random, {.temperature = 0}));

    REQUIRE(run_export(folder / "m.onnx", [&](const OnnxFiles& files) { language.write_onnx(files); }) == "");
    const OnnxModel step = load_onnx(folder / "m.onnx");
    const NoGrad guard;
    StateDict in;
    for (const onnx::ValueInfo& input : step.inputs()) in[input.name] = zeros({1, 2, 0, 8});
    for (Ids next = prompt; found.size() < wanted.size(); found.push_back(next[0])) {
      in["tokens"] = from_vector(next, {1, std::ssize(next)});
      for (const auto& [name, x] : step(in))
        if (name.starts_with("next_"))
          in[name.substr(5)] = x;
        else
          next = argmax(x, -1).to_vector<int64_t>();
    }
    CHECK(found == wanted);
    const auto metadata = metadata_of(folder / "m.onnx");
    CHECK(metadata.at("tokens") == kind);
    CHECK(metadata.at("context") == "128");
    if (kind == "characters") {
      CHECK(metadata.at("characters").starts_with("\uFFFD"));
    } else {
      CHECK(BytePairs::from_text(metadata.at("pairs")).encode("the dog") == prompt);
      CHECK(metadata.contains("pieces"));
    }
  }
}
