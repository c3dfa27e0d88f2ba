// The same seed gives the same bits on any number of threads: Note [Same bits] in tensor/parallel.h.
// The sizes are large enough that every parallel loop has several blocks.

#include <sstream>

#include "autograd/ops/activation.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/recurrent.h"
#include "autograd/ops/scan.h"
#include "nn/attention/scaled_dot_product.h"
#include "nn/layers/dropout.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/clip.h"
#include "tensor/kernels/product.h"
#include "tests/support/references.h"

namespace {

// A multi-layer perceptron over features and a bag of words.
class Net : public Layer<Net> {
 public:
  Tensor forward(const Tensor& x, const Tensor& ids) const {
    const Tensor bag = mean(words(ids), 1);                         // [B, T] -> [B, E]
    Tensor h = relu(first(cat({x, bag}, 1)));                       // [B, 512]
    h = dropout(gelu(norm(second(h))));                             // [B, 512]
    const Tensor gate = softmax(gates(h), -1);                      // [B, 512]
    const Tensor q = reshape(h * gate, {h.size(0) / 8, 8, 8, 64});  // [B / 8, 8, 8, 64]
    h = h + reshape(F::scaled_dot_product_attention(q, q, q).output, h.shape());
    return last(h);  // [B, 10]
  }
  void visit(Visitor& v) override {
    v("words", words);
    v("first", first);
    v("second", second);
    v("gates", gates);
    v("norm", norm);
    v("dropout", dropout);
    v("last", last);
  }

  Embedding words{5000, 128};
  Linear first{784 + 128, 512};
  Linear second{512, 512};
  Linear gates{512, 512};
  LayerNorm norm{512};
  Dropout dropout{0.1};
  Linear last{512, 10};
};

// Losses, and weights after some steps of training.
Tensors train() {
  manual_seed(11);
  Net net;
  Adam adam(net.parameters(), {.lr = 1e-3});
  Tensors found;
  for (int step = 0; step < 3; ++step) {
    const Tensor x = randn({512, 784});
    const Tensor ids = randint(0, 5000, {512, 24}), classes = randint(0, 10, {512});
    adam.zero_grad();
    const Tensor loss = F::cross_entropy(net(x, ids), classes, {.label_smoothing = 0.1});
    loss.backward();
    clip_grad_norm_(net.parameters(), 1);
    adam.step();
    found.push_back(loss);
  }
  for (const Tensor& p : net.parameters()) found.push_back(p);
  return found;
}

// Operations that train() does not use, on three inputs of 600 x 1000 elements: any numbers, positive
// numbers, and positions below 600.
// clang-format off
struct Case {
  const char* name;
  uint64_t bits;  // checksum of the results
  Call call;
};
const std::vector<Case> operations = {
    {"sum", 0x8ccf97aacd116f15, [](auto& in) { return sum(in[0]); }},
    {"sum of columns", 0x80a6ff41e50c856a, [](auto& in) { return sum(in[0] * in[1], 0); }},
    {"sum of transposed", 0xb255a4edd486150b, [](auto& in) { return sum(transpose(in[0]) * transpose(in[1])); }},
    {"mean of rows", 0xcfac0bbac969c8ef, [](auto& in) { return mean(exp(in[0]), -1); }},
    {"var", 0x1792dd00413c07b1, [](auto& in) { return var(in[0]); }},
    {"std of columns", 0xa4d46d3b958442ba, [](auto& in) { return heed::stddev(in[0], 0); }},
    {"amax", 0xf8c1546d326af421, [](auto& in) { return amax(in[0], 0); }},
    {"logsumexp of columns", 0xc89f40d00656869a, [](auto& in) { return logsumexp(in[0], 0); }},
    {"logsumexp of all", 0xfe7845d4faf28267, [](auto& in) { return logsumexp(in[0], {0, 1}); }},
    {"prod", 0xbfb5a9cd96e2fa22, [](auto& in) { return prod(1 + 0.01 * in[0], 0); }},
    {"cumsum", 0x9501a4a5f3638252, [](auto& in) { return cumsum(in[0], 0) + cumsum(in[1], 1); }},
    {"softmax of columns", 0x4280a8b9c332c34c, [](auto& in) { return softmax(in[0], 0); }},
    {"log_softmax of columns", 0x493ec4613fc9b78f, [](auto& in) { return log_softmax(in[0], 0); }},
    {"rms_norm", 0x1ed0a5c2fcb2c44d, [](auto& in) { return rms_norm(in[0], {1000}, in[1][0]); }},
    {"broadcast gradients", 0x09436ff170b44048, [](auto& in) { return in[0][0] * in[1] + unsqueeze(in[0][{whole, 0}], 1); }},
    {"row times column", 0x108842397abef19b, [](auto& in) { return outer(in[0][0], in[1][1]); }},
    {"matmul", 0x62c57dcf49319ca6, [](auto& in) { return matmul(transpose(in[0]), in[1]); }},
    {"tall matmul", 0xc545033e01b80c63, [](auto& in) { return matmul(reshape(in[0], {-1, 20}), reshape(in[1], {20, -1})[{whole, Slice(0, 30)}]); }},
    {"bmm", 0x635919e05f4769ec, [](auto& in) { return bmm(reshape(in[0], {60, 100, 100}), reshape(in[1], {60, 100, 100})); }},
    {"mv", 0xc1a02c38d976d897, [](auto& in) { return mv(in[0], in[1][0]); }},
    {"dot", 0xec4ed1d0c4334a0e, [](auto& in) { return dot(flatten(in[0]), flatten(in[1])); }},
    {"einsum", 0x27591d40d86137cd, [](auto& in) { return einsum("bij,bkj->ik", {reshape(in[0], {60, 100, 100}), reshape(in[1], {60, 100, 100})}); }},
    {"gather", 0x168022f657736f30, [](auto& in) { return gather(in[0], 0, in[2]); }},
    {"scatter_add", 0x4addfeb28b74eec9, [](auto& in) { return scatter_add(in[0], 0, in[2], in[1]); }},
    {"embedding", 0xe69da6eac77d339e, [](auto& in) { return embedding(in[0], in[2][0]); }},
    {"index", 0x11cb26abcd60d67a, [](auto& in) { return in[0][in[2][{whole, 0}]]; }},
    {"sort", 0x7743debdcdcedb2a, [](auto& in) { return sort(in[0], 0).values * in[1]; }},
    {"cat", 0x66212cb84f1d600b, [](auto& in) { return cat({in[0], flip(in[1], {0})}, 1); }},
    {"elementwise", 0xb2f6bb5202e90376, [](auto& in) { return pow(in[1], in[0]) * tanh(in[0]) + where(in[0] > 0, erf(in[0]), log(in[1])); }},
    {"dropout", 0x170531c7b7900a24, [](auto& in) { return F::dropout(in[0], 0.3); }},
    {"kl_div", 0xadc4b874a16cab95, [](auto& in) { return F::kl_div(in[0], in[1]); }},
    {"recurrence", 0xb32d2c1d6cd49413, [](auto& in) {
       const Tensor x = reshape(in[0], {10, 100, 600}), weight = 0.05 * reshape(in[1], {-1, 200});
       return recurrence(Recurrence::gru, x, {}, narrow(weight, 0, 0, 600));
     }},
    {"attention", 0x3bfb6d41b54c9b7f, [](auto& in) {
       const Tensor q = reshape(in[0], {6, 10, 100, 100}), k = reshape(in[1], {6, 10, 100, 100});
       return F::scaled_dot_product_attention(q, k, k, {.is_causal = true}).output;
     }},
    {"attention with one head", 0x7b6855bab5d21c9b, [](auto& in) {
       const Tensor q = in[0][{whole, Slice(0, 48)}], k = in[1][{whole, Slice(0, 48)}];
       return F::scaled_dot_product_attention(q, k, in[0], {.mask = in[2][{whole, Slice(0, 600)}] < 400}).output;
     }},
};
// clang-format on

Tensors differentiate(const Call& f) {
  manual_seed(5);
  const Tensor a = randn({600, 1000}), b = 0.1 + rand({600, 1000});
  Tensors found = value_and_gradients(f, {a, b, randint(0, 600, {600, 1000})});
  std::erase_if(found, [](const Tensor& x) { return !x.defined(); });  // unused inputs
  return found;
}

// FNV-1a of the bytes.
uint64_t checksum(const Tensors& tensors) {
  uint64_t hash = 14695981039346656037u;
  for (const Tensor& x : tensors)
    for (const char byte : bytes_of(x)) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  return hash;
}

// g++ fuses other multiplications and additions than clang.
#if defined(__clang__)
constexpr bool kPromised = false;
#else
constexpr bool kPromised = true;
#endif

// The checksum must be the one given, on each processor that has fused multiply-adds.
void check_bits(const std::string& what, uint64_t wanted, const Tensors& found) {
  if (!kPromised || !kernel::gemm_fuses()) return;
  const uint64_t bits = checksum(found);
  CHECK_MESSAGE(bits == wanted, what, " has the bits 0x", (std::ostringstream() << std::hex << bits).str());
}

// The results must have the same bits on any number of threads.
void check_same_bits(const std::string& what, const std::function<Tensors()>& f) {
  CAPTURE(what);
  CHECK(same_on_threads([&] {
    const Tensors found = f();
    for (const Tensor& x : found) CHECK(all(isfinite(x)).item<bool>());
    return found;
  }));
}

}  // namespace

TEST_CASE("training and every parallel loop are reproducible bit for bit" * doctest::test_suite("threads")) {
  check_same_bits("training", train);
  for (const Case& one : operations) check_same_bits(one.name, [&] { return differentiate(one.call); });
}

// If a change to a kernel is to move them, the messages have the new ones.
TEST_CASE("bits of a training: as on every other processor") {
  check_bits("training", 0x744a99bf29e9f06a, train());
}

TEST_CASE("bits of operations and their gradients: as on every other processor") {
  for (const Case& one : operations) check_bits(one.name, one.bits, differentiate(one.call));
}
