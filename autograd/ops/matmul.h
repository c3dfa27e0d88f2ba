#pragma once

#include <vector>

#include "autograd/operand.h"

/// Products.
namespace heed {

Tensor matmul(Operand a, Operand b);  // [..., n, k] x [..., k, m]; vectors as in PyTorch
Tensor mm(Operand a, Operand b);      // [n, k] x [k, m]
Tensor bmm(Operand a, Operand b);     // [B, n, k] x [B, k, m]
Tensor mv(Operand a, Operand x);      // [n, k] x [k]
Tensor dot(Operand a, Operand b);     // [k] x [k] -> a scalar
Tensor outer(Operand a, Operand b);   // [n], [m] -> [n, m]
Tensor addmm(Operand x, Operand a, Operand b, double beta = 1, double alpha = 1);  // beta x + alpha a b
// "bij,bjk->bik"
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Line line = Line::current());
Tensor linear(Operand x, Operand weight, Operand bias = {});  // [..., in], [out, in], [out] -> x W^T + b

/// The transposes [in, out] of weights that linear() meets at every step of a decoder: products of few rows read them
/// 1.7 times as fast, which is a fifth of the time of such a step. Each is of its weight as that is: after a write, see
/// Note [Versions], it is made anew. For one thread at a time; a copy goes on by itself.
class TurnedWeights {
 public:
  /// While it lives, linear() in this thread takes the transposes of float32 weights from here.
  class Use {
   public:
    explicit Use(TurnedWeights* weights) : outer_(std::exchange(current_, weights)) {}
    ~Use() { current_ = outer_; }
    Use(const Use&) = delete;

   private:
    TurnedWeights* outer_;
  };
  /// weight^T, a view of the weight where none are kept.
  static Tensor transposed(const Tensor& weight);

 private:
  struct Entry {
    Tensor weight;
    int64_t version;
    Tensor turned;
  };
  inline static thread_local constinit TurnedWeights* current_ = nullptr;
  std::vector<Entry> entries_;
  size_t next_ = 0;  // steps meet the weights in one order: where the next one probably is
};

}  // namespace heed
