#pragma once

#include "examples/by_hand/matrix.h"
#include "examples/shared/program.h"
#include "nn/attention/mask.h"
#include "nn/view/text.h"

/// What the examples of attention_by_hand share: the frame in which each is told, attention and its gradient
/// in plain loops, and the comparison with the library.
namespace program {

/// What a reader is told before the first number. Lines after the first are indented.
struct Frame {
  std::string title, formula, task, look_for;
};
void introduce(Program& self, const Frame& frame);
/// One sentence that reads the numbers; the last thing an example says.
void conclude(Program& self, const std::string& sentence);

/// Four words and their vectors of width 3: x_1 .. x_4.
extern const heed::Tokens kWords;
extern const Matrix kVectors;

/// softmax(Q K^T / sqrt(d)) V, step by step. What the mask forbids has the scaled score -infinity; the
/// weights of a query that may attend to nothing are 0.
struct Forward {
  Matrix scores, scaled, weights, output;
};
Forward forward(const Matrix& q, const Matrix& k, const Matrix& v, const heed::Mask& mask = {});

/// The gradients of all steps, from the gradient `g` of the output.
struct Backward {
  Matrix weights, scaled, scores, q, k, v;
};
Backward backward(const Forward& y, const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& g);

/// The distance between what was computed by hand and by the library; an error when they are not the same.
double agree(const std::string& what, const Matrix& by_hand, const heed::Tensor& by_library);

/// d output_a / d input_b by autograd, output and input flat: [elements of output, elements of input].
heed::Tensor jacobian(const heed::Tensor& output, const heed::Tensor& input);

/// Weights [Tq, Tk], or [H, Tq, Tk] of several heads, as a picture, where pictures are wanted.
void draw(Program& self, const heed::Tensor& weights, const heed::Tokens& queries, const heed::Tokens& keys,
          const std::string& file = "weights.svg", const heed::Mask& mask = {});

}  // namespace program
