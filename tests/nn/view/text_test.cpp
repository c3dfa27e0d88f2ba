#include "nn/view/text.h"

#include "nn/attention/pooling.h"
#include "nn/files/npy.h"
#include "nn/files/safetensors.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

const Tokens chinese = {"我", "爱", "中国"}, english = {"I", "love", "China"};

static AttentionMap translation() {
  return AttentionMap(tensor({{1, 0, 0}, {0.25, 0.5, 0.25}, {0, 0, 1}}), english, chinese);
}

TEST_CASE("attention_text: a plain table, with keys on columns and queries on rows") {
  CHECK(attention_text(translation(), TextStyle::plain) ==
        "         我    爱  中国\n"
        "I      1.00  0.00  0.00\n"
        "love   0.25  0.50  0.25\n"
        "China  0.00  0.00  1.00");
  CHECK(attention_line(translation(), 1, TextStyle::plain) ==
        "love  weight\n"
        "我    0.2500\n"
        "爱    0.5000\n"
        "中国  0.2500");
  CHECK(attention_text(AttentionMap(zeros({0, 2}), {}, {"a", "b"}), TextStyle::plain) == "  a  b");
}

// covers: C-003-18
TEST_CASE("attention_line: in color the current word is red and the others are shaded by weight") {
  // One sentence: the current word is one of the others.
  const AttentionMap own(tensor({{1, 0, 0}, {0.25, 0.5, 0.25}, {0, 1, 0}}), chinese, chinese);
  CHECK(attention_line(own, 1, TextStyle::coloured) ==
        "\033[38;5;16;48;5;189m 我 \033[0m"
        "\033[1;38;5;160;48;5;153m 爱 \033[0m"
        "\033[38;5;16;48;5;189m 中国 \033[0m");
  // Two sentences: it comes before them. Weights may be below 0, above 1 or NaN.
  const AttentionMap cross(tensor({{-1, 0.75, 7, std::nan("")}}), {"I"}, {"a", "b", "c", "d"});
  const std::string line =
      "\033[1;38;5;160mI\033[0m "
      "\033[38;5;16;48;5;231m a \033[0m\033[38;5;16;48;5;111m b \033[0m"
      "\033[38;5;16;48;5;75m c \033[0m\033[38;5;16;48;5;231m d \033[0m";
  CHECK(attention_line(cross, 0, TextStyle::coloured) == line);
  CHECK(attention_text(cross, TextStyle::coloured) == line);
  const std::string three = attention_text(own, TextStyle::coloured);
  CHECK(std::count(three.begin(), three.end(), '\n') == 2);
  CHECK(three.ends_with(attention_line(own, 2, TextStyle::coloured)));
}

TEST_CASE("AttentionMap: one entry of a batch, single heads or their mean") {
  const Tensor weights = rand({2, 3, 4, 5});
  const Tokens queries(4, "q"), keys(5, "k");
  const AttentionMap map(weights, queries, keys, {.module = "layers.0", .step = 2, .batch = 1});
  CHECK(map.heads() == 3);
  CHECK(map.module == "layers.0, entry 2 of 2");
  CHECK(map.step == 2);
  CHECK(map.row(3, 2) == values(weights[{1, 2, 3}]));
  CHECK(map.row(0) == values(mean(to(weights[{1, whole, 0}], float64), 0)));
  const Tensor three = rand({2, 4, 5});
  CHECK(AttentionMap(three, queries, keys).heads() == 1);
  CHECK(AttentionMap(three, queries, keys).module == "entry 1 of 2");
  const AttentionMap two_heads(three, queries, keys, {.heads = true});
  CHECK(two_heads.heads() == 2);
  CHECK(two_heads.module.empty());
  CHECK(two_heads.row(3, 1) == values(three[{1, 3}]));
  CHECK_THROWS_AS(AttentionMap(weights, queries, keys, {.heads = true}), Error);
}

TEST_CASE("AttentionMap: a mask as the attention had it; masked keys are blank in tables") {
  const AttentionMap map(tensor({{1, 0}, {0.5, 0.5}}), {"a", "b"}, {"x", "y"}, {.mask = Mask::causal(2)});
  CHECK(map.masked(0) == std::vector<bool>{false, true});
  CHECK(map.masked(1) == std::vector<bool>{false, false});
  CHECK(attention_text(map, TextStyle::plain) ==
        "      x     y\n"
        "a  1.00\n"
        "b  0.50  0.50");
  CHECK(attention_line(map, 0, TextStyle::plain) ==
        "a  weight\n"
        "x  1.0000\n"
        "y");

  // [B, Tq, Tk] is for all heads of an entry. A key is masked in the mean if it is in all heads.
  const Tensor weights = full({2, 3, 2, 4}, 0.25);
  const Mask lengths = Mask::lengths(tensor({4, 3}, int64), 4);
  const AttentionMap entry(weights, {"a", "b"}, Tokens(4, "k"), {.batch = 1, .mask = lengths});
  CHECK(entry.allowed.shape() == Shape{3, 2, 4});
  CHECK(entry.masked(1, 2) == std::vector<bool>{false, false, false, true});
  const Tensor of_heads = reshape(tensor({1, 0}), {2, 1, 1}) > 0;
  const AttentionMap heads(full({2, 1, 1}, 1), {"q"}, {"k"}, {.heads = true, .mask = Mask(of_heads)});
  CHECK(heads.masked(0, 1) == std::vector<bool>{true});
  CHECK(heads.masked(0) == std::vector<bool>{false});
  CHECK(AttentionMap(weights, {"a", "b"}, Tokens(4, "k")).masked(0) == std::vector<bool>(4));
  CHECK_THROWS_AS(AttentionMap(weights, {"a", "b"}, Tokens(4, "k"), {.mask = Mask::causal(3)}), Error);
}

TEST_CASE("layer_name: paths of modules in words; other captions stay the same") {
  for (const auto& [module, english, chinese] : std::vector<std::array<std::string, 3>>{
           {"transformer.decoder.layers.1.multihead_attn", "decoder, layer 2, cross-attention",
            "解码器，第 2 层，交叉注意力"},
           {"encoder.layers.0.self_attn, entry 2 of 3", "encoder, layer 1, self-attention, entry 2 of 3",
            "编码器，第 1 层，自注意力, entry 2 of 3"},
           {"2.layers.0.my_scores", "layer 3, layer 1, my scores", "第 3 层，第 1 层，my scores"},
           {"decoder.cross", "decoder, cross-attention", "解码器，交叉注意力"},
           {"dot, softmax", "dot, softmax", "dot, softmax"},
           {"q.k over √d", "q.k over √d", "q.k over √d"},
           {"transformer", "transformer", "transformer"},
           {"", "", ""}}) {
    CHECK(detail::layer_name(module, false) == english);
    CHECK(detail::layer_name(module, true) == chinese);
  }
}

TEST_CASE("AttentionMap: characters that control terminals or are not allowed in XML are replaced") {
  const AttentionMap map(ones({1, 4}), {"\n"}, {"\x1b[31m", "\u009b", "\x7f", "\uffff"});
  CHECK(map.queries == Tokens{"␊"});
  CHECK(map.keys == Tokens{"␛[31m", "\uFFFD", "\uFFFD", "\uFFFD"});
}

TEST_CASE("AttentionMap: errors give the tokens and sizes") {
  const Tensor weights = ones({2, 3, 4});
  const Tokens three(3, "q"), four(4, "k");
  CHECK_ERROR(AttentionMap(weights, four, four),
              "AttentionMap: 4 query tokens for weights [2, 3, 4], which have 3 query positions; give a "
              "token for each position, including padding");
  CHECK_ERROR(AttentionMap(weights, three, three),
              "AttentionMap: 3 key tokens for weights [2, 3, 4], which have 4 key positions; give a token "
              "for each position, including padding");
  CHECK_ERROR(AttentionMap(weights, three, four, {.batch = 2}),
              "AttentionMap: there is no batch entry 2; weights [2, 3, 4] have 2");
  CHECK_ERROR(AttentionMap(ones({3}), three, four),
              "AttentionMap: weights [3] must be [B, H, Tq, Tk], [B, Tq, Tk] or [Tq, Tk]");
  CHECK(message([&] { AttentionMap(ones({1, 1}), {"\xff"}, {"k"}); }).starts_with("AttentionMap: a token"));
  const AttentionMap map(weights, three, four);
  CHECK_ERROR(map.row(3), "AttentionMap: query 3 of 3");
  CHECK_ERROR(map.row(0, 1), "AttentionMap: head 1 of 1");
  CHECK_ERROR(map.row(0, -2), "AttentionMap: head -2 of 1");
}

TEST_CASE("stacked_steps: the calls of a module below each other, with weight 0 for later keys") {
  AttentionScope scope;
  for (int64_t keys = 1; keys <= 3; ++keys)
    attention_pool(full({2, 1, keys}, 1.0 / static_cast<double>(keys), float64), ones({2, keys, 1}, float64));
  const Tensor steps = stacked_steps(scope, "");
  CHECK(steps.shape() == Shape{2, 3, 3});
  CHECK(values(steps[1]) == Values{1, 0, 0, 0.5, 0.5, 0, 1 / 3.0, 1 / 3.0, 1 / 3.0});
  CHECK_ERROR_HAS(stacked_steps(scope, "decoder"), "there is no call 0 of the module \"decoder\"");
}

TEST_CASE("captured_weights: all calls by name, for files") {
  AttentionScope scope;
  const Tensor first = softmax(randn({2, 3, 4}), -1), second = softmax(randn({2, 1, 5}), -1);
  attention_pool(first, ones({2, 4, 1}));
  attention_pool(second, ones({2, 5, 1}));
  const Folder folder;
  save_safetensors(folder / "weights.safetensors", captured_weights(scope));
  const StateDict loaded = load_safetensors(folder / "weights.safetensors").tensors;
  REQUIRE(loaded.size() == 2);
  CHECK(largest_difference(loaded.at("/0"), first) == 0);
  CHECK(largest_difference(loaded.at("/1"), second) == 0);
  save_npy(folder / "second.npy", scope.weights("", 1));
  CHECK(largest_difference(load_npy(folder / "second.npy"), second) == 0);
}
