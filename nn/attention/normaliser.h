#pragma once

#include "autograd/ops/softmax.h"
#include "nn/attention/mask.h"
#include "nn/attention/score.h"

/// The second of the three stages of attention: a normaliser turns scores into weights.
///
///   scores   [..., Tq, Tk]
///   mask     which query may attend to which key
///   returns  [..., Tq, Tk]   each row sums to 1, or to 0 if the query may attend to nothing
///
/// Your own normaliser is a type with such an operator() and, if it has parameters, `visit`.
namespace heed {

/// What AttentionPooling accepts as a normaliser.
template <class N>
concept Normaliser = requires(const N& normaliser, const Tensor& scores, const Mask& mask) {
  { normaliser(scores, mask) } -> std::convertible_to<Tensor>;
};

/// exp(s_j) / sum_k exp(s_k) over the keys that the mask allows.
struct SoftmaxNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const { return masked_softmax(scores, mask); }
};

/// max(s_j - t, 0) with t such that the row sums to 1: most weights are exactly 0 (Martins and Astudillo
/// 2016).
struct SparsemaxNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const { return sparsemax(scores, mask); }
};

/// Hard attention: samples one key for each query from softmax(s) and gives it weight 1. The mean over many
/// samples is soft attention. Sampling is not differentiable, so the gradient is that of the softmax
/// (straight-through; Bengio, Leonard and Courville 2013).
struct HardNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;
};

/// A normaliser chosen at run time.
using AnyNormaliser = AnyCallable<const Tensor&, const Mask&>;

/// The normaliser of this name, one of normaliser_names(). Throws for another name.
AnyNormaliser make_normaliser(const std::string& name);
/// softmax, sparsemax, hard.
const std::vector<std::string>& normaliser_names();

}  // namespace heed
