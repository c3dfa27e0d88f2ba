#pragma once

#include <map>

#include "autograd/observer.h"

/// The attention weights of a model, without a change to it.
namespace heed {

/// The weights of one attention call.
struct CapturedAttention {
  /// The path of the module from the outermost one called, "decoder.layers.0.self_attn"; "" outside modules.
  std::string module;
  int64_t step;    ///< the number of earlier calls of this module
  Tensor weights;  ///< [..., Tq, Tk], with several heads [B, H, Tq, Tk]; without gradient
};

/// Records the weights of every attention call of this thread during its lifetime:
///
///   AttentionScope scope;
///   const Tensor y = model(x);
///   for (const CapturedAttention& call : scope.calls()) ...
///
/// The results stay the same bit for bit. Scopes may be nested: the outer one also records what the inner one
/// does.
class AttentionScope : private Observer {
 public:
  /// All calls, in order.
  const std::vector<CapturedAttention>& calls() const& { return calls_; }
  std::vector<CapturedAttention> calls() && { return std::move(calls_); }
  /// The weights of one call. Throws if there is none, with the calls there are.
  Tensor weights(const std::string& module, int64_t step = 0) const;

 private:
  bool wants_attention() const override { return true; }
  void on_attention(const Tensor& weights) override;

  std::vector<CapturedAttention> calls_;
  std::map<std::string, int64_t> steps_;  // the number of calls of each module so far
};

}  // namespace heed
