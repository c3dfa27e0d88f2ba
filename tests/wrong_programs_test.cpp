// Typical mistakes of learners, each with its complete error message.

#include <regex>

#include "nn/attention/multi_head.h"
#include "nn/attention/position.h"
#include "nn/files/safetensors.h"
#include "nn/functional.h"
#include "nn/layers/dropout.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/layers/norm.h"
#include "nn/layers/sequential.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/clip.h"
#include "nn/optim/sgd.h"
#include "nn/recurrent/recurrent.h"
#include "tests/support/compile.h"
#include "tests/support/expect.h"

// A program that evaluates one expression.
#define PROGRAM(...) [&] { __VA_ARGS__; }

namespace {

// Layers with mistakes.
struct Net : Layer<Net> {
  Tensor forward(const Tensor& x) const { return b(softmax(a(x), -1)); }
  void visit(Visitor& v) override {
    v("a", a);
    v("b", b);
  }
  Linear a{4, 8}, b{6, 2};
};
struct Forgets : Layer<Forgets> {
  Tensor forward(const Tensor& x) const { return second(first(x)); }
  void visit(Visitor& v) override { v("first", first); }
  Linear first{3, 3}, second{3, 2};
};
struct MakesAnew : Layer<MakesAnew> {
  Tensor forward(const Tensor& x) const { return Linear(3, 2)(first(x)); }
  void visit(Visitor& v) override { v("first", first); }
  Linear first{3, 3};
};

struct Fixture {
  const Tensor a = ones({2, 3}), b = ones({4, 5}), v = ones({3}), x = ones({3}), q = ones({1, 3, 4}),
               undefined;
  const Tensor ids = tensor({0, 1, 2}, int64), w = ones({3}).requires_grad_();

  // Expects this message, followed by the line of the call.
  void expect(const char* mistake, const std::function<void()>& program, const std::string& expected,
              SourceLocation line = SourceLocation::current()) const {
    expect_exactly(mistake, program, expected + "; called at HERE", line);
  }
  // Expects exactly this message, in which HERE stands for the line of the call, within a few lines.
  void expect_exactly(const char* mistake, const std::function<void()>& program, const std::string& expected,
                      SourceLocation line = SourceLocation::current()) const {
    CAPTURE(mistake);
    const std::string message = whole_message(program);
    std::string shown;
    static const std::regex place("(/[^ ]*):(\\d+)");
    std::smatch found;
    auto from = message.cbegin();
    for (; std::regex_search(from, message.cend(), found, place); from = found.suffix().first) {
      CHECK(found[1] == line.file_name());
      const int64_t called = std::stoi(found[2]);
      CHECK((called < kFirstProgram || std::abs(called - static_cast<int64_t>(line.line())) < 8));
      shown += found.prefix().str() + "HERE";
    }
    CHECK(shown + std::string(from, message.cend()) == expected);
  }
  static constexpr int64_t kFirstProgram = __LINE__;  // layers above contain calls
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "wrong programs: shapes") {
  expect_exactly(
      "adds shapes that do not broadcast", PROGRAM(a + b),
      R"(add: a is [2, 3], b is [4, 5]: they do not broadcast; aligned at the right, sizes must be equal or 1, and 2 meets 4; called at HERE
  a  [2, 3]
  b  [4, 5]
      ^  ^)");
  expect_exactly(
      "adds a vector with one element per row", PROGRAM(ones({8, 2, 3}) + ones({8})),
      R"(add: a is [8, 2, 3], b is [8]: they do not broadcast; aligned at the right, sizes must be equal or 1, and 3 meets 8; called at HERE
  a  [8, 2, 3]
  b        [8]
            ^)");
  expect_exactly(
      "multiplies matrices with wrong sizes", PROGRAM(matmul(a, b)),
      R"(matmul: inner sizes differ: a is [2, 3], b is [4, 5]; a's last size must equal b's second-to-last; called at HERE
  a  [2, 3]
  b     [4, 5]
         ^)");
  expect_exactly(
      "forgets to transpose", PROGRAM(matmul(a, a)),
      R"(matmul: inner sizes differ: a is [2, 3], b is [2, 3]; a's last size must equal b's second-to-last (transpose(b)?); called at HERE
  a  [2, 3]
  b     [2, 3]
         ^)");
  expect_exactly(
      "forgets to transpose the first", PROGRAM(matmul(a, ones({2, 5}))),
      R"(matmul: inner sizes differ: a is [2, 3], b is [2, 5]; a's last size must equal b's second-to-last (transpose(a)?); called at HERE
  a  [2, 3]
  b     [2, 5]
         ^)");
  expect("uses matmul with a number", PROGRAM(matmul(a, tensor(2))),
         "matmul: a is [2, 3], b is []; both need a dimension to sum over, a * b multiplies by a number");
  expect("reshapes to another number of elements", PROGRAM(reshape(a, {4, 2})),
         "reshape: x is [2, 3] with 6 elements, and [4, 2] has 8; the number must stay the same");
  expect("leaves two sizes open", PROGRAM(reshape(a, {-1, -1})),
         "reshape: shape [-1, -1] leaves more than one size open; only one may be -1");
  expect("concatenates different sizes", PROGRAM(cat({a, b}, 0)),
         "cat: shapes [2, 3] and [4, 5] differ outside of dimension 0");
  expect("concatenates nothing", PROGRAM(cat({}, 0)), "cat: there are no tensors to join");
  expect("stacks different shapes", PROGRAM(stack({a, v}, 0)), "stack: shapes [2, 3] and [3] differ");
  expect("writes a ragged literal", PROGRAM(tensor({{1, 2}, {3}})),
         "tensor: the nested values are ragged: a row at depth 1 does not fit the shape [2, 2] of the first "
         "rows");
  expect("gives too few values", PROGRAM(from_vector<float>({1, 2, 3}, {2, 2})),
         "from_vector: 3 values for shape [2, 2] of 4 elements");
  expect("expands a size other than 1", PROGRAM(expand(a, {3, 3})),
         "expand: x is [2, 3] and the wanted shape [3, 3]; aligned at the right, only sizes of 1 can grow");
  expect("indexes past the end", PROGRAM(a[5]),
         "index: position 5 is out of range for dimension 0 of [2, 3]");
  expect("indexes with too many positions", PROGRAM(a[{0, 0, 0}]),
         "index: the items stand for 3 dimensions, and x is [2, 3]");
  expect("narrows beyond the end", PROGRAM(narrow(a, 1, 2, 4)),
         "narrow: start 2 and length 4 do not lie in dimension 1 of x [2, 3]");
  expect("names the same dimension twice", PROGRAM(permute(a, {0, 0})),
         "permute: dims [0, 0] name the same dimension twice");
  expect("contracts different sizes", PROGRAM(einsum("ij,jk->ik", {a, b})),
         "einsum: \"ij,jk->ik\": 'j' is 3 in [2, 3] and 4 in [4, 5]");
  expect("uses a tensor before it has a value", PROGRAM(undefined + a),
         "add: a tensor that is needed here is undefined: default-constructed, moved from, or a plain number "
         "was given");
}

TEST_CASE_FIXTURE(Fixture, "wrong programs: dimensions") {
  expect("sums over a missing dimension", PROGRAM(sum(a, 2)),
         "sum: dim 2 is out of range for a tensor of rank 2: use -2 to 1");
  expect("counts dimensions from 1", PROGRAM(softmax(v, 1)),
         "softmax: dim 1 is out of range for a tensor of rank 1: use -1 to 0");
  expect("counts too far from the end", PROGRAM(mean(a, -3)),
         "mean: dim -3 is out of range for a tensor of rank 2: use -2 to 1");
  expect("transposes a missing dimension", PROGRAM(transpose(a, 0, 2)),
         "transpose: dim 2 is out of range for a tensor of rank 2: use -2 to 1");
  expect("reads the size of a missing dimension", PROGRAM(a.size(7)),
         "size: dim 7 is out of range for a tensor of rank 2: use -2 to 1");
}

TEST_CASE_FIXTURE(Fixture, "wrong programs: dtypes") {
  expect("mixes float32 and float64", PROGRAM(a + to(a, float64)),
         "add: a is float32 [2, 3], b is float64 [2, 3]; operands must have one dtype, convert one with "
         "to(x, float64)");
  expect("multiplies integers as matrices", PROGRAM(matmul(ids, ids)),
         "matmul: x is int64 [3]; this operation is for float32 and float64, convert with to(x, float32)");
  expect("takes the softmax of integers", PROGRAM(softmax(ids, 0)),
         "softmax: x is int64 [3]; this operation is for float32 and float64, convert with to(x, float32)");
  expect("takes the mean of integers", PROGRAM(mean(ids)),
         "mean: x is int64 [3]; this operation is for float32 and float64, convert with to(x, float32)");
  expect("requires a gradient for integers", PROGRAM(ids.requires_grad_()),
         "requires_grad_: x is int64 [3]; only floating tensors have gradients, convert with to(x, float32)");
  expect("reads float32 as double", PROGRAM(a.data<double>()),
         "data: the elements are float32, not float64; convert with to(x, float64)");
  expect("reads a matrix as a number", PROGRAM(a.item()),
         "item: x is [2, 3] with 6 elements, not one; index it, or sum(x)");
  expect("passes float64 to a float32 layer", PROGRAM(Linear(3, 2)(to(a, float64))),
         "linear: x is float64 [2, 3], the weight float32 [2, 3]; convert x with to(x, float32), or the "
         "module with its to(float64)");
  expect("embeds floats", PROGRAM(Embedding(3, 2)(v)),
         "embedding: positions must be int64, and they are float32 [3]; convert with to(x, int64)");
  expect("gathers with float positions", PROGRAM(gather(a, 0, a)),
         "gather: positions must be int64, and they are float32 [2, 3]; convert with to(x, int64)");
  expect("selects with numbers", PROGRAM(where(a, a, a)),
         "where: the condition is float32 [2, 3]; it must be bool, such as x > 0");
}

TEST_CASE_FIXTURE(Fixture, "wrong programs: masks and attention") {
  expect("fills with a mask of numbers", PROGRAM(masked_fill(a, a, 0)),
         "masked_fill: the condition is float32 [2, 3]; it must be bool, such as x > 0");
  expect("passes an additive mask as a bool mask",
         PROGRAM(MultiheadAttention(4, 2)(q, q, q, AttentionOptions{.mask = full({3, 3}, -INFINITY)})),
         "scaled_dot_product_attention: the mask is float32 [3, 3]; it must be bool, true = may attend "
         "(numbers to add to the scores are a bias)");
  expect("passes a mask of the wrong shape",
         PROGRAM(MultiheadAttention(4, 2)(q, q, q, AttentionOptions{.mask = ones({2, 2}, boolean)})),
         "scaled_dot_product_attention: the mask is [2, 2] and must broadcast to the scores, [..., Tq, Tk] = "
         "[1, 2, 3, 3]: aligned at the right each of its sizes is the same or 1");
  expect("attends with different widths",
         PROGRAM(F::scaled_dot_product_attention(ones({2, 3}), ones({2, 4}), ones({2, 3}))),
         "scaled_dot_product_attention: query is [2, 3], key is [2, 4], value is [2, 3]; they must be [..., "
         "Tq, D], [..., Tk, D], [..., Tk, Dv]");
  expect("passes values for queries instead of keys",
         PROGRAM(MultiheadAttention(4, 2)(q, ones({1, 2, 4}), q)),
         "MultiheadAttention: the query is [1, 3, 4], the key [1, 2, 4], the value [1, 3, 4]; they must be "
         "[B, Tq, 4], [B, Tk, 4] and [B, Tk, 4], or all without B");
  expect("passes a sequence of the wrong width", PROGRAM(MultiheadAttention(4, 2)(ones({1, 3, 5}))),
         "MultiheadAttention: the query is [1, 3, 5]; it must be [B, Tq, 4], or [Tq, 4] without a batch");
  expect_exactly(
      "divides the width by a number of heads that does not divide it", PROGRAM(MultiheadAttention(5, 2)),
      "MultiheadAttention: embed_dim 5 does not divide into 2 heads of one width; an embed_dim of 6 does");
  expect("passes more positions than max_length", PROGRAM(LearnedPosition(3, 4)(ones({1, 5, 4}))),
         "LearnedPosition: x [1, 5, 4] has positions up to 0 + 5, and max_length is 3");
  expect_exactly("uses rotary positions with an odd width", PROGRAM(RotaryPosition(5)),
                 "RotaryPosition: dim is 5; it must be even and positive: pairs are rotated");
}

TEST_CASE_FIXTURE(Fixture, "wrong programs: losses") {
  expect("has a label above the number of classes", PROGRAM(F::cross_entropy(a, tensor({0, 3}, int64))),
         "cross_entropy: the target at position 1 is 3, and the classes are 0 to 2; targets that do not "
         "count are -100 (ignore_index)");
  expect("has a label of -1", PROGRAM(F::cross_entropy(a, tensor({0, -1}, int64))),
         "cross_entropy: the target at position 1 is -1, and the classes are 0 to 2; targets that do not "
         "count are -100 (ignore_index)");
  expect("embeds an index beyond the vocabulary", PROGRAM(Embedding(3, 2)(tensor({0, 3}, int64))),
         "embedding: position 3 is out of range for dimension 0 of x [3, 2]: use 0 to 2");
  expect("has float labels", PROGRAM(F::cross_entropy(a, tensor({0, 1}))),
         "cross_entropy: input is [2, 3], target is float32 [2]; numbers of classes are int64, convert with "
         "to(target, int64); probabilities of classes have the input's shape");
  expect("has too many labels", PROGRAM(F::cross_entropy(a, ids)),
         "cross_entropy: input is [2, 3], target is [3]; with classes in dimension 1 the target must be [2]; "
         "class_dim = -1 says that the last has them");
  expect_exactly(
      "compares a column with a row", PROGRAM(F::mse_loss(ones({4, 1}), ones({4}))),
      R"(mse_loss: input is [4, 1], target is [4]; they must be equal, a loss broadcasts nothing (view or squeeze one of them); called at HERE
  input   [4, 1]
  target     [4]
           ^  ^)");
  expect("compares floats with integers", PROGRAM(F::mse_loss(v, ids)),
         "mse_loss: input is float32, target is int64; convert the target with to(target, float32)");
  expect("passes scores instead of probabilities", PROGRAM(F::binary_cross_entropy(2 * v, v)),
         "binary_cross_entropy: the input must be probabilities, in [0, 1]; for logits take "
         "binary_cross_entropy_with_logits");
  expect("has too few classes", PROGRAM(one_hot(ids, 2)),
         "one_hot: the index reaches from 0 to 2 for num_classes = 2; classes count from 0");
}

TEST_CASE_FIXTURE(Fixture, "wrong programs: gradients") {
  expect("calls backward() on a vector", PROGRAM((w * 2).backward()),
         "backward: a tensor of shape [3] is not one number; sum it to a loss first, or give the incoming "
         "gradient");
  expect(
      "calls backward() twice",
      [&] {
        const Tensor y = sum(w * w);
        y.backward();
        y.backward();
      },
      "backward: the graph of sum was used before and freed; give retain_graph = true the first time, or "
      "compute the result again");
  expect(
      "calls backward() without parameters", PROGRAM(sum(a).backward()),
      "backward: a tensor of shape [] does not depend on anything that requires a gradient; call "
      "requires_grad_() on a leaf before computing it, with no NoGrad around it and no detach() on the way");
  expect(
      "calls backward() on a result computed under NoGrad",
      [&] {
        const NoGrad guard;
        sum(w * w).backward();
      },
      "backward: a tensor of shape [] does not depend on anything that requires a gradient; call "
      "requires_grad_() on a leaf before computing it, with no NoGrad around it and no detach() on the way");
  expect(
      "writes into a parameter", PROGRAM(add_(w, 1)),
      "add_: writes in place run only under NoGrad; put `NoGrad guard;` before it, or compute a new tensor");
  expect_exactly(
      "overwrites a saved tensor",
      [&] {
        const Tensor y = sum(w * x);
        unrecorded([&] { add_(x, 1); });
        y.backward();
      },
      "mul: a tensor of shape [3], saved at HERE for the gradient, was overwritten by add_ at HERE; write "
      "into a clone, or after backward()");
  expect("requests the gradient of a constant", PROGRAM(grad({sum(w)}, {x})),
         "grad: an input of shape [3] does not require a gradient; call requires_grad_() on it before "
         "computing the output");
  expect("requests the gradient of an unused tensor", PROGRAM(grad({sum(w)}, {ones({3}).requires_grad_()})),
         "grad: input 0 of shape [3] was not used for the outputs; leave it out, or set allow_unused");
}

TEST_CASE_FIXTURE(Fixture, "wrong programs: modules") {
  expect_exactly(
      "has layers with mismatched sizes", PROGRAM(Net()(ones({5, 4}))),
      R"(in b: linear: x is [5, 8], the weight [2, 6] for 6 features in and 2 out; x's last size must be 6; called at HERE
  x           [5, 8]
  the weight  [2, 6]
                  ^)");
  expect_exactly(
      "has parts with mismatched sizes",
      PROGRAM(Sequential{Linear(4, 8), Dropout(), Linear(6, 2)}(ones({5, 4}))),
      R"(in 2: linear: x is [5, 8], the weight [2, 6] for 6 features in and 2 out; x's last size must be 6; called at HERE
  x           [5, 8]
  the weight  [2, 6]
                  ^)");
  expect_exactly(
      "passes another number of features", PROGRAM(Linear(4, 2)(a)),
      R"(linear: x is [2, 3], the weight [2, 4] for 4 features in and 2 out; x's last size must be 4; called at HERE
  x           [2, 3]
  the weight  [2, 4]
                  ^)");
  expect(
      "passes a vector to a recurrent network",
      [&] {
        const GRU gru(3, 2);
        gru(v);
      },
      "GRU: x is [3]; it must be [T, B, 3], or [T, 3] without a batch");
  expect("passes a state with another batch size", PROGRAM(GRU(3, 2)(ones({5, 2, 3}), ones({1, 3, 2}))),
         "GRU: h_0 is [1, 3, 2]; for this input it must be [1, 2, 2]");
  expect("normalizes over another size", PROGRAM(LayerNorm(4)(a)),
         "layer_norm: normalized_shape is [4] and x [2, 3]; x must end in normalized_shape");
  expect_exactly("has a dropout probability above 1", PROGRAM(Dropout(1.5)),
                 "Dropout: p is 1.5; a probability lies in [0, 1]");
  expect_exactly("loads the weights of another size",
                 PROGRAM(Linear(3, 2).load_state_dict(Linear(4, 2).state_dict())),
                 R"(load_state_dict: 1 name does not fit Linear; nothing was changed; called at HERE
         name    model   given
  shape  weight  [2, 3]  [2, 4]
were they saved by another model, or by one with other options?)");
  expect_exactly("loads the weights of another model",
                 PROGRAM(Net().load_state_dict(Sequential{Linear(4, 8)}.state_dict())),
                 R"(load_state_dict: 6 names do not fit Net; nothing was changed; called at HERE
              name      model   given
  missing     a.weight  [8, 4]  -
  missing     a.bias    [8]     -
  missing     b.weight  [2, 6]  -
  missing     b.bias    [2]     -
  unexpected  0.bias    -       [8]
  unexpected  0.weight  -       [8, 4]
were they saved by another model, or by one with other options?)");
  expect_exactly("loads a missing file", PROGRAM(load_safetensors("nowhere.safetensors")),
                 "load_safetensors: nowhere.safetensors: cannot be opened: No such file or directory");
}

TEST_CASE_FIXTURE(Fixture, "wrong programs: optimizers") {
  expect("optimizes no parameters", PROGRAM(SGD(Dropout().parameters())),
         "SGD: a group without parameters; is visit() of the model missing a line?");
  expect("passes a parameter twice", PROGRAM(SGD({w, w})),
         "SGD: parameter 1 of shape [3] appears twice; give each once");
  expect("has a negative learning rate", PROGRAM(Adam({w}, {.lr = -1})),
         "Adam: lr -1, eps 1e-08, weight_decay 0; none may be negative");
  expect("optimizes a computed tensor", PROGRAM(SGD({w * 2})),
         "SGD: parameter 0 is not a floating leaf; optimize the leaves that a result was computed from");
  expect("clips to a negative norm", PROGRAM(clip_grad_norm_({w}, -1)),
         "clip_grad_norm_: max_norm -1, norm_type 2; the first must be at least 0, the second above 0");
}

TEST_CASE_FIXTURE(Fixture, "wrong programs: mistakes that only check_training finds") {
  // Trains `used` with an optimizer of the parameters of `model`.
  const auto found = [&](const char* mistake, const auto& model, const auto& used,
                         const std::string& expected) {
    CAPTURE(mistake);
    Adam adam(model.parameters());
    const Tensor loss = mean(used(a));
    loss.backward();
    CHECK(check_training(used, adam, loss) == expected);
  };
  const std::string not_named =
      "the loss depends on what the model does not name: a leaf of shape [2, 3] is not in parameters(), a "
      "leaf of shape [2] is not in parameters(); is a line missing in visit, or does an input require a "
      "gradient?";
  const Forgets forgets;
  found("has a member that visit does not name", forgets, forgets, not_named);
  const MakesAnew makes_anew;
  found("creates a layer in forward", makes_anew, makes_anew, not_named);
  const Sequential model{Linear(3, 2)}, other{Linear(3, 2)};
  found("replaces the model after creating the optimizer", model, other,
        R"(0.weight [2, 3] is not held by Adam, which will not move it
0.bias [2] is not held by Adam, which will not move it
Adam holds a parameter of shape [2, 3], number 0, that is none of the model's: was the model copied or replaced after it was made?
Adam holds a parameter of shape [2], number 1, that is none of the model's: was the model copied or replaced after it was made?)");
}

TEST_CASE("wrong programs: compile errors, one sentence each") {
  const Texts errors = compile_errors(R"(
#include "nn/attention/pooling.h"
using namespace heed;
struct DistanceOfOne {
  Tensor operator()(const Tensor& q) const { return q; }
};
struct WithoutMask {
  Tensor operator()(const Tensor& scores) const { return scores; }
};
using WrongScore = AttentionPooling<DistanceOfOne>;
using WrongNormaliser = AttentionPooling<DotScore, WithoutMask>;
const size_t sizes[] = {sizeof(WrongScore), sizeof(WrongNormaliser)};
)");
  REQUIRE(errors.size() == 2);
  CHECK(contains(errors[0],
                 "AttentionPooling: a score is called as Tensor operator()(const Tensor& q, const "
                 "Tensor& k) const"));
  CHECK(contains(errors[1],
                 "AttentionPooling: a normaliser is called as Tensor operator()(const Tensor& "
                 "scores, const Mask&) const"));
}
