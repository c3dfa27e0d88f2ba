// A convolutional network that reads handwritten digits: 8 x 8 gray pixels in, one of ten digits out.
//
//   y[o, a, b] = sum_cij weight[o, c, i, j] x[c, a + i, b + j]     channels c, i and j from 0 to 2
//
// The same small filters are applied at every position, so what they learn at one position holds at all of
// them. Max pooling keeps the largest value of each 2 x 2 square: the digit may be shifted a little.
//
// What to look for: the digits are those of 02_mlp, and so is the part that is not learned from. There, one
// in eleven of the unseen digits is read wrongly. Here it is about one in a hundred.

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

// A convolution with `out` filters, the same size for each channel of a batch, and max(y, 0).
struct Block : Layer<Block> {
  Block(int in, int out) : conv(in, out, 3, {.padding = 1, .bias = false}), norm(out) {}
  Tensor forward(const Tensor& x) const { return relu(norm(conv(x))); }  // [B, in, H, W] -> [B, out, H, W]
  void visit(Visitor& v) override {
    v("conv", conv);
    v("norm", norm);
  }

  Conv2d conv;
  BatchNorm2d norm;
};

// The images [B, 1, 8, 8], moved by up to one pixel in each direction.
Tensor shifted(const Tensor& images) {
  const Tensor larger = pad(images, {1, 1, 1, 1});
  const Tensor by = randint(0, 3, {2});
  return narrow(narrow(larger, 2, by[0].item<int>(), 8), 3, by[1].item<int>(), 8);
}

double accuracy(const Sequential& model, const Tensor& images, const Tensor& labels) {
  const Evaluation evaluation;
  return mean(to(argmax(model(images), 1) == labels, float64)).item();
}

int main() {
  manual_seed(2);
  set_num_threads(1);
  const Tensor digits = read_digits();
  if (digits.size(0) == 0) return std::printf("examples/tour/digits/digits.csv cannot be read.\n"), 1;
  const Tensor images = reshape(narrow(digits, 1, 0, 64) / 16, {-1, 1, 8, 8});  // from 0 to 1
  const Tensor labels = to(select(digits, 1, 64), int64);                       // [n]
  constexpr int test = 360;  // the last ones, which are not learned from
  const int train = static_cast<int>(digits.size(0)) - test;
  const Tensor train_images = narrow(images, 0, 0, train), train_labels = narrow(labels, 0, 0, train);
  const Tensor test_images = narrow(images, 0, train, test), test_labels = narrow(labels, 0, train, test);

  Sequential model{Block(1, 32),  Block(32, 32), MaxPool2d(2),  // [B, 32, 4, 4]
                   Block(32, 64), MaxPool2d(2),                 // [B, 64, 2, 2]
                   Flatten(),     Dropout(0.3),  Linear(4 * 64, 10)};
  constexpr int epochs = 20;
  Batches batches(train, 32);
  AdamW optimizer(model.parameters(), {.lr = 0.005, .weight_decay = 0.05});
  OneCycleLR schedule(optimizer, 0.005, {.total_steps = epochs * batches.per_epoch()});
  std::printf("%d digits to learn from, %d to test with; %d parameters\n\n", train, test,
              static_cast<int>(model.parameter_count()));
  std::printf("%5s  %7s  %14s  %13s\n", "epoch", "loss", "right, learned", "right, unseen");
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double loss_sum = 0;
    for (const Tensor& batch : batches.epoch()) {  // indices of 32 digits
      const Tensor loss = F::cross_entropy(model(shifted(train_images[batch])), train_labels[batch],
                                           {.label_smoothing = 0.1});
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      schedule.step();
      loss_sum += loss.item();
    }
    if (epoch == 1 || epoch % 5 == 0)
      std::printf(
          "%5d  %7.4f  %12.1f %%  %11.1f %%\n", epoch, loss_sum / static_cast<double>(batches.per_epoch()),
          100 * accuracy(model, train_images, train_labels), 100 * accuracy(model, test_images, test_labels));
  }

  const double right = accuracy(model, test_images, test_labels);
  std::printf("\n%d of %d unseen digits are read wrongly.\n",
              static_cast<int>(std::lround((1 - right) * test)), test);
  const bool learned = right >= 0.985;
  std::printf("%s\n", learned ? "The model reads digits." : "The model does not read digits.");
  return learned ? 0 : 1;
}
