#pragma once

#include "tensor/tensor.h"

/// Which query may attend to which key.
namespace heed {

struct AttendOptions;

/// Which query may attend to which key: true = may attend. A value, made once and given to any attention:
///
///   const Mask mask = Mask::causal(5) & Mask::lengths(tensor({5, 3}, int64), 5);
///
/// It broadcasts to the scores [..., Tq, Tk]. A query that may attend to nothing gives the output 0 with the
/// gradient 0. Biases, numbers that are added to the scores, are no masks: see AttendOptions.
class Mask {
 public:
  /// Every query may attend to every key.
  Mask() = default;
  /// bool [..., Tq, Tk], sizes of 1 broadcast. Error for another dtype.
  Mask(const Tensor& allowed, SourceLocation line = SourceLocation::current());

  /// Query i has the position past + i and attends to the keys 0 to past + i: [queries, past + queries].
  /// `past` is the number of keys before the first query, as in cached decoding. Errors: negative numbers.
  static Mask causal(int64_t queries, int64_t past = 0) { return window(queries, INT64_MAX, 0, past); }
  /// Keys from `before` positions before the query to `after` behind it: [queries, past + queries].
  static Mask window(int64_t queries, int64_t before, int64_t after, int64_t past = 0);
  /// The first lengths[b] of `keys` keys: int64 [B] gives [B, 1, keys], one length for all queries; [B, Tq]
  /// gives [B, Tq, keys], a length for each query. Lengths below 0 or above `keys` are an Error.
  static Mask lengths(const Tensor& lengths, int64_t keys);

  /// What both allow.
  friend Mask operator&(const Mask& a, const Mask& b);
  /// What one of them allows.
  friend Mask operator|(const Mask& a, const Mask& b);
  /// What this one does not allow.
  friend Mask operator~(const Mask& a);

  /// Whether nothing is masked, by construction.
  bool everything() const { return !allowed_.defined(); }
  /// bool [..., Tq, Tk]; undefined when nothing is masked.
  const Tensor& allowed() const { return allowed_; }
  operator const Tensor&() const { return allowed_; }  ///< allowed()
  /// Where a call takes AttendOptions, a mask alone will do.
  operator AttendOptions() const;
  /// Keys or values [..., Tk, d] with 0 for those that no query may attend to, if anything in x is NaN or
  /// infinite: 0 times that would be NaN, in the output and in gradients. Else x itself.
  Tensor zero_unattended(const Tensor& x) const;

 private:
  Tensor allowed_;
};

/// A line for each query, a column for each key: "x" = may attend, "." = may not; an empty line between the
/// matrices of a batch.
std::string to_string(const Mask& mask);

namespace detail {
/// Throws unless x, a mask or a bias or undefined, broadcasts to scores of this shape, [..., Tq, Tk].
void check_fits_scores(const char* what, const Tensor& x, const Shape& scores);
/// For scores [B, H, Tq, Tk]: a mask or bias [B, Tq, Tk] holds for every head, others stay as they are.
Tensor for_heads(const Tensor& x);
}  // namespace detail

}  // namespace heed
