#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "nn/layers/linear.h"

/// The first of the three stages of attention: how well a key fits a query.
///
///   q        [..., Tq, dq]
///   k        [..., Tk, dk]
///   returns  [..., Tq, Tk]   one row of scores for each query
///
/// A score of your own is a type with such an operator() and, if it learns, `visit`, as a module has it:
///
///   struct CosineScore {
///     Tensor operator()(const Tensor& q, const Tensor& k) const {
///       return beta * matmul(unit(q), transpose(unit(k)));
///     }
///     void visit(Visitor& v) { v("beta", beta); }
///     static Tensor unit(const Tensor& x) { return x / sqrt(sum(square(x), -1, true) + 1e-12); }
///
///     Parameter beta = ones({1});
///   };
///   AttentionPooling pooling{CosineScore()};
namespace heed {

template <class S>
concept Score = requires(const S& score, const Tensor& q, const Tensor& k) {
  { score(q, k) } -> std::convertible_to<Tensor>;
};

/// q . k
struct DotScore {
  Tensor operator()(const Tensor& q, const Tensor& k) const;
};

/// q . k / sqrt(d): the variance of q . k for independent q and k of unit variance is d.
struct ScaledDotScore {
  Tensor operator()(const Tensor& q, const Tensor& k) const;
};

/// w_v . tanh(W_q q + W_k k) (Bahdanau, Cho and Bengio 2015)
struct AdditiveScore {
  AdditiveScore(int64_t query_dim, int64_t key_dim, int64_t hidden);
  Tensor operator()(const Tensor& q, const Tensor& k) const;
  void visit(Visitor& v);

  Linear W_q, W_k, w_v;  // [hidden, dq], [hidden, dk], [1, hidden], no biases
};

/// Which of the two stands to the left of W.
enum class Order { query_key, key_query };

/// q . (W k) with W [dq, dk], or in the other order k . (W q) with W [dk, dq] (Luong, Pham and Manning 2015).
struct BilinearScore {
  BilinearScore(int64_t query_dim, int64_t key_dim, Order order = Order::query_key);
  Tensor operator()(const Tensor& q, const Tensor& k) const;
  void visit(Visitor& v);

  Order order;
  Linear W;  // no bias
};

/// (L q) . (H k): the bilinear score with W = L^T H of rank at most `rank`.
struct LowRankBilinearScore {
  LowRankBilinearScore(int64_t query_dim, int64_t key_dim, int64_t rank);
  Tensor operator()(const Tensor& q, const Tensor& k) const;
  void visit(Visitor& v);

  Linear L, H;  // [rank, dq], [rank, dk], no biases
};

/// q . tanh(W k + b): one dense layer on the keys.
struct DenseScore {
  DenseScore(int64_t query_dim, int64_t key_dim);
  Tensor operator()(const Tensor& q, const Tensor& k) const;
  void visit(Visitor& v);

  Linear W;  // [dq, dk] and bias [dq]
};

/// -(|q - k| w)^2 / 2: with softmax, kernel regression with the Gaussian kernel, whose width is 1/w.
struct GaussianScore {
  explicit GaussianScore(double w = 1);
  Tensor operator()(const Tensor& q, const Tensor& k) const;
  void visit(Visitor& v);

  Parameter w;  // [1]
};

namespace detail {

/// "dot, additive"
std::string listed(const std::vector<std::string>& names);

template <class Part>
void visit_part(Part& part, Visitor& v) {
  if constexpr (Visitable<Part>) part.visit(v);
}

/// A part of a layer that is chosen at run time: anything that is called so. A copy has values of its own.
template <class Signature>
class AnyPart;

template <class... Args>
class AnyPart<Tensor(Args...)> {
 public:
  template <class Part>
  requires(!std::same_as<Part, AnyPart> && std::is_invocable_r_v<Tensor, const Part&, Args...>)
      AnyPart(Part part)
      : held_(std::make_unique<Holder<Part>>(std::move(part))) {}
  AnyPart(const AnyPart& other) : held_(other.held_->clone()) {}
  AnyPart(AnyPart&&) noexcept = default;
  AnyPart& operator=(AnyPart other) noexcept { return held_.swap(other.held_), *this; }
  ~AnyPart() = default;

  Tensor operator()(Args... args) const { return held_->call(args...); }
  void visit(Visitor& v) { held_->visit(v); }

 private:
  struct Held {
    virtual ~Held() = default;
    virtual std::unique_ptr<Held> clone() const = 0;
    virtual Tensor call(Args... args) const = 0;
    virtual void visit(Visitor& v) = 0;
  };
  template <class Part>
  struct Holder final : Held {
    explicit Holder(Part p) : part(std::move(p)) {}
    std::unique_ptr<Held> clone() const override { return std::make_unique<Holder>(part); }
    Tensor call(Args... args) const override { return part(args...); }
    void visit(Visitor& v) override { visit_part(part, v); }
    Part part;
  };
  std::unique_ptr<Held> held_;
};

}  // namespace detail

/// Any score, chosen at run time.
using AnyScore = detail::AnyPart<Tensor(const Tensor&, const Tensor&)>;

/// The score of a name among score_names(); `hidden` is the width inside `additive` and the rank of
/// `low_rank`. Error for another name.
AnyScore make_score(const std::string& name, int64_t query_dim, int64_t key_dim, int64_t hidden);
const std::vector<std::string>& score_names();

}  // namespace heed
