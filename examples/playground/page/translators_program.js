// The C++ program of the two translators: the same models, on twelve sentences.
const translatorsProgram = title => `// translators.cpp: ${title}
#include <heed.h>
#include <heed/text.h>

#include <iostream>
using namespace heed;

// A GRU reads the sentence and another writes. Each word attends to the states of the source, or has only the last.
struct Translator : Layer<Translator> {
  Translator(int64_t from, int64_t to, bool attend)
      : attends(attend), source(from, 32), target(to, 32), reader(32, 64, {.batch_first = true}),
        writer(32, 64, {.batch_first = true}), join(128, 64), output(64, to) {}

  Tensor forward(const PaddedBatch& batch, const Tensor& input, Tensor* weights = nullptr) {
    const auto [h, last] = reader(source(batch.ids), Tensor(), batch.lengths);  // [B, S, H], [1, B, H]
    const auto [s, end] = writer(target(input), last);                         // [B, T, H]
    Tensor context = expand(transpose(last, 0, 1), s.shape());
    if (attends) {
      const AttentionResult result = attention(s, h, Mask::lengths(batch.lengths, h.size(1)));
      context = result.output;
      if (weights) *weights = result.weights;
    }
    return output(tanh(join(cat({s, context}, -1))));
  }
  void visit(Visitor& v) override {
    v("source", source); v("target", target); v("reader", reader); v("writer", writer);
    v("attention", attention); v("join", join); v("output", output);
  }

  bool attends;
  Embedding source, target;
  GRU reader, writer;
  AttentionPooling<AdditiveScore> attention{AdditiveScore(64, 64, 64)};
  Linear join, output;
};

int main() {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"我爱北京", "I love Beijing"}, {"我爱茶", "I love tea"}, {"你爱中国", "You love China"},
      {"你爱茶", "You love tea"}, {"他爱北京", "He loves Beijing"}, {"他爱中国", "He loves China"},
      {"我去中国", "I go to China"}, {"我去北京", "I go to Beijing"}, {"你去中国", "You go to China"},
      {"他去北京", "He goes to Beijing"}, {"我喝茶", "I drink tea"}, {"他喝茶", "He drinks tea"}};
  std::vector<Tokens> chinese, english;
  for (const auto& [from, to] : pairs) {
    chinese.push_back(split_characters(from));
    english.push_back(split_words(to));
  }
  const Vocabulary from(chinese), to(english);
  std::vector<Ids> sources, targets;
  for (const Tokens& tokens : chinese) sources.push_back(from.encode(tokens));
  for (const Tokens& tokens : english) targets.push_back(to.encode(tokens));
  const PaddedBatch batch = pad_batch(sources), test = pad_batch({from.encode(split_characters("我爱中国"))});
  const TeacherForcing forced = teacher_forcing(targets);

  for (const bool attends : {false, true}) {
    manual_seed(1);
    Translator model(from.size(), to.size(), attends);
    Adam adam(model.parameters(), {.lr = 5e-3});
    for (int step = 0; step < 200; ++step) {
      const Tensor loss = sequence_loss(model(batch, forced.input), forced.labels, forced.lengths);
      adam.zero_grad();
      loss.backward();
      adam.step();
      if (step % 50 == 49) std::cout << "step " << step + 1 << ": loss " << loss.item() << '\\n';
    }
    const NoGrad guard;
    Ids words = {Vocabulary::bos};
    Tensor weights;
    while (words.back() != Vocabulary::eos && words.size() < 10) {
      const Tensor logits = model.forward(test, from_vector(words, {1, std::ssize(words)}), &weights);
      words.push_back(argmax(select(logits, 1, -1), -1).item<int64_t>());
    }
    std::cout << (attends ? "attention: " : "one vector: ") << join_words(to.decode(words)) << '\\n';
    if (attends) std::cout << weights << '\\n';
  }
}
`;
