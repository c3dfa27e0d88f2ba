#include "tensor/kernels/attention.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"
#include "tensor/kernels/reduce.h"

// With scores s_ij = scale q_i . k_j + bias_ij, weights p_ij = exp(s_ij) / sum_j exp(s_ij) and y_i = sum_j
// p_ij v_j, the matrix of weights costs memory, Tq Tk numbers, and time, because each pass over it goes
// through memory. Here it is computed in tiles of kRows queries and kColumns keys, which stay in the cache:
// memory is linear in Tq + Tk, and a tile in which no key may be attended to costs nothing.
//
//                     keys j
//               +-----------+-----------+-----------+
//   queries i   |  tile  -> |  ->       |           |    a thread processes a strip of kRows queries,
//               +-----------+-----------+-----------+    tile by tile; when causal, no further than
//               |           |           |           |    the diagonal
//               +-----------+-----------+-----------+
//
// The softmax of a row whose scores arrive tile by tile (Milakov and Gimelshein 2018; Dao and others 2022)
// keeps the largest score m so far, and relative to it the sum and the weighted values:
//
//   m' = max(m, max_j s_j)
//   l' = l exp(m - m') + sum_j exp(s_j - m')
//   y' = y exp(m - m') + sum_j exp(s_j - m') v_j       and in the end y / l
//
// The gradient recomputes the tiles from log_total_i = m_i + log l_i, without a search for the maximum:
//
//   p_ij = exp(s_ij - log_total_i)
//   dv_j = sum_i p_ij g_i
//   ds_ij = scale p_ij (g_i . v_j - g_i . y_i)         since sum_j p_ij g_i . v_j = g_i . y_i
//   dq_i = sum_j ds_ij k_j,   dk_j = sum_i ds_ij q_i
//
// Dropout multiplies p_ij, after it has been added to l, by a factor f_ij that each pass draws again:
//
//   y_i = sum_j p_ij f_ij v_j,   dv_j = sum_i p_ij f_ij g_i
//   ds_ij = scale p_ij (f_ij g_i . v_j - g_i . y_i)
namespace heed::kernel {
namespace {

constexpr int64_t kRows = 128, kColumns = 512;

// Counts products of [Tq, n] and [n, Tk] in every head, where the n add up to `width`. Returns the number of
// multiplications in one head.
double count_products(const AttentionSizes& sizes, int64_t width) {
  const double per_head =
      static_cast<double>(sizes.Tq) * static_cast<double>(sizes.Tk) * static_cast<double>(width);
  product_flops() += static_cast<int64_t>(2 * static_cast<double>(sizes.heads) * per_head);
  return per_head;
}

// Calls f(head, part, memory) for all parts of all heads. Threads share them. `work` is the number of
// multiplications in a head; the memory holds a strip of queries and `tiles` tiles.
template <class T, class F>
void each_part(const AttentionSizes& sizes, int64_t parts, double work, int64_t tiles, const F& f) {
  const Shape shape{std::min(kRows, sizes.Tq), sizes.D + tiles * std::min(kColumns, sizes.Tk)};
  const int64_t block = products_per_block(work / static_cast<double>(std::max<int64_t>(1, parts)));
  parallel_for(sizes.heads * parts, block, [&](int64_t begin, int64_t end) {
    const Tensor memory = Tensor::empty(shape, dtype_of<T>);
    for (int64_t task = begin; task < end; ++task) f(task / parts, task % parts, memory.mutable_data<T>());
  });
}

// x, or a copy if its rows are not dense.
Tensor with_dense_rows(const Tensor& x) {
  return x.size(-1) == 1 || x.strides().back() == 1 ? for_products(x) : contiguous(x);
}

template <class T>
void clear(const Matrix<T>& x, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) std::fill_n(x.at(r, 0), columns, T(0));
}

// The operands, which both passes read.
template <class T>
struct Inputs {
  const AttentionSizes& sizes;
  const AttentionRule& rule;
  const Tensor all_q, all_k, all_v;  // results of for_products()

  const Matrices<const T> q{all_q, sizes.lead, sizes.Tq, sizes.D};
  const Matrices<const T> k{all_k, sizes.lead, sizes.Tk, sizes.D};
  const Matrices<const T> v{all_v, sizes.lead, sizes.Tk, sizes.Dv};
  const Matrices<const T> bias{rule.bias, sizes.lead, sizes.Tq, sizes.Tk};
  const Matrices<const bool> allowed{rule.allowed, sizes.lead, sizes.Tq, sizes.Tk};
  const T scale = static_cast<T>(rule.scale);

  // The number of queries in the strip from i on.
  int64_t rows(int64_t i) const { return std::min(kRows, sizes.Tq - i); }
  // How many of the tile's keys its query r may attend to by its position.
  int64_t seen(const Tile& t, int64_t r) const {
    return std::clamp<int64_t>(rule.past + t.i + r + 1 - t.j, 0, t.columns);
  }

  // Calls f(tile, scores) for the tiles of the strip of queries from i on, up to the last key that one of
  // them may attend to. Tiles in which no key may be attended to are skipped. The memory holds the strip,
  // scaled, which costs less than to scale the scores; the scores; and then what f puts there.
  template <class F>
  void each_tile(int64_t head, int64_t i, T* memory, const F& f) const {
    const Matrix<T> scaled{memory, sizes.D, 1};
    const Matrix<const T> q_i = q[head].block(i, 0);
    for (int64_t r = 0; r < rows(i); ++r)
      for (int64_t d = 0; d < sizes.D; ++d) *scaled.at(r, d) = scale * *q_i.at(r, d);
    const int64_t keys = std::min(sizes.Tk, rule.past + i + rows(i));
    for (int64_t j = 0; j < keys; j += kColumns) {
      const Tile t{i, rows(i), j, std::min(kColumns, keys - j)};
      const Matrix<T> s{scaled.at(t.rows, 0), t.columns, 1};
      if (any_allowed(head, t)) f(t, scores(head, t, scaled, s));
    }
  }

  bool any_allowed(int64_t head, const Tile& t) const {
    const Matrix<const bool> a = allowed[head].block(t.i, t.j);
    for (int64_t r = 0; r < (a.row_step == 0 ? 1 : t.rows); ++r)
      for (int64_t c = 0; c < (a.col_step == 0 ? 1 : t.columns); ++c)
        if (!a.data || *a.at(r, c)) return true;
    return false;
  }

  // s = the scores of the tile, -inf for keys that may not be attended to
  const Matrix<T>& scores(int64_t head, const Tile& t, const Matrix<T>& scaled, const Matrix<T>& s) const {
    const Matrix<const bool> a = allowed[head].block(t.i, t.j);
    const Matrix<const T> b = bias[head].block(t.i, t.j);
    gemm_tile<T>(t.rows, t.columns, sizes.D, 1, scaled, k[head].block(t.j, 0).transposed(), {}, s);
    for (int64_t r = 0; r < t.rows; ++r) {
      T* row = s.at(r, 0);
      if (b.data)
        for (int64_t c = 0; c < t.columns; ++c) row[c] += *b.at(r, c);
      if (a.data != nullptr)
        for (int64_t c = 0; c < t.columns; ++c) row[c] = *a.at(r, c) ? row[c] : minus_infinity<T>;
      std::fill(row + seen(t, r), row + t.columns, minus_infinity<T>);
    }
    return s;
  }

  // The factors of dropout for the tile's weights; null without dropout. They are drawn together if the rows
  // of the tile are whole.
  const T* factors(int64_t head, const Tile& t, T* memory) const {
    if (rule.dropout.p() == 0) return nullptr;
    const int64_t rows = t.columns == sizes.Tk ? 1 : t.rows, n = t.rows / rows * t.columns;
    for (int64_t r = 0; r < rows; ++r)
      rule.dropout.draw((head * sizes.Tq + t.i + r) * sizes.Tk + t.j, n, memory + r * n);
    return memory;
  }
};

// The softmax of one query's scores, which arrive tile by tile.
template <class T>
struct RunningSoftmax {
  T max = minus_infinity<T>;
  double total = 0;

  // s = exp(s - max) for the next n scores. Returns the factor by which the earlier ones shrink.
  T update(int64_t n, T* s) {
    const T before = max;
    max = max_line(n, max, s);
    const T shift = shift_of(max);
    const double sum = exp_line(n, s, shift, s);
    const T shrink = math::exp(before - shift);
    total = total * static_cast<double>(shrink) + sum;
    return shrink;
  }
  // For a query that may attend to no key, y is 0 and exp(s - log_total) will be 0.
  T factor() const { return static_cast<T>(total == 0 ? 0 : 1 / total); }
  T log_total() const {
    return total == 0 ? std::numeric_limits<T>::infinity() : max + static_cast<T>(std::log(total));
  }
};

// y and log_totals of the strip of queries from i on.
template <class T>
void forward_strip(const Inputs<T>& in, int64_t head, int64_t i, T* memory, const Matrix<T>& y,
                   T* log_totals) {
  const int64_t rows = in.rows(i), Dv = in.sizes.Dv;
  RunningSoftmax<T> softmax[kRows];
  clear(y, rows, Dv);
  in.each_tile(head, i, memory, [&](const Tile& t, const Matrix<T>& p) {
    for (int64_t r = 0; r < rows; ++r) {
      // The sum is over the keys that are seen, so that its bits are those of a query without other keys.
      const int64_t seen = in.seen(t, r);
      const T shrink = softmax[r].update(seen, p.at(r, 0));
      std::fill(p.at(r, seen), p.at(r, t.columns), T(0));
      if (shrink != 1)
        for (int64_t c = 0; c < Dv; ++c) y.at(r, 0)[c] *= shrink;
    }
    if (const T* factors = in.factors(head, t, p.at(rows, 0))) {
      HEED_VECTORIZE
      for (int64_t c = 0; c < rows * t.columns; ++c) p.data[c] *= factors[c];
    }
    gemm_tile<T>(rows, Dv, t.columns, 1, p, in.v[head].block(t.j, 0), y, y);
  });
  for (int64_t r = 0; r < rows; ++r) {
    const T factor = softmax[r].factor();
    for (int64_t c = 0; c < Dv; ++c) y.at(r, 0)[c] *= factor;
    log_totals[r] = softmax[r].log_total();
  }
}

// One query: turns its scores p into weights, times their factors if there are any, and ds from g . v_j into
// the gradient of the scores.
template <class T>
void score_gradients(int64_t n, T scale, T log_total, T gy, const T* factors, T* p, T* ds) {
  const auto run = [=](auto factor) {
    HEED_VECTORIZE
    for (int64_t c = 0; c < n; ++c) {
      const T weight = math::exp(p[c] - log_total), f = factor(c);
      p[c] = f * weight;
      ds[c] = scale * weight * (f * ds[c] - gy);
    }
  };
  factors ? run([factors](int64_t c) { return factors[c]; }) : run([](int64_t) { return T(1); });
}

// The second pass: the operands, the incoming gradient, the results of the first pass, and dq.
template <class T>
struct Backward {
  const Inputs<T>& in;
  const Matrices<const T> g, y;
  const Matrix<const T> log_totals;  // [heads, Tq]
  const Matrices<T> dq;

  // dq of the strip of queries from i on. Adds its parts to dk and dv of the head.
  void strip(int64_t head, int64_t i, T* memory, const Matrix<T>& dk, const Matrix<T>& dv) const {
    const int64_t rows = in.rows(i), D = in.sizes.D, Dv = in.sizes.Dv;
    const Matrix<const T> q_i = in.q[head].block(i, 0), g_i = g[head].block(i, 0), y_i = y[head].block(i, 0);
    const Matrix<T> dq_i = dq[head].block(i, 0);
    T gy[kRows];  // g_i . y_i
    for (int64_t r = 0; r < rows; ++r)
      gy[r] = static_cast<T>(sum_line(Dv, std::multiplies<>(), g_i.at(r, 0), y_i.at(r, 0)));
    clear(dq_i, rows, D);
    in.each_tile(head, i, memory, [&](const Tile& t, const Matrix<T>& p) {
      const Matrix<T> ds{p.at(rows, 0), t.columns, 1};
      const Matrix<const T> k_j = in.k[head].block(t.j, 0), v_j = in.v[head].block(t.j, 0);
      const Matrix<T> dk_j = dk.block(t.j, 0), dv_j = dv.block(t.j, 0);
      gemm_tile<T>(rows, t.columns, Dv, 1, g_i, v_j.transposed(), {}, ds);
      const T* factors = in.factors(head, t, ds.at(rows, 0));
      for (int64_t r = 0; r < rows; ++r)
        score_gradients(t.columns, in.scale, *log_totals.at(head, i + r), gy[r],
                        factors ? factors + r * t.columns : nullptr, p.at(r, 0), ds.at(r, 0));
      gemm_tile<T>(t.columns, Dv, rows, 1, p.transposed(), g_i, dv_j, dv_j);
      gemm_tile<T>(t.columns, D, rows, 1, ds.transposed(), q_i, dk_j, dk_j);
      gemm_tile<T>(rows, D, t.columns, 1, ds, k_j, dq_i, dq_i);
    });
  }
};

}  // namespace

AttentionSizes::AttentionSizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule)
    : Tq(q.size(-2)), Tk(k.size(-2)), D(q.size(-1)), Dv(v.size(-1)) {
  for (const Tensor& x : {q, k, v, rule.allowed, rule.bias})
    if (x.defined() && x.dim() > 2) lead = broadcast_shapes(lead, leading(x));
  heads = numel(lead);
}

Shape AttentionSizes::shape(int64_t rows, int64_t columns) const { return matrix_shape(lead, rows, columns); }

AttentionResult attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule) {
  if (reference_mode()) return plain::attention(q, k, v, rule);
  const AttentionSizes sizes(q, k, v, rule);
  const double work = count_products(sizes, sizes.D + sizes.Dv);
  AttentionResult out{empty_like_rows(sizes.shape(sizes.Tq, sizes.Dv), q),
                      Tensor::empty({sizes.heads, sizes.Tq}, q.dtype())};
  visit_floating(q.dtype(), [&]<class T>(Type<T>) {
    const Inputs<T> in{sizes, rule, for_products(q), for_products(k), for_products(v)};
    const Matrices<T> y(out.y);
    const Matrix<T> log_totals = Matrices<T>(out.log_totals)[0];
    each_part<T>(sizes, ceil_div(sizes.Tq, kRows), work, rule.dropout.p() > 0 ? 2 : 1,
                 [&](int64_t head, int64_t strip, T* memory) {
                   const int64_t i = strip * kRows;
                   forward_strip(in, head, i, memory, y[head].block(i, 0), log_totals.at(head, i));
                 });
  });
  return out;
}

// The gradient of a key is a sum over all queries. So that threads share the work of few heads too, the
// strips of queries are distributed among a number of shares that depends on the sizes alone. Each share
// computes its own dk and dv, and they are added in order: see Note [Same bits] in tensor/parallel.h.
AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionRule& rule, const AttentionResult& forward) {
  if (reference_mode()) return plain::attention_backward(g, q, k, v, rule, forward);
  const AttentionSizes sizes(q, k, v, rule);
  const double work = count_products(sizes, 2 * (sizes.D + sizes.Dv) + sizes.D);
  const int64_t heads = sizes.heads, Tk = sizes.Tk, strips = ceil_div(sizes.Tq, kRows);
  const int64_t shares = std::max<int64_t>(1, std::min(8 / std::max<int64_t>(1, heads), strips));
  const auto empty_shares = [&](int64_t columns, const Tensor& x) {
    Shape shape = sizes.shape(Tk, columns);
    if (shares > 1) shape.insert(0, shares);
    return empty_like_rows(shape, x);
  };
  const Tensor dense_g = with_dense_rows(g), y = with_dense_rows(forward.y);
  const Tensor dq = empty_like_rows(sizes.shape(sizes.Tq, sizes.D), q);
  const Tensor all_dk = empty_shares(sizes.D, k), all_dv = empty_shares(sizes.Dv, v);

  visit_floating(q.dtype(), [&]<class T>(Type<T>) {
    const Inputs<T> in{sizes, rule, for_products(q), for_products(k), for_products(v)};
    const Backward<T> backward{in, Matrices<const T>(dense_g, sizes.lead, sizes.Tq, sizes.Dv),
                               Matrices<const T>(y, sizes.lead, sizes.Tq, sizes.Dv),
                               Matrices<const T>(forward.log_totals)[0], Matrices<T>(dq)};
    const Matrices<T> dks(all_dk), dvs(all_dv);
    each_part<T>(sizes, shares, work, rule.dropout.p() > 0 ? 3 : 2,
                 [&](int64_t head, int64_t share, T* memory) {
                   const Matrix<T> dk = dks[share * heads + head], dv = dvs[share * heads + head];
                   clear(dk, Tk, sizes.D);
                   clear(dv, Tk, sizes.Dv);
                   for (int64_t strip = share; strip < strips; strip += shares)
                     backward.strip(head, strip * kRows, memory, dk, dv);
                 });
  });
  const auto joined = [&](const Tensor& parts) { return shares > 1 ? sum(parts, {0}, false) : parts; };
  return {dq, joined(all_dk), joined(all_dv)};
}

}  // namespace heed::kernel
