// A translator: an encoder reads a Chinese sentence, and a decoder with attention writes it in English.
//
//   h_j = encoder state after Chinese word j         s_i = decoder state after English word i - 1
//   a_ij = softmax over j of s_i . h_j / sqrt(d)     c_i = sum_j a_ij h_j
//   English word i ~ softmax(W [s_i; c_i])
//
// In training the decoder reads the true English words, and afterwards its own, each the most probable.
//
// What to look for: it translates sentences that it has never seen. The two languages order their words
// differently, and the attention map shows which Chinese word each English word was made from.

#include <heed.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

using namespace heed;

constexpr int64_t kWidth = 32, kChinese = 4, kEnglish = 8;  // longest sentences

struct Language {
  std::vector<std::string> words = {"<end>"};  // number 0 ends a sentence; the decoder reads it first, too
  Tensor encode(const std::string& text, size_t length) {  // [length], filled up with ends
    std::vector<int64_t> sentence;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) {
      auto place = std::ranges::find(words, word);
      if (place == words.end()) place = words.insert(place, word);
      sentence.push_back(place - words.begin());
    }
    sentence.resize(length);
    return from_vector(sentence, {std::ssize(sentence)});
  }
};

struct Translator : Layer<Translator> {
  Translator(int64_t from, int64_t to) : chinese(from, kWidth), english(to, kWidth), output(2 * kWidth, to) {}
  // Chinese [B, S] and the English so far [B, T] -> scores of the next words [B, T, V], weights [B, T, S].
  std::pair<Tensor, Tensor> forward(const Tensor& source, const Tensor& target) const {
    const Tensor h = encoder(chinese(source)).output, s = decoder(english(target)).output;
    const auto [c, a] = F::scaled_dot_product_attention(s, h, h, {.need_weights = true});
    return {output(cat({s, c}, -1)), a};
  }
  void visit(Visitor& v) override {
    v("chinese", chinese), v("english", english);
    v("encoder", encoder), v("decoder", decoder), v("output", output);
  }

  Embedding chinese, english;
  GRU encoder{kWidth, kWidth, {.batch_first = true}}, decoder{kWidth, kWidth, {.batch_first = true}};
  Linear output;
};

// Greedy decoding: Chinese [B, S] -> English [B, kEnglish].
Tensor translate(const Translator& model, const Tensor& source) {
  const NoGrad guard;
  Tensor target = zeros({source.size(0), 1}, int64);
  for (int64_t i = 0; i < kEnglish; ++i)
    target = cat({target, argmax(model(source, target).first[{whole, Slice(i, i + 1)}], -1)}, 1);
  return narrow(target, 1, 1, kEnglish);
}

// Spaces and a text of this width; a Chinese character has 3 bytes, and takes 2 columns of a terminal.
std::string aligned(const std::string& text, size_t width) {
  for (const char byte : text) width -= (byte & 0x80) == 0 ? 1 : (byte & 0x40) == 0 ? 0 : 2;
  return std::string(width, ' ') + text;
}

int main() {
  manual_seed(1);
  const char *who[][2] = {{"我", "I"}, {"他", "he"}, {"我们", "we"}, {"老师", "the teacher"}},
             *what[][2] = {{"米饭", "rice"}, {"面条", "noodles"}, {"蛋糕", "a cake"}, {"水饺", "dumplings"}},
             *does[][2] = {{"吃了", "ate"}, {"买了", "bought"}, {"做了", "made"}},
             *when[][2] = {{"昨天", "yesterday"}, {"昨晚", "last night"}, {"今早", "this morning"}};
  Language chinese, english;
  std::vector<Tensor> sources, targets;
  for (int i = 0; i < 144; ++i) {  // all combinations
    const auto &s = who[i % 4], &o = what[i / 4 % 4], &v = does[i / 16 % 3], &t = when[i / 48];
    sources.push_back(chinese.encode(std::string(s[0]) + " " + t[0] + " " + v[0] + " " + o[0], kChinese));
    targets.push_back(english.encode(std::string(s[1]) + " " + v[1] + " " + o[1] + " " + t[1], kEnglish));
  }
  const Tensor order = randperm(144), learned = order[Slice(0, 114)], unseen = order[Slice(114, 144)];
  const Tensor source = stack(sources)[learned], target = stack(targets)[learned];  // [114, 4], [114, 8]
  const Tensor test = stack(sources)[unseen], expected = stack(targets)[unseen];
  const auto shifted = [](const Tensor& words) { return pad(narrow(words, 1, 0, kEnglish - 1), {1, 0}); };

  Translator model(std::ssize(chinese.words), std::ssize(english.words));
  Adam optimizer(model.parameters(), {.lr = 0.01});
  double right = 0;  // of the unseen sentences
  std::printf("%4s  %7s  %14s\n", "step", "loss", "unseen, right");
  for (int step = 0; step <= 60; ++step) {
    const Tensor loss = F::cross_entropy(model(source, shifted(target)).first, target, {.class_dim = -1});
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 10 != 0) continue;
    right = mean(to(all(translate(model, test) == expected, 1), float64)).item();
    std::printf("%4d  %7.4f  %12.1f %%\n", step, loss.item(), 100 * right);
  }

  const Tensor answers = translate(model, test), weights = model(test, shifted(answers)).second;
  const auto word = [](const Language& of, const Tensor& n) { return of.words[n.item<size_t>()].c_str(); };
  std::printf("\n");
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < kChinese; ++j) std::printf("%s", aligned(word(chinese, test[{i, j}]), 5).c_str());
    std::printf("  ");
    for (int j = 0; j < kEnglish && answers[{i, j}].item() > 0; ++j)
      std::printf(" %s", word(english, answers[{i, j}]));
    std::printf("\n");
  }
  std::printf("\nthe weights of the first translation\n%10s", "");
  for (int j = 0; j < kChinese; ++j) std::printf("%s", aligned(word(chinese, test[{0, j}]), 7).c_str());
  for (int i = 0; i < kEnglish && answers[{0, i}].item() > 0; ++i) {
    std::printf("\n%10s", word(english, answers[{0, i}]));
    for (int j = 0; j < kChinese; ++j) std::printf("%7.2f", weights[{0, i, j}].item());
  }
  std::printf("\n\nIt has%s learned to translate.\n", right > 0.9 ? "" : " not");
  return right > 0.9 ? 0 : 1;
}
