#include "tensor/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/lines.h"
#include "tensor/kernels/math.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/reduce.h"

// With scores s_ij = scale q_i . k_j + bias_ij, weights p_ij = exp(s_ij) / sum_j exp(s_ij) and y_i = sum_j
// p_ij v_j, the matrix of weights is what costs memory, Tq Tk numbers, and time, because each of its passes
// goes through memory. Here it comes and goes in tiles of kRows queries and kColumns keys, which stay in the
// cache: memory is linear in Tq + Tk, and a tile that may not be attended to costs nothing.
//
// The softmax of a row whose scores arrive tile after tile (Milakov and Gimelshein 2018; Dao and others 2022)
// keeps the largest score m so far, and relative to it the sum and the weighted values:
//
//   m' = max(m, max_j s_j)
//   l' = l exp(m - m') + sum_j exp(s_j - m')
//   y' = y exp(m - m') + sum_j exp(s_j - m') v_j       and in the end y / l
//
// The gradient computes the tiles again, from log_total_i = m_i + log l_i, with no maximum to look for:
//
//   p_ij = exp(s_ij - log_total_i)
//   dv_j = sum_i p_ij g_i
//   ds_ij = p_ij (g_i . v_j - g_i . y_i)               since sum_j p_ij g_i . v_j = g_i . y_i
//   dq_i = scale sum_j ds_ij k_j,   dk_j = scale sum_i ds_ij q_i
namespace heed::kernel {
namespace {

constexpr int64_t kRows = 128, kColumns = 512;
constexpr double kWorth = 1 << 20;  // multiplications that pay for waking a thread

// The number of heads, which is what each matrix of the leading dimensions is called here, and the sizes.
struct Sizes {
  Shape lead, result;  // [...] and [..., Tq, Dv]
  int64_t heads, Tq, Tk, D, Dv;
  int64_t row_tiles;

  Sizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule)
      : Tq(q.size(-2)), Tk(k.size(-2)), D(q.size(-1)), Dv(v.size(-1)), row_tiles((Tq + kRows - 1) / kRows) {
    for (const Tensor& x : {q, k, v, rule.allowed, rule.bias})
      if (x.defined() && x.dim() > 2)
        lead = broadcast_shapes("attention", lead, Shape(x.shape().data(), x.dim() - 2));
    heads = numel(lead);
    result = shape(Tq, Dv);
  }
  Shape shape(int64_t rows, int64_t columns) const {
    Shape all = lead;
    for (const int64_t size : {rows, columns}) all.push_back(size);
    return all;
  }
  double products() const {
    return static_cast<double>(Tq) * static_cast<double>(Tk) * static_cast<double>(D + Dv);
  }
};

// All matrices of a tensor whose leading dimensions broadcast to the result's.
template <class T>
struct Matrices {
  Matrix<const T> first{nullptr, 0, 0};
  Shape lead;
  Strides steps;

  Matrices(const Tensor& x, const Shape& result) {
    if (!x.defined()) return;
    first = {x.data<T>(), tail_step(x, 2), tail_step(x, 1)};
    lead = Shape(result.data(), result.dim() - 2);
    steps = lead_steps(x, result);
  }
  Matrix<const T> operator[](int64_t head) const {
    Matrix<const T> one = first;
    for (int64_t d = lead.dim() - 1; d >= 0; head /= lead[d--]) one.data += head % lead[d] * steps[d];
    return one;
  }
};

// A matrix for BLAS: its own steps, also where a size is 1.
template <class T>
Matrices<T> dense_matrices(const Tensor& x, const Shape& result) {
  Matrices<T> all(x, result);
  all.first.row_step = x.strides()[x.dim() - 2];
  all.first.col_step = x.strides()[x.dim() - 1];
  return all;
}

struct Tile {
  int64_t i, rows, j, columns;
};

// Calls f(tile) for the tiles of keys that the queries from `i` on may attend to by their positions.
template <class F>
void each_tile(const Sizes& sizes, bool causal, int64_t i, const F& f) {
  const int64_t rows = std::min(kRows, sizes.Tq - i);
  const int64_t seen = causal ? std::min(sizes.Tk, i + rows) : sizes.Tk;
  for (int64_t j = 0; j < seen; j += kColumns) f(Tile{i, rows, j, std::min(kColumns, seen - j)});
}

template <class T>
class Scores {
 public:
  Scores(const Sizes& sizes, const Tensor& q, const Tensor& k, const AttentionRule& rule)
      : q_(dense_matrices<T>(q, sizes.result)),
        k_(dense_matrices<T>(k, sizes.result)),
        bias_(rule.bias, sizes.result),
        allowed_(rule.allowed, sizes.result),
        D_(sizes.D),
        scale_(static_cast<T>(rule.scale)),
        causal_(rule.causal) {}

  // s = the scores of the tile, -inf where it may not be attended to. False, and no s, if that is everywhere.
  bool operator()(int64_t head, const Tile& t, const Matrix<T>& s) const {
    const Matrix<const bool> allowed = allowed_[head];
    if (allowed.data != nullptr && !any(allowed, t)) return false;
    multiply<T>(t.rows, t.columns, D_, scale_, q_[head].from(t.i, 0), k_[head].from(t.j, 0).transposed(),
                T(0), s);
    const Matrix<const T> bias = bias_[head];
    constexpr T none = -std::numeric_limits<T>::infinity();
    for (int64_t r = 0; r < t.rows; ++r) {
      T* row = s.at(r, 0);
      if (bias.data != nullptr) {
        const T* b = bias.at(t.i + r, t.j);
        for (int64_t c = 0; c < t.columns; ++c) row[c] += b[c * bias.col_step];
      }
      if (allowed.data != nullptr) {
        const bool* a = allowed.at(t.i + r, t.j);
        for (int64_t c = 0; c < t.columns; ++c) row[c] = a[c * allowed.col_step] ? row[c] : none;
      }
      if (causal_)
        for (int64_t c = std::max<int64_t>(0, t.i + r + 1 - t.j); c < t.columns; ++c) row[c] = none;
    }
    return true;
  }

 private:
  static bool any(const Matrix<const bool>& allowed, const Tile& t) {
    for (int64_t r = 0; r < (allowed.row_step == 0 ? 1 : t.rows); ++r)
      for (int64_t c = 0; c < (allowed.col_step == 0 ? 1 : t.columns); ++c)
        if (*allowed.at(t.i + r, t.j + c)) return true;
    return false;
  }

  Matrices<T> q_, k_, bias_;
  Matrices<bool> allowed_;
  int64_t D_;
  T scale_;
  bool causal_;
};

template <class T>
Tensor tile_memory(const Sizes& sizes, int64_t tiles) {
  return Tensor::empty({tiles, std::min(kRows, sizes.Tq), std::min(kColumns, sizes.Tk)}, dtype_of<T>);
}

// The queries i, i + 1, ... of one head: y and their log_totals.
template <class T>
void attend(const Sizes& sizes, const Scores<T>& scores, bool causal, const Matrices<T>& values, int64_t head,
            int64_t i, T* scratch, T* y, T* log_totals) {
  const int64_t rows = std::min(kRows, sizes.Tq - i), Dv = sizes.Dv;
  T most[kRows];
  double total[kRows];
  std::fill_n(most, rows, -std::numeric_limits<T>::infinity());
  std::fill_n(total, rows, 0.0);
  bool started = false;
  each_tile(sizes, causal, i, [&](const Tile& t) {
    const Matrix<T> s{scratch, t.columns, 1};
    if (!scores(head, t, s)) return;
    for (int64_t r = 0; r < rows; ++r) {
      T* row = s.at(r, 0);
      const T now = join_line(
          t.columns, most[r], [](auto a, auto b) { return b > a ? b : a; }, [](auto x) { return x; }, row);
      const T shift = now == -std::numeric_limits<T>::infinity() ? 0 : now;  // else exp(-inf + inf)
      HEED_VECTORIZE
      for (int64_t c = 0; c < t.columns; ++c) row[c] = math::exp(row[c] - shift);
      const double sum = sum_line(
          t.columns, [](auto x) { return x; }, row);
      const T fade = math::exp(most[r] - shift);
      total[r] = total[r] * static_cast<double>(fade) + sum;
      most[r] = now;
      if (started && fade != 1)
        for (int64_t c = 0; c < Dv; ++c) y[r * Dv + c] *= fade;
    }
    multiply<T>(rows, Dv, t.columns, T(1), {s.data, s.row_step, 1}, values[head].from(t.j, 0),
                T(started ? 1 : 0), {y, Dv, 1});
    started = true;
  });
  for (int64_t r = 0; r < rows; ++r) {
    // A query that may attend to nothing: total and y are 0, and exp(s - inf) will be 0.
    const T over = static_cast<T>(total[r] == 0 ? 0 : 1 / total[r]);
    for (int64_t c = 0; c < Dv; ++c) y[r * Dv + c] = started ? y[r * Dv + c] * over : 0;
    log_totals[r] =
        total[r] == 0 ? std::numeric_limits<T>::infinity() : most[r] + static_cast<T>(std::log(total[r]));
  }
}

}  // namespace

Attended attention(const Tensor& strided_q, const Tensor& strided_k, const Tensor& strided_v,
                   const AttentionRule& rule) {
  const Sizes sizes(strided_q, strided_k, strided_v, rule);
  const Tensor q = for_blas(strided_q), k = for_blas(strided_k), v = for_blas(strided_v);
  product_flops() += static_cast<int64_t>(2 * static_cast<double>(sizes.heads) * sizes.products());
  Attended out{Tensor::empty(sizes.result, q.dtype()), Tensor::empty({sizes.heads, sizes.Tq}, q.dtype())};
  const double work = sizes.products() / static_cast<double>(std::max<int64_t>(1, sizes.row_tiles));
  visit_floating(q.dtype(), [&]<class T>(Type<T>) {
    const Scores<T> scores(sizes, q, k, rule);
    const Matrices<T> values = dense_matrices<T>(v, sizes.result);
    T *y = out.y.mutable_data<T>(), *log_totals = out.log_totals.mutable_data<T>();
    parallel_for(sizes.heads * sizes.row_tiles, static_cast<int64_t>(1 + kWorth / std::max(1.0, work)),
                 [&](int64_t begin, int64_t end) {
                   const Tensor memory = tile_memory<T>(sizes, 1);
                   T* scratch = memory.mutable_data<T>();
                   for (int64_t task = begin; task < end; ++task) {
                     const int64_t head = task / sizes.row_tiles, i = task % sizes.row_tiles * kRows;
                     const int64_t row = head * sizes.Tq + i;
                     attend(sizes, scores, rule.causal, values, head, i, scratch, y + row * sizes.Dv,
                            log_totals + row);
                   }
                 });
  });
  return out;
}

// Every key's gradient is a sum over all queries. So that threads share the work also when there are few
// heads, the tiles of queries are dealt to a number of piles that follows from the sizes; each pile makes its
// own dk and dv, and they are added in order: see Note [Same bits].
AttentionGradients attention_backward(const Tensor& strided_g, const Tensor& strided_q,
                                      const Tensor& strided_k, const Tensor& strided_v,
                                      const AttentionRule& rule, const Attended& forward) {
  const Sizes sizes(strided_q, strided_k, strided_v, rule);
  const Tensor q = for_blas(strided_q), k = for_blas(strided_k), v = for_blas(strided_v);
  const Tensor g = contiguous(strided_g), y = contiguous(forward.y);
  const int64_t heads = sizes.heads, Tq = sizes.Tq, Tk = sizes.Tk, D = sizes.D, Dv = sizes.Dv;
  product_flops() +=
      static_cast<int64_t>(2 * static_cast<double>(heads) *
                           (2 * sizes.products() + static_cast<double>(Tq) * static_cast<double>(Tk * D)));
  const int64_t piles = std::clamp<int64_t>(std::min(sizes.row_tiles, 8 / std::max<int64_t>(1, heads)), 1, 8);
  const auto piled = [&](int64_t columns) {
    Shape shape = sizes.shape(Tk, columns);
    if (piles > 1) shape.insert(0, piles);
    return Tensor::empty(shape, q.dtype());
  };
  const Tensor dq = Tensor::empty(sizes.shape(Tq, D), q.dtype()), dk = piled(D), dv = piled(Dv);
  const double work = sizes.products() / static_cast<double>(piles);

  visit_floating(q.dtype(), [&]<class T>(Type<T>) {
    const Scores<T> scores(sizes, q, k, rule);
    const Matrices<T> queries = dense_matrices<T>(q, sizes.result), keys = dense_matrices<T>(k, sizes.result),
                      values = dense_matrices<T>(v, sizes.result);
    const T *all_g = g.data<T>(), *all_y = y.data<T>(), *log_totals = forward.log_totals.data<T>();
    T *to_q = dq.mutable_data<T>(), *to_k = dk.mutable_data<T>(), *to_v = dv.mutable_data<T>();

    const auto differentiate = [&](int64_t head, int64_t i, T* scratch, T* dk_head, T* dv_head) {
      const int64_t rows = std::min(kRows, Tq - i), first = head * Tq + i;
      const Matrix<const T> g_i{all_g + first * Dv, Dv, 1};
      const T *y_i = all_y + first * Dv, *totals = log_totals + first;
      const Matrix<T> dq_i{to_q + first * D, D, 1};
      T along[kRows];  // g_i . y_i
      for (int64_t r = 0; r < rows; ++r)
        along[r] = static_cast<T>(sum_line(
            Dv, [](auto a, auto b) { return a * b; }, g_i.at(r, 0), y_i + r * Dv));
      bool started = false;
      each_tile(sizes, rule.causal, i, [&](const Tile& t) {
        const Matrix<T> p{scratch, t.columns, 1}, ds{scratch + rows * t.columns, t.columns, 1};
        const Matrix<const T> p_read{p.data, t.columns, 1}, ds_read{ds.data, t.columns, 1};
        if (!scores(head, t, p)) return;
        multiply<T>(rows, t.columns, Dv, T(1), g_i, values[head].from(t.j, 0).transposed(), T(0), ds);
        for (int64_t r = 0; r < rows; ++r) {
          T *p_row = p.at(r, 0), *ds_row = ds.at(r, 0);
          const T total = totals[r], mean = along[r];
          HEED_VECTORIZE
          for (int64_t c = 0; c < t.columns; ++c) {
            p_row[c] = math::exp(p_row[c] - total);
            ds_row[c] = p_row[c] * (ds_row[c] - mean);
          }
        }
        const T scale = static_cast<T>(rule.scale);
        multiply<T>(t.columns, Dv, rows, T(1), p_read.transposed(), g_i, T(1), {dv_head + t.j * Dv, Dv, 1});
        multiply<T>(t.columns, D, rows, scale, ds_read.transposed(), queries[head].from(i, 0), T(1),
                    {dk_head + t.j * D, D, 1});
        multiply<T>(rows, D, t.columns, scale, ds_read, keys[head].from(t.j, 0), T(started ? 1 : 0), dq_i);
        started = true;
      });
      if (!started) std::fill_n(dq_i.data, rows * D, T(0));
    };

    parallel_for(heads * piles, static_cast<int64_t>(1 + kWorth / std::max(1.0, work)),
                 [&](int64_t begin, int64_t end) {
                   const Tensor memory = tile_memory<T>(sizes, 2);
                   T* scratch = memory.mutable_data<T>();
                   for (int64_t task = begin; task < end; ++task) {
                     const int64_t head = task / piles, pile = task % piles;
                     const int64_t place = (pile * heads + head) * Tk;
                     T *dk_head = to_k + place * D, *dv_head = to_v + place * Dv;
                     std::fill_n(dk_head, Tk * D, T(0));
                     std::fill_n(dv_head, Tk * Dv, T(0));
                     for (int64_t tile = pile; tile < sizes.row_tiles; tile += piles)
                       differentiate(head, tile * kRows, scratch, dk_head, dv_head);
                   }
                 });
  });
  return {dq, piles > 1 ? sum(dk, {0}, false) : dk, piles > 1 ? sum(dv, {0}, false) : dv};
}

}  // namespace heed::kernel
