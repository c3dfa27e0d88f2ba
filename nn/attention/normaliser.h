#pragma once

#include "nn/attention/mask.h"
#include "nn/attention/score.h"

/// The second of the three stages of attention: scores become weights.
///
///   scores   [..., Tq, Tk]
///   mask     which query may attend to which key
///   returns  [..., Tq, Tk]   rows of weights that sum to 1, or of 0 where a query may attend to nothing
///
/// One of your own is a type with such an operator() and, if it learns, `visit`.
namespace heed {

/// What AttentionPooling takes as a normaliser.
template <class N>
concept Normaliser = requires(const N& normaliser, const Tensor& scores, const Mask& mask) {
  { normaliser(scores, mask) } -> std::convertible_to<Tensor>;
};

/// exp(s_j) / sum_k exp(s_k), over the keys that the mask allows.
struct SoftmaxNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;
};

/// max(s_j - t, 0) with t such that the row sums to 1: most weights are exactly 0.
struct SparsemaxNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;
};

/// Hard attention: one key for each query, drawn with the probabilities softmax(s); its weight is 1. The mean
/// over many draws is soft attention. A draw has no slope: the gradient is that of the softmax in its place
/// (straight-through; Bengio, Leonard and Courville 2013).
struct HardNormaliser {
  Tensor operator()(const Tensor& scores, const Mask& mask) const;
};

/// Any normaliser, chosen at run time.
using AnyNormaliser = AnyCallable<const Tensor&, const Mask&>;

/// The normaliser of a name among normaliser_names(). Error for another name.
AnyNormaliser make_normaliser(const std::string& name);
/// softmax, sparsemax, hard.
const std::vector<std::string>& normaliser_names();

}  // namespace heed
