// Attention: softmax(Q K^T / sqrt(d)) V, once with loops and once by the library, and then learned.
//
//   s_ij = q_i . k_j / sqrt(d)              how well query i matches key j
//   a_ij = exp(s_ij) / sum_l exp(s_il)      the weights of query i: positive, with sum 1
//   z_i  = sum_j a_ij v_j                   the weighted mean of the values
//
// In the second part a model learns what to attend to. It sees five pairs of a letter and a number, and is
// asked for the number of one letter.
//
// What to look for: loops and library agree. After training nearly all the weight is on the right pair.

#include <heed.h>

#include <cmath>
#include <cstdio>

using namespace heed;

// One head with loops over plain numbers: q [n, d], k [m, d], v [m, e] -> [n, e].
Tensor attention_by_hand(const Tensor& q, const Tensor& k, const Tensor& v) {
  const int64_t n = q.size(0), m = k.size(0), d = q.size(1), e = v.size(1);
  const std::vector<double> Q = q.to_vector(), K = k.to_vector(), V = v.to_vector();
  std::vector<double> Z(static_cast<size_t>(n * e));
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> a(static_cast<size_t>(m));
    double sum = 0;
    for (int64_t j = 0; j < m; ++j) {
      double s = 0;
      for (int64_t c = 0; c < d; ++c) s += Q[i * d + c] * K[j * d + c];
      a[j] = std::exp(s / std::sqrt(static_cast<double>(d)));
      sum += a[j];
    }
    for (int64_t j = 0; j < m; ++j)
      for (int64_t c = 0; c < e; ++c) Z[i * e + c] += a[j] / sum * V[j * e + c];
  }
  return from_vector(Z, {n, e});
}

constexpr int64_t kLetters = 10, kNumbers = 10, kPairs = 5, kWidth = 8;

struct Lookup : Layer<Lookup> {
  // The weights of the pairs [B, 5] for their letters [B, 5] and the letter that is asked for [B].
  Tensor forward(const Tensor& letters, const Tensor& asked) const {
    const Tensor q = unsqueeze(query(asked), 1), k = key(letters);               // [B, 1, d], [B, 5, d]
    return softmax(matmul(q, transpose(k))[{whole, 0}] / std::sqrt(kWidth), 1);  // [B, 5]
  }
  void visit(Visitor& v) override {
    v("query", query);
    v("key", key);
  }

  Embedding query{kLetters, kWidth}, key{kLetters, kWidth};
};

struct Questions {
  Tensor letters, numbers;       // [B, 5]
  Tensor place, asked, answers;  // [B]: which pair is asked for, its letter and its number

  explicit Questions(int64_t count) {
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < count; ++i) rows.push_back(narrow(randperm(kLetters), 0, 0, kPairs));
    letters = stack(rows);  // no letter twice in a row
    numbers = randint(0, kNumbers, {count, kPairs});
    place = randint(0, kPairs, {count});
    asked = gather(letters, 1, unsqueeze(place, 1))[{whole, 0}];
    answers = gather(numbers, 1, unsqueeze(place, 1))[{whole, 0}];
  }
};

void show(const Lookup& model, const Questions& test) {
  const Tensor weights = model(test.letters, test.asked);
  for (int row = 0; row < 3; ++row) {
    std::printf("  %c = ?", 'A' + test.asked[row].item<int>());
    for (int i = 0; i < kPairs; ++i)
      std::printf("   %c=%d: %4.2f", 'A' + test.letters[{row, i}].item<int>(),
                  test.numbers[{row, i}].item<int>(), weights[{row, i}].item());
    std::printf("\n");
  }
}

int main() {
  manual_seed(1);
  const Tensor q = randn({3, 4}, float64), k = randn({5, 4}, float64), v = randn({5, 2}, float64);
  const Tensor by_hand = attention_by_hand(q, k, v);
  const Tensor by_library = F::scaled_dot_product_attention(q, k, v).output;
  std::printf("query  by hand            by the library\n");
  for (int i = 0; i < 3; ++i)
    std::printf("%5d  %7.4f  %7.4f   %7.4f  %7.4f\n", i + 1, by_hand[{i, 0}].item(), by_hand[{i, 1}].item(),
                by_library[{i, 0}].item(), by_library[{i, 1}].item());
  const bool agree = max(abs(by_hand - by_library)).item() < 1e-12;

  Lookup model;
  Adam optimizer(model.parameters(), {.lr = 0.03});
  const Questions test(500);
  std::printf("\nbefore training, the weight of each pair\n");
  show(model, test);
  std::printf("\n%4s  %6s  %20s\n", "step", "loss", "weight of right pair");
  double right = 0;  // mean weight of the right pair
  for (int step = 0; step <= 150; ++step) {
    const Questions some(64);
    const Tensor weights = unsqueeze(model(some.letters, some.asked), 1);  // [B, 1, 5]
    const Tensor numbers = to(one_hot(some.numbers, kNumbers), float32);   // [B, 5, 10]
    const Tensor probability = matmul(weights, numbers)[{whole, 0}];       // [B, 10]
    const Tensor loss = F::nll_loss(log(probability + 1e-6), some.answers);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 25 != 0) continue;
    const NoGrad guard;
    right = mean(gather(model(test.letters, test.asked), 1, unsqueeze(test.place, 1))).item();
    std::printf("%4d  %6.3f  %20.3f\n", step, loss.item(), right);
  }
  std::printf("\nafter training\n");
  show(model, test);
  const bool learned = agree && right > 0.9;
  std::printf("\n%s\n", !agree    ? "Loops and library do not agree."
                        : learned ? "Loops and library agree, and attention finds the right pair."
                                  : "Attention does not find the right pair.");
  return learned ? 0 : 1;
}
