#include "nn/attention/mask.h"

#include "autograd/ops/basic.h"
#include "autograd/ops/rounding.h"

namespace heed {

// Keys j with the same of(j) as the query.
static Mask alike(const char* what, int64_t queries, int64_t step, int64_t past, const auto& of) {
  check_in(what, queries >= 0 && past >= 0 && step > 0, queries, " queries after ", past,
           " keys, in steps of ", step, "; the step must be positive and the others not negative");
  const Tensor each = of(arange(past + queries, int64));
  return unsqueeze(narrow(each, 0, past, queries), 1) == each;
}

Mask::Mask(const Tensor& allowed, SourceLocation line) : allowed_(allowed) {
  if (!allowed.defined()) return;
  const OpScope scope("Mask", line);
  check(allowed.dtype() == boolean, "given ", allowed.dtype(), " ", allowed.shape(),
        "; a mask is bool, true = may attend (numbers to add to the scores are a bias)");
}

Mask Mask::window(int64_t queries, int64_t before, int64_t after, int64_t past) {
  check_in("Mask", queries >= 0 && past >= 0 && before >= 0 && after >= 0, queries, " queries after ", past,
           " keys, ", before, " keys before and ", after, " behind each; none may be negative");
  const int64_t all = past + queries;  // an upper bound of all distances
  const Tensor q = unsqueeze(arange(queries, int64) + past, 1), k = arange(all, int64);
  return logical_and(k >= q - std::min(before, all), k <= q + std::min(after, all));
}

Mask Mask::blocks(int64_t queries, int64_t size, int64_t past) {
  return alike("Mask::blocks", queries, size, past, [=](const Tensor& j) { return j - fmod(j, size); });
}

Mask Mask::dilated(int64_t queries, int64_t step, int64_t past) {
  return alike("Mask::dilated", queries, step, past, [=](const Tensor& j) { return fmod(j, step); });
}

Mask Mask::lengths(const Tensor& lengths, int64_t keys) {
  const OpScope scope("Mask::lengths");
  check(lengths.defined(), "there are no lengths");
  check(lengths.dtype() == int64 && (lengths.dim() == 1 || lengths.dim() == 2), "given ", lengths.dtype(),
        " ", lengths.shape(), "; lengths are int64 [B], or [B, Tq] with one for each query");
  check(all(logical_and(lengths >= 0, lengths <= keys)).item<bool>(), "given ", lengths,
        "; lengths must be from 0 to ", keys);
  return arange(keys, int64) < unsqueeze(lengths.dim() == 1 ? unsqueeze(lengths, 1) : lengths, -1);
}

Mask operator&(const Mask& a, const Mask& b) {
  if (a.allows_all() || b.allows_all()) return a.allows_all() ? b : a;
  return logical_and(a.allowed_, b.allowed_);
}

Mask operator|(const Mask& a, const Mask& b) {
  if (a.allows_all() || b.allows_all()) return {};
  return logical_or(a.allowed_, b.allowed_);
}

Mask operator~(const Mask& a) { return a.allows_all() ? zeros({1, 1}, boolean) : logical_not(a.allowed_); }

Tensor Mask::zero_unattended(const Tensor& x) const {
  // A sum is finite only if its terms are.
  if (allows_all() || std::isfinite(sum(x.detach()).item())) return x;
  const Tensor attended = allowed_.dim() > 1 ? any(allowed_, -2) : allowed_;  // [..., Tk]
  return where(unsqueeze(attended, -1), x, 0);
}

std::string to_string(const Mask& mask) {
  if (mask.allows_all()) return "everything may attend to everything\n";
  const Shape& shape = mask.allowed().shape();
  const int64_t keys = shape.empty() ? 1 : shape.back();
  const int64_t queries = shape.dim() > 1 ? shape[shape.dim() - 2] : 1;
  std::string text;
  int64_t done = 0;
  mask.allowed().for_each([&](auto allowed) {
    if (done > 0 && done % (queries * keys) == 0) text += '\n';
    text += allowed ? 'x' : '.';
    if (++done % keys == 0) text += '\n';
  });
  return text;
}

Tensor detail::for_heads(const Tensor& x) { return x.defined() && x.dim() == 3 ? unsqueeze(x, 1) : x; }

}  // namespace heed
