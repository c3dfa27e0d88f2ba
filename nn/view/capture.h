#pragma once

#include <map>

#include "autograd/observer.h"

/// The weights of every attention call, without a change to a model.
namespace heed {

/// The weights of one attention call.
struct CapturedAttention {
  /// Its path from the outermost module called: "decoder.layers.0.self_attn", "" outside.
  std::string module;
  int64_t step;    ///< how many calls of this module came before it
  Tensor weights;  ///< [..., Tq, Tk] without history; with several heads [B, H, Tq, Tk]
};

/// Records the weights of every attention call of this thread while it exists:
///
///   AttentionScope scope;
///   const Tensor y = model(x);
///   for (const CapturedAttention& call : scope.calls()) ...
///
/// Models know nothing of it, results are the same bit for bit, and without a scope nothing is kept. Scopes
/// nest: the outer one records what the inner one does.
class AttentionScope : private Observer {
 public:
  /// In the order of the calls.
  const std::vector<CapturedAttention>& calls() const& { return calls_; }
  /// The same of a scope that goes.
  std::vector<CapturedAttention> calls() && { return std::move(calls_); }
  /// The weights of one call. Error, with the modules and steps there are, when there is none.
  Tensor weights(const std::string& module, int64_t step = 0) const;

 private:
  bool wants_attention() const override { return true; }
  void on_attention(const Tensor& weights) override;

  std::vector<CapturedAttention> calls_;
  std::map<std::string, int64_t> steps_;  // of each module so far
};

}  // namespace heed
