#pragma once

#include "autograd/ops/attention.h"

/// Which query may attend to which key.
namespace heed {

/// Which query may attend to which key: true = may attend. Every kind of attention accepts it:
///
///   const Mask mask = Mask::causal(5) & Mask::lengths(tensor({5, 3}, int64), 5);
///
/// Broadcasts to the scores, [..., Tq, Tk]. A query that may attend to nothing gives output 0 with gradient
/// 0. Numbers to add to the scores are not a mask but a bias: see AttentionOptions.
class Mask {
 public:
  /// Every query may attend to every key.
  Mask() = default;
  /// bool [..., Tq, Tk]; broadcasts. Throws for another dtype.
  Mask(const Tensor& allowed, SourceLocation line = SourceLocation::current());

  /// Query i is at position past + i and may attend to keys 0 to past + i: [queries, past + queries]. `past`
  /// is the number of keys before the first query, as in cached decoding. Errors: negative numbers.
  static Mask causal(int64_t queries, int64_t past = 0) { return window(queries, INT64_MAX, 0, past); }
  /// Keys from `before` positions before the query to `after` positions after it: [queries, past + queries].
  static Mask window(int64_t queries, int64_t before, int64_t after, int64_t past = 0);
  /// Keys of the query's own block of `size` positions: [queries, past + queries]. With & causal or | window
  /// it makes block-local attention. Errors: a size below 1.
  static Mask blocks(int64_t queries, int64_t size, int64_t past = 0);
  /// Keys at a distance of 0, step, 2 step, ... positions, before and after the query: [queries, past +
  /// queries]. With & window it is a dilated window (Beltagy, Peters and Cohan 2020). Errors: a step below 1.
  static Mask dilated(int64_t queries, int64_t step, int64_t past = 0);
  /// The first lengths[b] of `keys` keys. Lengths int64 [B], for all queries, give [B, 1, keys]; lengths
  /// [B, Tq], one for each query, give [B, Tq, keys]. Errors: lengths below 0 or above `keys`.
  static Mask lengths(const Tensor& lengths, int64_t keys);

  /// Allows what both allow.
  friend Mask operator&(const Mask& a, const Mask& b);
  /// Allows what at least one of them allows.
  friend Mask operator|(const Mask& a, const Mask& b);
  /// Allows what this mask does not.
  friend Mask operator~(const Mask& a);

  /// Whether this is Mask().
  bool allows_all() const { return !allowed_.defined(); }
  /// bool [..., Tq, Tk]; undefined if allows_all().
  const Tensor& allowed() const { return allowed_; }
  operator const Tensor&() const { return allowed_; }
  operator AttentionOptions() const { return {.mask = allowed_}; }

  /// Keys or values [..., Tk, d] with 0 for those that no query may attend to: NaN and infinities times a
  /// weight of 0 are NaN. Returns x itself if its values are finite.
  Tensor zero_unattended(const Tensor& x) const;

 private:
  Tensor allowed_;
};

/// A line for each query, a column for each key: "x" = may attend, "." = may not; an empty line between the
/// matrices of a batch.
std::string to_string(const Mask& mask);

namespace detail {
/// A mask or bias for scores [B, H, Tq, Tk]: [B, Tq, Tk] becomes [B, 1, Tq, Tk], others are unchanged.
Tensor for_heads(const Tensor& x);
}  // namespace detail

}  // namespace heed
