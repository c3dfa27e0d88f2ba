#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "autograd/operand.h"
#include "tensor/create.h"
#include "tensor/tensor.h"

/// Every differentiable operation: names and meanings are PyTorch's. `x`, `a`, `b` broadcast where there are
/// two of them; a C++ number may stand for any of them and takes the dtype of the other.
namespace heed {

/// Dimensions to work over: 1, -1, {0, 2}; none at all means all of them.
struct Dims : Shape {
  Dims() = default;
  template <std::integral Number>
  Dims(Number dim) : Shape{static_cast<int64_t>(dim)} {}
  Dims(std::initializer_list<int64_t> dims) : Shape(dims) {}
  Dims(const Shape& dims) : Shape(dims) {}
};

/// What max, min, sort and topk along a dimension return: the values, and where they stood (int64).
struct ValuesIndices {
  Tensor values;
  Tensor indices;
};

// ---- elementwise, one operand: shape in = shape out

Tensor abs(Operand x);
Tensor exp(Operand x);
Tensor expm1(Operand x);
Tensor log(Operand x);
Tensor log1p(Operand x);
Tensor sqrt(Operand x);
Tensor rsqrt(Operand x);       // 1 / sqrt(x)
Tensor reciprocal(Operand x);  // 1 / x
Tensor square(Operand x);
Tensor neg(Operand x);
Tensor sin(Operand x);
Tensor cos(Operand x);
Tensor tanh(Operand x);
Tensor sigmoid(Operand x);  // 1 / (1 + exp(-x))
Tensor erf(Operand x);
Tensor sign(Operand x);
Tensor floor(Operand x);
Tensor relu(Operand x);
Tensor silu(Operand x);  // x sigmoid(x)
Tensor leaky_relu(Operand x, double negative_slope = 0.01);
Tensor elu(Operand x, double alpha = 1);  // x > 0 ? x : alpha (exp(x) - 1)
Tensor softplus(Operand x, double beta = 1,
                double threshold = 20);                       // log(1 + exp(beta x)) / beta, x above it
Tensor clamp(Operand x, Operand min = {}, Operand max = {});  // bounds are numbers, tensors, or left out
enum class Gelu { none, tanh };
Tensor gelu(Operand x, Gelu approximate = Gelu::none);  // x Phi(x), or its tanh approximation

// ---- elementwise, two or three operands

Tensor add(Operand a, Operand b, double alpha = 1);  // a + alpha b
Tensor sub(Operand a, Operand b, double alpha = 1);  // a - alpha b
Tensor mul(Operand a, Operand b);
enum class Rounding { none, floor, trunc };
Tensor div(Operand a, Operand b, Rounding rounding = Rounding::none);
Tensor pow(Operand a, Operand b);
Tensor maximum(Operand a, Operand b);
Tensor minimum(Operand a, Operand b);
Tensor where(Operand condition, Operand a, Operand b);       // condition ? a : b
Tensor masked_fill(Operand x, Operand mask, Operand value);  // mask ? value : x

Tensor eq(Operand a, Operand b);  // comparisons give bool
Tensor ne(Operand a, Operand b);
Tensor lt(Operand a, Operand b);
Tensor le(Operand a, Operand b);
Tensor gt(Operand a, Operand b);
Tensor ge(Operand a, Operand b);
Tensor logical_and(Operand a, Operand b);
Tensor logical_or(Operand a, Operand b);
Tensor logical_not(Operand x);
Tensor isnan(Operand x);
Tensor isfinite(Operand x);

inline Tensor operator+(Operand a, Operand b) { return add(a, b); }
inline Tensor operator-(Operand a, Operand b) { return sub(a, b); }
inline Tensor operator*(Operand a, Operand b) { return mul(a, b); }
inline Tensor operator/(Operand a, Operand b) { return div(a, b); }
inline Tensor operator-(Operand x) { return neg(x); }
inline Tensor operator==(Operand a, Operand b) { return eq(a, b); }
inline Tensor operator!=(Operand a, Operand b) { return ne(a, b); }
inline Tensor operator<(Operand a, Operand b) { return lt(a, b); }
inline Tensor operator<=(Operand a, Operand b) { return le(a, b); }
inline Tensor operator>(Operand a, Operand b) { return gt(a, b); }
inline Tensor operator>=(Operand a, Operand b) { return ge(a, b); }

// ---- reductions: the dims are left out, or kept with size 1

Tensor sum(Operand x, Dims dims = {}, bool keepdim = false);
Tensor mean(Operand x, Dims dims = {}, bool keepdim = false);
Tensor amax(Operand x, Dims dims = {}, bool keepdim = false);  // ties share the gradient
Tensor amin(Operand x, Dims dims = {}, bool keepdim = false);
Tensor logsumexp(Operand x, Dims dims, bool keepdim = false);  // log sum exp(x), without overflow
Tensor var(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);  // over n - correction
Tensor std(Operand x, Dims dims = {}, double correction = 1, bool keepdim = false);
Tensor prod(Operand x);
Tensor prod(Operand x, int64_t dim, bool keepdim = false);
Tensor max(Operand x);
Tensor min(Operand x);
ValuesIndices max(Operand x, int64_t dim, bool keepdim = false);  // the first of equals has the gradient
ValuesIndices min(Operand x, int64_t dim, bool keepdim = false);
Tensor argmax(Operand x, std::optional<int64_t> dim = {},
              bool keepdim = false);  // int64; without dim: of the flat x
Tensor argmin(Operand x, std::optional<int64_t> dim = {}, bool keepdim = false);
Tensor cumsum(Operand x, int64_t dim);
Tensor any(Operand x, Dims dims = {}, bool keepdim = false);  // bool
Tensor all(Operand x, Dims dims = {}, bool keepdim = false);
Tensor sum_to(Operand x,
              const Shape& shape);  // undoes broadcasting: sums x to a shape that broadcasts to its own

// ---- products

Tensor matmul(Operand a, Operand b);  // [..., n, k] x [..., k, m]; vectors as in PyTorch
Tensor mm(Operand a, Operand b);      // [n, k] x [k, m]
Tensor bmm(Operand a, Operand b);     // [B, n, k] x [B, k, m]
Tensor mv(Operand a, Operand x);      // [n, k] x [k]
Tensor dot(Operand a, Operand b);     // [k] x [k] -> a scalar
Tensor outer(Operand a, Operand b);   // [n], [m] -> [n, m]
Tensor addmm(Operand x, Operand a, Operand b, double beta = 1, double alpha = 1);  // beta x + alpha a b
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands,
              std::source_location line = std::source_location::current());  // "bij,bjk->bik"
Tensor linear(Operand x, Operand weight, Operand bias = {});  // [..., in], [out, in], [out] -> x W^T + b

// ---- shape: views of the same memory where the strides allow it

Tensor alias(Operand x);  // a second name with a history of its own
Tensor clone(Operand x);  // a copy, contiguous
Tensor contiguous(Operand x);
Tensor to(Operand x, DType dtype);
Tensor transpose(Operand x, int64_t dim0 = -2, int64_t dim1 = -1);
Tensor t(Operand x);  // a matrix transposed; vectors and scalars as they are
Tensor permute(Operand x, const Shape& dims);
Tensor reshape(Operand x, const Shape& shape);  // one size may be -1
Tensor view(Operand x, const Shape& shape);     // reshape that refuses to copy
Tensor expand(Operand x, const Shape& shape);   // -1 keeps a size
Tensor broadcast_to(Operand x, const Shape& shape);
Tensor squeeze(Operand x, Dims dims = {});  // those of the dims that have size 1 go
Tensor unsqueeze(Operand x, int64_t dim);
Tensor flatten(Operand x, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor narrow(Operand x, int64_t dim, int64_t start, int64_t length);
Tensor select(Operand x, int64_t dim, int64_t index);
Tensor slice(Operand x, int64_t dim, int64_t start, int64_t end, int64_t step = 1);
std::vector<Tensor> split(Operand x, int64_t size, int64_t dim = 0);
std::vector<Tensor> split(Operand x, const Shape& sizes, int64_t dim = 0);  // parts of these sizes
std::vector<Tensor> chunk(Operand x, int64_t chunks, int64_t dim = 0);
Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0,
           std::source_location line = std::source_location::current());
Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0,
             std::source_location line = std::source_location::current());
Tensor flip(Operand x, const Shape& dims);
Tensor repeat(Operand x, const Shape& sizes);
Tensor tril(Operand x, int64_t diagonal = 0);
Tensor triu(Operand x, int64_t diagonal = 0);
Tensor pad(Operand x, const Shape& pads,
           double value = 0);  // before and after, last dimension first; negative crops

// ---- indexing: positions are int64

Tensor gather(Operand x, int64_t dim, Operand index);        // y[i, j] = x[i, index[i, j]] for dim 1
Tensor index_select(Operand x, int64_t dim, Operand index);  // y[i, j] = x[i, index[j]] for dim 1
Tensor scatter_add(Operand x, int64_t dim, Operand index, Operand src);  // x[i, index[i, j]] += src[i, j]
/// x[{...}]: views for positions, slices and new axes; int64 tensors broadcast to one another and pick, and a
/// bool tensor stands for the positions of its true elements. The picked dimensions come out where they
/// stood, or first when others stood between them.
Tensor index(Operand x, const std::vector<Index>& items);
/// Rows of weight [N, E] by index [...]: [..., E]. The row padding_idx has no gradient.
Tensor embedding(Operand weight, Operand index, std::optional<int64_t> padding_idx = {});
Tensor one_hot(Operand index, int64_t num_classes = -1);  // [...] -> [..., C], int64; -1: largest + 1 classes
ValuesIndices topk(Operand x, int64_t k, int64_t dim = -1, bool largest = true);
ValuesIndices sort(Operand x, int64_t dim = -1, bool descending = false);  // stable
Tensor argsort(Operand x, int64_t dim = -1, bool descending = false);

// ---- softmax and normalisation

Tensor softmax(Operand x, int64_t dim);
Tensor log_softmax(Operand x, int64_t dim);
/// softmax over the positions where the mask is true and x above -inf; 0 elsewhere. A line without any is 0
/// and has the gradient 0. The mask is bool and broadcasts with x.
Tensor masked_softmax(Operand x, Operand mask = {}, int64_t dim = -1);
/// The probabilities nearest to x: max(x - t, 0), with t such that they sum to 1; many are exactly 0 (Martins
/// and Astudillo 2016). Masks as in masked_softmax.
Tensor sparsemax(Operand x, Operand mask = {}, int64_t dim = -1);
/// (x - mean) / sqrt(var + eps) over the last dimensions, of `normalized_shape`, times weight plus bias.
Tensor layer_norm(Operand x, const Shape& normalized_shape, Operand weight = {}, Operand bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean(x^2) + eps) over the last dimensions, times weight.
Tensor rms_norm(Operand x, const Shape& normalized_shape, Operand weight = {}, double eps = 1e-6);

// ---- recurrence: what recurrent layers share, see nn/recurrent

/// The kind of a recurrent layer. With x what the input and a what the state gives to a gate:
///
///   rnn    h' = tanh(x + a), or relu
///   gru    r = sigmoid(x_r + a_r), z = sigmoid(x_z + a_z), n = tanh(x_n + r a_n), h' = (1 - z) n + z h
///   lstm   i, f, o = sigmoid(x + a), g = tanh(x_g + a_g), c' = f c + i g, h' = o tanh(c')
enum class Recurrence { rnn_tanh, rnn_relu, gru, lstm };
/// How many gates it has, one above the other in its weights: 1, 3 (r, z, n) or 4 (i, f, g, o).
int64_t gate_count(Recurrence kind);
struct RecurrenceOptions {
  Tensor lengths = {};     // [B] int64: after so many steps a sequence keeps its state
  bool reverse = false;    // from the last step to the first
  Tensor projection = {};  // [P, H], lstm only: h' = projection (o tanh(c')), of size P
};
/// The states of one layer in one direction, after each step.
///
///   x        [T, B, G H]   W_ih input + b_ih, for G gates of size H
///   state    [B, S]        before the first step; zero if undefined. S = H, for lstm h and c side by side
///   weight   [G H, H], bias [G H]    of the state: a = weight h + bias
///   returns  [T, B, S]
Tensor recurrence(Recurrence kind, Operand x, Operand state, Operand weight, Operand bias = {},
                  const RecurrenceOptions& options = {});

// ---- attention

/// What decides, beside the products of query and key, how much each key counts.
struct AttentionScores {
  Tensor mask = {};                  // bool, true = may attend; broadcasts to the scores
  Tensor bias = {};                  // added to the scores; broadcasts to them
  bool is_causal = false;            // query i attends to keys 0 to i
  std::optional<double> scale = {};  // of the products; without: 1 / sqrt(D)
};
/// softmax(scale query key^T + bias) over the keys that the mask allows, 0 where there is none: query [...,
/// Tq, D], key [..., Tk, D] -> [..., Tq, Tk]
Tensor attention_weights(Operand query, Operand key, const AttentionScores& scores = {});
/// The product of attention_weights and value, [..., Tk, Dv] -> [..., Tq, Dv], in tiles: the weights never
/// stand in memory, which is linear in Tq + Tk. What is masked in a whole tile is not read at all.
Tensor blocked_attention(Operand query, Operand key, Operand value, const AttentionScores& scores = {});
namespace detail {
/// False where blocked_attention would refuse: a bias needs a gradient, or mask and bias enlarge the scores.
bool can_block_attention(const Tensor& query, const Tensor& key, const AttentionScores& scores);
}  // namespace detail

// ---- losses: the others are made of these operations, see nn/functional.h

/// How a loss for each element becomes one number; batchmean is the sum over the size of dimension 0.
enum class Reduction { none, mean, sum, batchmean };
struct SoftmaxCrossEntropyOptions {
  Tensor weight = {};  // [C], one for each class
  int64_t ignore_index = -100;
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;  // over the weights of the targets that count
};
/// -weight[target] log_softmax(x)[target]: x [..., C], target [...] int64
Tensor softmax_cross_entropy(Operand x, Operand target, const SoftmaxCrossEntropyOptions& options = {});

// ---- in place, under NoGrad: each returns its first operand

Tensor copy_(Operand x, Operand source);  // source broadcasts to x
Tensor fill_(Operand x, double value);
Tensor zero_(Operand x);
Tensor add_(Operand x, Operand other, double alpha = 1);
Tensor sub_(Operand x, Operand other, double alpha = 1);
Tensor mul_(Operand x, Operand other);
Tensor div_(Operand x, Operand other);

}  // namespace heed
