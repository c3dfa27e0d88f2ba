// A tiny language model: a transformer decoder that predicts the next character of a text.
//
//   x = embedding(characters)                              [T, d]
//   x = x + attention(norm(x))                             each position looks at itself and those before it
//   x = x + W2 gelu(W1 norm(x))                            these two steps twice: two layers
//   probabilities of the next character = softmax(norm(x) W^T)
//
// What to look for: at first every character is equally likely, log2 of their number in bits. Soon the model
// knows which characters are frequent, then which follow each other, then words. Its text has the lines of
// the one that it learned from, in an order of its own.

#include <heed.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

using namespace heed;

#ifndef HEED_SOURCE_DIR  // set by CMake; otherwise run the program in heed's folder
#define HEED_SOURCE_DIR "."
#endif

constexpr int64_t kWidth = 48, kHeads = 4, kLayers = 2, kContext = 48;  // characters that the model sees

struct Writer : Layer<Writer> {
  explicit Writer(int64_t characters)
      : embedding(characters, kWidth),
        decoder(kWidth, kHeads, kLayers,
                {.dim_feedforward = 4 * kWidth,
                 .dropout = 0,
                 .activation = Activation::gelu,
                 .norm_first = true,
                 .rotary = true,  // positions: queries and keys are rotated by them
                 .final_norm = true}),
        output(kWidth, characters) {}
  // Characters [B, T] -> scores of the next ones [B, T, V].
  Tensor forward(const Tensor& characters) const {
    return output(decoder(embedding(characters), AttentionOptions{.is_causal = true}));
  }
  void visit(Visitor& v) override {
    v("embedding", embedding);
    v("decoder", decoder);
    v("output", output);
  }

  Embedding embedding;
  TransformerEncoder decoder;  // with a causal mask an encoder is a decoder
  Linear output;
};

// The loss in bits per character of `count` windows of the text, beginning at random places.
Tensor bits(const Writer& model, const Tensor& text, int64_t count) {
  std::vector<Tensor> windows;
  for (int64_t i = 0; i < count; ++i)
    windows.push_back(narrow(text, 0, default_generator().integer(0, text.size(0) - kContext), kContext + 1));
  const Tensor window = stack(windows);  // [B, T + 1]
  const Tensor scores = model(narrow(window, 1, 0, kContext));
  return F::cross_entropy(scores, narrow(window, 1, 1, kContext), {.class_dim = -1}) / std::log(2.0);
}

// Writes a text: each character is drawn with the probability that the model gives it after those before it.
std::string write(const Writer& model, const std::string& characters, size_t length) {
  const NoGrad guard;
  std::string text = "\n";
  std::vector<int64_t> numbers = {static_cast<int64_t>(characters.find('\n'))};
  while (text.size() < length) {
    if (std::ssize(numbers) > kContext) numbers.erase(numbers.begin());
    const Tensor scores = model(from_vector(numbers, {1, std::ssize(numbers)}))[{0, -1}];
    const std::vector<double> probabilities =
        softmax(scores / 0.7, 0).to_vector();  // likely ones become likelier
    double random = default_generator().uniform();
    size_t next = 0;
    while (next + 1 < characters.size() && random > probabilities[next]) random -= probabilities[next++];
    numbers.push_back(static_cast<int64_t>(next));
    text += characters[next];
  }
  return text.substr(1);
}

int main() {
  manual_seed(1);
  std::ifstream file(HEED_SOURCE_DIR "/examples/tour/06_text.txt");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() < 1000) return std::printf("examples/tour/06_text.txt needs 1000 bytes or more.\n"), 1;
  std::string characters;  // each one once: its place is its number
  std::vector<int64_t> numbers;
  for (const char c : text) {
    if (characters.find(c) == characters.npos) characters += c;
    numbers.push_back(static_cast<int64_t>(characters.find(c)));
  }
  const int64_t count = std::ssize(numbers), held_out = count / 10;  // the last tenth is not learned from
  const Tensor all = from_vector(numbers, {count}), learned = narrow(all, 0, 0, count - held_out);
  const Tensor unseen = narrow(all, 0, count - held_out, held_out);

  Writer model(std::ssize(characters));
  Adam optimizer(model.parameters(), {.lr = 3e-3});
  std::printf("%d characters, %d different ones: log2 %d = %.2f bits\n\n", static_cast<int>(count),
              static_cast<int>(characters.size()), static_cast<int>(characters.size()),
              std::log2(static_cast<double>(characters.size())));
  std::printf("%4s  %13s  %12s\n", "step", "bits, learned", "bits, unseen");
  double last = 0;
  for (int step = 0; step <= 600; ++step) {
    const Tensor loss = bits(model, learned, 8);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 100 != 0) continue;
    const NoGrad guard;
    last = bits(model, unseen, 16).item();
    std::printf("%4d  %13.2f  %12.2f\n", step, bits(model, learned, 16).item(), last);
  }
  std::printf("\nIt writes:\n\n%s\n\n", write(model, characters, 300).c_str());
  std::printf("%s\n", last < 2 ? "It has learned from the text." : "It has not learned from the text.");
  return last < 2 ? 0 : 1;
}
