#pragma once

#include <vector>

#include "autograd/operand.h"

/// Products; all but einsum are of floating tensors. Errors: sizes to be summed over that differ, two dtypes,
/// a rank that is not named.
namespace heed {

/// y_ij = sum_l a_il b_lj: [..., n, k] x [..., k, m] -> [..., n, m], leading sizes broadcast. A vector [k] is
/// a row on the left and a column on the right, which the result leaves out.
Tensor matmul(Operand a, Operand b);
Tensor mm(Operand a, Operand b);     ///< matmul of two matrices: [n, k] x [k, m] -> [n, m]
Tensor bmm(Operand a, Operand b);    ///< matmul of two batches: [B, n, k] x [B, k, m] -> [B, n, m]
Tensor mv(Operand a, Operand x);     ///< y_i = sum_l a_il x_l: [n, k] x [k] -> [n]
Tensor dot(Operand a, Operand b);    ///< sum_l a_l b_l: [k] x [k] -> a scalar
Tensor outer(Operand a, Operand b);  ///< y_ij = a_i b_j: [n] x [m] -> [n, m]
/// beta x + alpha a b for matrices a [n, k] and b [k, m]; x broadcasts to [n, m], and with beta = 0 counts
/// for nothing.
Tensor addmm(Operand x, Operand a, Operand b, double beta = 1, double alpha = 1);
/// Sums of products by the names of dimensions: "bij,bjk->bik" is bmm, "ii->" the trace. What the result does
/// not name is summed over; without an arrow it has, in the order of the alphabet, the names that come once.
/// "..." stands for dimensions without a name; sizes of 1 broadcast. Errors: an equation that cannot be read,
/// or does not fit the shapes.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands,
              SourceLocation line = SourceLocation::current());
/// x W^T + b: x [..., in], weight W [out, in], bias b [out] -> [..., out]
Tensor linear(Operand x, Operand weight, Operand bias = {});

/// The transposes [in, out] of weights that linear() meets at every step of a decoder: products of few rows
/// read them 1.7 times as fast, which is a fifth of the time of such a step. Each is of its weight as that
/// is: after a write, see Note [Versions], it is made anew. For one thread at a time; a copy goes on by
/// itself.
class TransposedWeightCache {
 public:
  /// While it lives, linear() in this thread takes the transposes of float32 weights from here.
  class Use {
   public:
    /// Null: linear() takes none.
    explicit Use(TransposedWeightCache* weights) : outer_(std::exchange(current_, weights)) {}
    ~Use() { current_ = outer_; }
    Use(const Use&) = delete;

   private:
    TransposedWeightCache* outer_;
  };
  /// weight^T, a view of the weight where none are kept.
  static Tensor transposed(const Tensor& weight);

 private:
  struct Entry {
    Tensor weight;
    int64_t version;
    Tensor turned;
  };
  inline static thread_local constinit TransposedWeightCache* current_ = nullptr;
  std::vector<Entry> entries_;
  size_t next_ = 0;  // steps meet the weights in one order: where the next one probably is
};

}  // namespace heed
