// A multilayer perceptron that reads handwritten digits: 8 x 8 gray pixels in, one of ten digits out.
//
//   h = relu(x W1^T + b1)        64 pixels to 32 hidden values
//   logits = h W2^T + b2         32 hidden values to a score for each digit
//   loss = -log softmax(logits)[label]
//
// What to look for: the accuracy on digits that the model has not seen rises, too, but stays below the
// accuracy on those that it learns from. The gap is what does not generalize: at the end, nearly all digits
// of the training are right, and one in eleven of the others is wrong.

#include <heed.h>

#include <cstdio>
#include <fstream>

using namespace heed;

#ifndef HEED_SOURCE_DIR  // set by CMake; otherwise run the program in heed's folder
#define HEED_SOURCE_DIR "."
#endif

// Each line of the file: 64 pixels from 0 to 16, row by row, and the digit.
Tensor read_digits() {
  std::ifstream file(HEED_SOURCE_DIR "/examples/tour/digits/digits.csv");
  std::vector<float> numbers;
  for (float number; file >> number; file.ignore()) numbers.push_back(number);
  return from_vector(numbers, {std::ssize(numbers) / 65, 65});
}

double accuracy(const Sequential& model, const Tensor& images, const Tensor& labels) {
  const Evaluation evaluation;
  return mean(to(argmax(model(images), 1) == labels, float64)).item();
}

void draw(const Tensor& image) {
  const char* shades = " .:-=+*#@";
  for (int64_t row = 0; row < 8; ++row) {
    std::printf("  ");
    for (int64_t column = 0; column < 8; ++column) {
      const char shade = shades[image[8 * row + column].item<int>() / 2];
      std::printf("%c%c", shade, shade);
    }
    std::printf("\n");
  }
}

int main() {
  manual_seed(1);
  const Tensor digits = read_digits();
  if (digits.size(0) == 0) return std::printf("examples/tour/digits/digits.csv cannot be read.\n"), 1;
  const Tensor images = narrow(digits, 1, 0, 64) / 16;     // [n, 64], from 0 to 1
  const Tensor labels = to(select(digits, 1, 64), int64);  // [n]
  constexpr int test = 360;                                // the last ones, which are not learned from
  const int train = static_cast<int>(digits.size(0)) - test;
  const Tensor train_images = narrow(images, 0, 0, train), train_labels = narrow(labels, 0, 0, train);
  const Tensor test_images = narrow(images, 0, train, test), test_labels = narrow(labels, 0, train, test);

  Sequential model{Linear(64, 32), ReLU(), Linear(32, 10)};
  Adam optimizer(model.parameters(), {.lr = 0.005});
  Batches batches(train, 32);
  std::printf("%d digits to learn from, %d to test with; %d parameters\n\n", train, test,
              static_cast<int>(model.parameter_count()));
  std::printf("%5s  %7s  %14s  %13s\n", "epoch", "loss", "right, learned", "right, unseen");
  for (int epoch = 1; epoch <= 20; ++epoch) {
    double loss_sum = 0;
    for (const Tensor& batch : batches.epoch()) {  // indices of 32 digits
      const Tensor loss = F::cross_entropy(model(train_images[batch]), train_labels[batch]);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      loss_sum += loss.item();
    }
    if (epoch == 1 || epoch % 4 == 0)
      std::printf(
          "%5d  %7.4f  %12.1f %%  %11.1f %%\n", epoch, loss_sum / static_cast<double>(batches.per_epoch()),
          100 * accuracy(model, train_images, train_labels), 100 * accuracy(model, test_images, test_labels));
  }

  const Evaluation evaluation;
  const Tensor answers = argmax(model(test_images), 1);  // [test]
  const Tensor wrong = to(answers != test_labels, int64);
  const int mistake = argmax(wrong).item<int>();  // the first one
  if (sum(wrong).item() > 0) {
    std::printf("\nThe first mistake: a %d that was read as %d.\n", test_labels[mistake].item<int>(),
                answers[mistake].item<int>());
    draw(16 * test_images[mistake]);
  }
  const bool learned = accuracy(model, test_images, test_labels) > 0.85;
  std::printf("\n%s\n", learned ? "The model reads digits." : "The model does not read digits.");
  return learned ? 0 : 1;
}
