#include "tensor/kernels/attention.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/reduce.h"

// With scores s_ij = scale q_i . k_j + bias_ij, weights p_ij = exp(s_ij) / sum_j exp(s_ij) and y_i = sum_j
// p_ij v_j, the matrix of weights is what costs memory, Tq Tk numbers, and time, because each of its passes
// goes through memory. Here it comes and goes in tiles of kRows queries and kColumns keys, which stay in the
// cache: memory is linear in Tq + Tk, and a tile that may not be attended to costs nothing.
//
//                     keys j
//               +-----------+-----------+-----------+
//   queries i   |  tile  -> |  ->       |           |    a thread takes a strip of kRows queries and
//               +-----------+-----------+-----------+    walks it from tile to tile; when causal,
//               |           |           |           |    no further than the diagonal
//               +-----------+-----------+-----------+
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
//   ds_ij = scale p_ij (g_i . v_j - g_i . y_i)         since sum_j p_ij g_i . v_j = g_i . y_i
//   dq_i = sum_j ds_ij k_j,   dk_j = sum_i ds_ij q_i
//
// Dropout multiplies p_ij, after it has been counted in l, by a factor f_ij that each pass draws again:
//
//   y_i = sum_j p_ij f_ij v_j,   dv_j = sum_i p_ij f_ij g_i,   ds_ij = scale p_ij (f_ij g_i . v_j - g_i .
//   y_i)
namespace heed::kernel {
namespace {

constexpr int64_t kRows = 128, kColumns = 512;

// Each matrix of the leading dimensions is called a head here.
struct Sizes {
  Shape lead;  // [...] of the result
  int64_t heads = 1, Tq, Tk, D, Dv;
  int64_t strips = (Tq + kRows - 1) / kRows;  // of queries, in a head

  Sizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule)
      : Tq(q.size(-2)), Tk(k.size(-2)), D(q.size(-1)), Dv(v.size(-1)) {
    for (const Tensor& x : {q, k, v, rule.allowed, rule.bias})
      if (x.defined() && x.dim() > 2) lead = broadcast_shapes(lead, leading(x));
    heads = numel(lead);
  }
  Shape shape(int64_t rows, int64_t columns) const { return matrix_shape(lead, rows, columns); }
  // Counts products of [Tq, n] and [n, Tk] in every head, n being `width` in all, and returns how many
  // multiplications they are in one head.
  double count_products(int64_t width) const {
    const double all = static_cast<double>(Tq) * static_cast<double>(Tk) * static_cast<double>(width);
    product_flops() += static_cast<int64_t>(2 * static_cast<double>(heads) * all);
    return all;
  }
};

// Calls f(head, part, memory) for all parts of all heads, shared among threads. The work is the
// multiplications of a head, and there is memory for a strip of queries and so many tiles.
template <class T, class F>
void each_part(const Sizes& sizes, int64_t parts, double work, int64_t tiles, const F& f) {
  const Shape shape{std::min(kRows, sizes.Tq), sizes.D + tiles * std::min(kColumns, sizes.Tk)};
  const int64_t at_once = products_per_block(work / static_cast<double>(std::max<int64_t>(1, parts)));
  parallel_for(sizes.heads * parts, at_once, [&](int64_t begin, int64_t end) {
    const Tensor memory = Tensor::empty(shape, dtype_of<T>);
    for (int64_t task = begin; task < end; ++task) f(task / parts, task % parts, memory.mutable_data<T>());
  });
}

// Memory for [..., columns] whose rows lie in the order of x's: heads that are a view of [B, T, H D] go in
// and come out without a copy.
Tensor empty_like_rows(const Shape& shape, const Tensor& x) {
  Tensor memory = Tensor::empty(shape, x.dtype());
  if (x.dim() != shape.dim()) return memory;
  Shape order = check_dims(shape.dim() - 1, {});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return x.strides()[a] < x.strides()[b]; });
  Strides strides = memory.strides();
  int64_t step = shape.back();
  for (const int64_t d : order) {
    strides[d] = step;
    step *= shape[d];
  }
  return TensorImpl::view(memory, shape, strides);
}

// x, whose rows multiply() and loops can read.
Tensor by_rows(const Tensor& x) {
  return x.size(-1) == 1 || x.strides().back() == 1 ? for_products(x) : contiguous(x);
}

template <class T>
void clear(const Matrix<T>& x, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) std::fill_n(x.at(r, 0), columns, T(0));
}

// The operands, which both passes read.
template <class T>
struct Inputs {
  const Sizes& sizes;
  const AttentionRule& rule;
  const Tensor all_q, all_k, all_v;  // as for_products() makes them

  const Matrices<const T> q{all_q, sizes.lead, sizes.Tq, sizes.D};
  const Matrices<const T> k{all_k, sizes.lead, sizes.Tk, sizes.D};
  const Matrices<const T> v{all_v, sizes.lead, sizes.Tk, sizes.Dv};
  const Matrices<const T> bias{rule.bias, sizes.lead, sizes.Tq, sizes.Tk};
  const Matrices<const bool> allowed{rule.allowed, sizes.lead, sizes.Tq, sizes.Tk};
  const T scale = static_cast<T>(rule.scale);

  // Calls f(tile) for the tiles of the strip of queries from i on, up to the last key that one of them may
  // attend to by its position.
  template <class F>
  void each_tile(int64_t i, const F& f) const {
    const int64_t rows = std::min(kRows, sizes.Tq - i);
    const int64_t keys = std::min(sizes.Tk, rule.past + i + rows);
    for (int64_t j = 0; j < keys; j += kColumns) f(Tile{i, rows, j, std::min(kColumns, keys - j)});
  }

  // scale q for the strip of queries from i on, in the memory given: less than to scale their scores.
  Matrix<T> scaled_queries(int64_t head, int64_t i, T* memory) const {
    const Matrix<T> scaled{memory, sizes.D, 1};
    const Matrix<const T> from = q[head].from(i, 0);
    for (int64_t r = 0; r < std::min(kRows, sizes.Tq - i); ++r)
      for (int64_t d = 0; d < sizes.D; ++d) *scaled.at(r, d) = scale * *from.at(r, d);
    return scaled;
  }

  // s = the scores of the tile, -inf where it may not be attended to. False, and no s, if that is everywhere.
  bool scores(int64_t head, const Tile& t, const Matrix<T>& scaled, const Matrix<T>& s) const {
    const Matrix<const bool> a = allowed[head].from(t.i, t.j);
    const Matrix<const T> b = bias[head].from(t.i, t.j);
    if (a.data != nullptr && !any(a, t)) return false;
    multiply<T>(t.rows, t.columns, sizes.D, 1, scaled, k[head].from(t.j, 0).transposed(), {}, s);
    for (int64_t r = 0; r < t.rows; ++r) {
      T* row = s.at(r, 0);
      if (b.data)
        for (int64_t c = 0; c < t.columns; ++c) row[c] += *b.at(r, c);
      if (a.data != nullptr)
        for (int64_t c = 0; c < t.columns; ++c) row[c] = *a.at(r, c) ? row[c] : minus_infinity<T>;
      for (int64_t c = seen(t, r); c < t.columns; ++c) row[c] = minus_infinity<T>;
    }
    return true;
  }

  // What dropout multiplies the tile's weights by, drawn at once where the rows of the tile are whole.
  const T* factors(int64_t head, const Tile& t, T* memory) const {
    const int64_t rows = t.columns == sizes.Tk ? 1 : t.rows, n = t.rows / rows * t.columns;
    for (int64_t r = 0; r < rows; ++r)
      rule.dropout.draw((head * sizes.Tq + t.i + r) * sizes.Tk + t.j, n, memory + r * n);
    return memory;
  }

  // How many of the tile's keys its query r may attend to by its position.
  int64_t seen(const Tile& t, int64_t r) const {
    return std::clamp<int64_t>(rule.past + t.i + r + 1 - t.j, 0, t.columns);
  }

  static bool any(const Matrix<const bool>& a, const Tile& t) {
    for (int64_t r = 0; r < (a.row_step == 0 ? 1 : t.rows); ++r)
      for (int64_t c = 0; c < (a.col_step == 0 ? 1 : t.columns); ++c)
        if (*a.at(r, c)) return true;
    return false;
  }
};

// The softmax of one query's scores, which arrive tile after tile.
template <class T>
struct RunningSoftmax {
  T most;
  double total;

  // s = exp(s - most) for the next n scores. Returns by what factor all that came before shrinks.
  T take(int64_t n, T* s) {
    const T before = most;
    most = max_line(n, most, s);
    const T shift = shift_of(most);
    const double sum = exp_line(n, s, shift, s);
    const T fade = math::exp(before - shift);
    total = total * static_cast<double>(fade) + sum;
    return fade;
  }
  // Where nothing may be attended to: y is 0, and exp(s - log_total) will be 0.
  T factor() const { return static_cast<T>(total == 0 ? 0 : 1 / total); }
  T log_total() const {
    return total == 0 ? std::numeric_limits<T>::infinity() : most + static_cast<T>(std::log(total));
  }
};

// The strip of queries from i on: y and their log_totals.
template <class T>
void attend(const Inputs<T>& in, int64_t head, int64_t i, T* memory, const Matrix<T>& y, T* log_totals) {
  const int64_t rows = std::min(kRows, in.sizes.Tq - i), Dv = in.sizes.Dv;
  RunningSoftmax<T> softmax[kRows];
  std::fill_n(softmax, rows, RunningSoftmax<T>{minus_infinity<T>, 0});
  const Matrix<T> q_i = in.scaled_queries(head, i, memory);
  bool started = false;
  in.each_tile(i, [&](const Tile& t) {
    const Matrix<T> p{q_i.at(rows, 0), t.columns, 1};
    if (!in.scores(head, t, q_i, p)) return;
    for (int64_t r = 0; r < rows; ++r) {
      // The sum is over the keys that are seen, so that its bits are those of a query with no others.
      const int64_t seen = in.seen(t, r);
      const T fade = softmax[r].take(seen, p.at(r, 0));
      std::fill(p.at(r, seen), p.at(r, t.columns), T(0));
      if (started && fade != 1)
        for (int64_t c = 0; c < Dv; ++c) y.at(r, 0)[c] *= fade;
    }
    if (in.rule.dropout.p() > 0) {
      const T* f = in.factors(head, t, p.at(rows, 0));
      HEED_VECTORIZE
      for (int64_t c = 0; c < rows * t.columns; ++c) p.data[c] *= f[c];
    }
    multiply<T>(rows, Dv, t.columns, 1, p, in.v[head].from(t.j, 0), started ? y : Matrix<T>{}, y);
    started = true;
  });
  for (int64_t r = 0; r < rows; ++r) {
    const T factor = softmax[r].factor();
    for (int64_t c = 0; c < Dv; ++c) y.at(r, 0)[c] = started ? y.at(r, 0)[c] * factor : 0;
    log_totals[r] = softmax[r].log_total();
  }
}

// The second pass: the operands, the caller's g, the results of the first one, and dq.
template <class T>
struct Backward {
  const Inputs<T>& in;
  Matrices<const T> g, y;
  Matrix<const T> log_totals;  // [heads, Tq]
  Matrices<T> dq;

  // The strip of queries from i on: their dq, and what they add to dk and dv of their head.
  void strip(int64_t head, int64_t i, T* memory, const Matrix<T>& dk, const Matrix<T>& dv) const {
    const int64_t rows = std::min(kRows, in.sizes.Tq - i), D = in.sizes.D, Dv = in.sizes.Dv;
    const Matrix<const T> q_i = in.q[head].from(i, 0), g_i = g[head].from(i, 0), y_i = y[head].from(i, 0);
    const Matrix<T> dq_i = dq[head].from(i, 0), scaled = in.scaled_queries(head, i, memory);
    const T* log_total = log_totals.at(head, i);
    T mean[kRows];  // g_i . y_i
    for (int64_t r = 0; r < rows; ++r)
      mean[r] = static_cast<T>(sum_line(Dv, times, g_i.at(r, 0), y_i.at(r, 0)));
    bool started = false;
    in.each_tile(i, [&](const Tile& t) {
      const Matrix<T> p{scaled.at(rows, 0), t.columns, 1}, ds{p.at(rows, 0), t.columns, 1};
      const Matrix<const T> k_j = in.k[head].from(t.j, 0), v_j = in.v[head].from(t.j, 0);
      if (!in.scores(head, t, scaled, p)) return;
      multiply<T>(rows, t.columns, Dv, 1, g_i, v_j.transposed(), {}, ds);
      const bool drops = in.rule.dropout.p() > 0;
      const T* f = drops ? in.factors(head, t, ds.at(rows, 0)) : nullptr;
      for (int64_t r = 0; r < rows; ++r)
        score_gradients(t.columns, in.scale, log_total[r], mean[r], drops ? f + r * t.columns : nullptr,
                        p.at(r, 0), ds.at(r, 0));
      multiply<T>(t.columns, Dv, rows, 1, Matrix<const T>(p).transposed(), g_i, dv.from(t.j, 0),
                  dv.from(t.j, 0));
      multiply<T>(t.columns, D, rows, 1, Matrix<const T>(ds).transposed(), q_i, dk.from(t.j, 0),
                  dk.from(t.j, 0));
      multiply<T>(rows, D, t.columns, 1, ds, k_j, started ? dq_i : Matrix<T>{}, dq_i);
      started = true;
    });
    if (!started) clear(dq_i, rows, D);
  }

  // Of one query, p: its scores become its weights, times their factors f if there are some, and ds: g . v_j
  // becomes the gradient of the scores.
  static void score_gradients(int64_t n, T scale, T log_total, T mean, const T* f, T* p, T* ds) {
    const auto run = [=](auto factor) {
      HEED_VECTORIZE
      for (int64_t c = 0; c < n; ++c) {
        const T weight = math::exp(p[c] - log_total), by = factor(c);
        p[c] = by * weight;
        ds[c] = scale * weight * (by * ds[c] - mean);
      }
    };
    f ? run([f](int64_t c) { return f[c]; }) : run([](int64_t) { return T(1); });
  }
};

}  // namespace

AttentionResult attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule) {
  const Sizes sizes(q, k, v, rule);
  const double work = sizes.count_products(sizes.D + sizes.Dv);
  AttentionResult out{empty_like_rows(sizes.shape(sizes.Tq, sizes.Dv), q),
                      Tensor::empty({sizes.heads, sizes.Tq}, q.dtype())};
  visit_floating(q.dtype(), [&]<class T>(Type<T>) {
    const Inputs<T> in{sizes, rule, for_products(q), for_products(k), for_products(v)};
    const Matrices<T> y(out.y);
    const Matrix<T> log_totals = Matrices<T>(out.log_totals)[0];
    each_part<T>(sizes, sizes.strips, work, rule.dropout.p() > 0 ? 2 : 1,
                 [&](int64_t head, int64_t strip, T* memory) {
                   const int64_t i = strip * kRows;
                   attend(in, head, i, memory, y[head].from(i, 0), log_totals.at(head, i));
                 });
  });
  return out;
}

// Every key's gradient is a sum over all queries. So that threads share the work also when there are few
// heads, the strips of queries are dealt out to a number of shares that follows from the sizes; each share
// makes its own dk and dv, and they are added in order: see Note [Same bits] in tensor/parallel.h.
AttentionGradients attention_backward(const Tensor& strided_g, const Tensor& q, const Tensor& k,
                                      const Tensor& v, const AttentionRule& rule,
                                      const AttentionResult& forward) {
  const Sizes sizes(q, k, v, rule);
  const double work = sizes.count_products(2 * (sizes.D + sizes.Dv) + sizes.D);
  const int64_t heads = sizes.heads, Tk = sizes.Tk;
  const int64_t shares = std::max<int64_t>(1, std::min(8 / std::max<int64_t>(1, heads), sizes.strips));
  const auto empty_shares = [&](int64_t columns, const Tensor& x) {
    Shape shape = sizes.shape(Tk, columns);
    if (shares > 1) shape.insert(0, shares);
    return empty_like_rows(shape, x);
  };
  const Tensor g = by_rows(strided_g), y = by_rows(forward.y);
  const Tensor dq = empty_like_rows(sizes.shape(sizes.Tq, sizes.D), q);
  const Tensor all_dk = empty_shares(sizes.D, k), all_dv = empty_shares(sizes.Dv, v);

  visit_floating(q.dtype(), [&]<class T>(Type<T>) {
    const Inputs<T> in{sizes, rule, for_products(q), for_products(k), for_products(v)};
    const Backward<T> backward{in, Matrices<const T>(g, sizes.lead, sizes.Tq, sizes.Dv),
                               Matrices<const T>(y, sizes.lead, sizes.Tq, sizes.Dv),
                               Matrices<const T>(forward.log_totals)[0], Matrices<T>(dq)};
    const Matrices<T> dks(all_dk), dvs(all_dv);
    each_part<T>(sizes, shares, work, rule.dropout.p() > 0 ? 3 : 2,
                 [&](int64_t head, int64_t share, T* memory) {
                   const Matrix<T> dk = dks[share * heads + head], dv = dvs[share * heads + head];
                   clear(dk, Tk, sizes.D);
                   clear(dv, Tk, sizes.Dv);
                   for (int64_t strip = share; strip < sizes.strips; strip += shares)
                     backward.strip(head, strip * kRows, memory, dk, dv);
                 });
  });
  const auto joined = [&](const Tensor& parts) { return shares > 1 ? sum(parts, {0}, false) : parts; };
  return {dq, joined(all_dk), joined(all_dv)};
}

}  // namespace heed::kernel
