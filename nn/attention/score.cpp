#include "nn/attention/score.h"

#include "autograd/ops.h"
#include "tensor/table.h"

namespace heed {

static Tensor dot_products(const char* name, const Tensor& q, const Tensor& k) {
  check_in(name, q.dim() >= 2 && k.dim() >= 2 && q.size(-1) == k.size(-1), "queries are ", q.shape(),
           ", keys ", k.shape(), "; they must be [..., Tq, d] and [..., Tk, d] of one width ",
           "(bilinear and additive scores take two)");
  return matmul(q, transpose(k));
}

const Tensor& CachedKeys::mapped_by(const Linear& map) const {
  const auto version = [](const Tensor& x) { return x.defined() ? TensorImpl::of(x).storage->version : 0; };
  const std::tuple source(&map, version(map.weight) + version(map.bias), grad_enabled());
  if (source_ != source) {
    mapped_ = map(*this);
    source_ = source;
  }
  return mapped_;
}

Tensor squared_distances(Operand queries, Operand keys, Operand w) {
  check_in("squared_distances",
           queries->dim() >= 1 && keys->dim() >= 1 && (queries->dim() == 1) == (keys->dim() == 1),
           "queries are ", queries->shape(), ", keys ", keys->shape(),
           "; both must be numbers, [T], or vectors, [..., T, d]");
  if (queries->dim() == 1) return square((unsqueeze(queries, 1) - unsqueeze(keys, 0)) * w);
  check_in("squared_distances", queries->size(-1) == keys->size(-1), "queries are ", queries->shape(),
           ", keys ", keys->shape(), "; a distance needs vectors of one width");
  const Tensor difference = unsqueeze(queries, -2) - unsqueeze(keys, -3);  // [..., Tq, Tk, d]
  return sum(square(difference * w), -1);
}

Tensor DotScore::operator()(const Tensor& q, const Tensor& k) const { return dot_products("DotScore", q, k); }

Tensor ScaledDotScore::operator()(const Tensor& q, const Tensor& k) const {
  const double d = static_cast<double>(q.dim() == 0 ? 1 : q.size(-1));
  return dot_products("ScaledDotScore", q * (1 / std::sqrt(d)), k);
}

Tensor CosineScore::operator()(const Tensor& q, const Tensor& k) const {
  const auto unit = [](const Tensor& x) { return x * rsqrt(sum(square(x), -1, true) + 1e-12); };
  return beta * dot_products("CosineScore", unit(q), unit(k));
}

Tensor AdditiveScore::operator()(const Tensor& q, const CachedKeys& k) const {
  const Tensor f = tanh(unsqueeze(W_q(q), -2) + unsqueeze(k.mapped_by(W_k), -3));  // [..., Tq, Tk, hidden]
  return squeeze(w_v(f), -1);
}

Tensor BilinearScore::operator()(const Tensor& q, const CachedKeys& k) const {
  return order == Order::query_key ? dot_products("BilinearScore", q, k.mapped_by(W))
                                   : dot_products("BilinearScore", W(q), k);
}

Tensor LowRankBilinearScore::operator()(const Tensor& q, const CachedKeys& k) const {
  return dot_products("LowRankBilinearScore", L(q), k.mapped_by(H));
}

Tensor DenseScore::operator()(const Tensor& q, const CachedKeys& k) const {
  return dot_products("DenseScore", q, tanh(k.mapped_by(W)));
}

const std::vector<std::string>& score_names() {
  static const std::vector<std::string> names = {"dot",      "scaled_dot", "additive", "bilinear",
                                                 "low_rank", "dense",      "gaussian"};
  return names;
}

AnyScore make_score(const std::string& name, int64_t query_dim, int64_t key_dim, int64_t hidden) {
  if (name == "dot") return DotScore();
  if (name == "scaled_dot") return ScaledDotScore();
  if (name == "additive") return AdditiveScore(query_dim, key_dim, hidden);
  if (name == "bilinear") return BilinearScore(query_dim, key_dim);
  if (name == "low_rank") return LowRankBilinearScore(query_dim, key_dim, hidden);
  if (name == "dense") return DenseScore(query_dim, key_dim);
  if (name == "gaussian") return GaussianScore();
  fail_in("make_score", "there is no score ", name, "; there are ", detail::listed(score_names()));
}

}  // namespace heed
