#include "tensor/kernels/attention.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"
#include "tensor/kernels/reduce.h"

// With scores s_ij = scale q_i . k_j + bias_ij, weights p_ij = exp(s_ij) / sum_j exp(s_ij) and y_i = sum_j
// p_ij v_j, the matrix of weights costs memory, Tq Tk numbers, and time, because each pass over it goes
// through memory. Here it is computed in tiles of kQueries queries and kKeys keys, which stay in the cache:
// memory is linear in Tq + Tk, and a tile in which no key may be attended to costs nothing.
//
//                     keys j
//               +-----------+-----------+-----------+
//   queries i   |  tile     |     |     |           |    a thread takes kKeys keys after the other,
//               +---- | ----+---- v ----+-----------+    packs them, and goes down the tiles of its
//               |     v     |           |           |    queries; when causal, from the diagonal on
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
//
// The forms of attention each change one place:
//
//   a window   leaves out the tiles of keys that are too far from all queries of a strip
//   a soft cap replaces s = scale q . k by cap tanh(s / cap), and multiplies ds by 1 - tanh^2(s / cap)
//   positions  add t_(j-i) to s_ij, a row of the table for each row of the tile; dt_(j-i) sums ds_ij / scale
//   a sink     is a first score without a value: m starts with it, and l with 1
namespace heed::kernel {
namespace {

constexpr int64_t kQueries = 96, kKeys = 256;

// The length of a row of scores, with -inf behind the last: loops over it have no remainder, and a sum
// depends on the scores alone.
constexpr int64_t padded(int64_t n) { return ceil_div(n, 16) * 16; }

// Counts products of [Tq, n] and [n, Tk] in every head, where the n add up to `width`. Returns the number of
// multiplications in one head.
double count_products(const AttentionSizes& sizes, int64_t width) {
  const double per_head = double(sizes.Tq) * double(sizes.Tk) * double(width);
  product_flops() += static_cast<int64_t>(2 * static_cast<double>(sizes.heads) * per_head);
  return per_head;
}

// The strips of kQueries queries that one thread computes in one head: first, first + step, ...
struct Share {
  int64_t head, first, step;
};

// The number of shares of a head, so that threads share the work of few heads too. It depends on the sizes
// alone, as the sums over the queries do: see Note [Same bits] in tensor/parallel.h.
int64_t shares_of(const AttentionSizes& sizes) {
  return std::clamp<int64_t>(8 / std::max<int64_t>(1, sizes.heads), 1,
                             std::max<int64_t>(1, ceil_div(sizes.Tq, kQueries)));
}

// Calls f(share, tiles) for all shares of all heads. Threads share them. `work` is the number of
// multiplications in a head; `tiles` is memory for the matrices of a tile.
template <class T>
void each_share(const AttentionSizes& sizes, double work, int64_t tiles, const auto& f) {
  // A line more than a row needs: rows a power of two apart would fall into few sets of the first-level
  // cache.
  const Shape shape{tiles, std::min(kQueries, sizes.Tq), padded(std::min(kKeys, sizes.Tk)) + 16};
  const int64_t shares = shares_of(sizes), block = products_per_block(work / static_cast<double>(shares));
  parallel_for(sizes.heads * shares, block, [&](int64_t begin, int64_t end) {
    const Tensor memory = Tensor::empty(shape, dtype_of<T>);
    const Matrices<T> matrices(memory);
    for (int64_t task = begin; task < end; ++task) f(Share{task / shares, task % shares, shares}, matrices);
  });
}

// x, or a copy if its rows are not dense.
Tensor dense_for_products(const Tensor& x) {
  return !x.defined() ? x : x.size(-1) == 1 || x.strides().back() == 1 ? for_products(x) : contiguous(x);
}

template <class T>
void clear(const Matrix<T>& x, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) std::fill_n(x.at(r, 0), columns, T(0));
}

// y += x
void add_line(int64_t n, const auto* x, auto* y) {
  HEED_VECTORIZE
  for (int64_t c = 0; c < n; ++c) y[c] += x[c];
}

// y = scale factors y, where factors may be null.
template <class T>
void scale_line(int64_t n, T scale, T* y, const T* factors = nullptr) {
  const auto run = [=](auto factor) {
    HEED_VECTORIZE
    for (int64_t c = 0; c < n; ++c) y[c] *= scale * factor(c);
  };
  factors ? run([factors](int64_t c) { return factors[c]; }) : run([](int64_t) { return T(1); });
}

// s = cap tanh(s / cap), and unless it is null slopes = the derivative of that, 1 - tanh^2.
template <class T>
void cap_line(int64_t n, T cap, T* s, T* slopes) {
  const auto run = [=, inverse = 1 / cap](auto keep) {
    HEED_VECTORIZE
    for (int64_t c = 0; c < n; ++c) {
      const T y = math::tanh(s[c] * inverse);
      s[c] = cap * y;
      keep(c, 1 - y * y);
    }
  };
  slopes ? run([slopes](int64_t c, T slope) { slopes[c] = slope; }) : run([](int64_t, T) {});
}

// The operands, which both passes read.
template <class T>
struct Inputs {
  const AttentionSizes& sizes;
  const AttentionRule& rule;
  const Tensor all_q, all_k, all_v;  // results of for_products()
  const Tensor table = dense_for_products(rule.positions);

  const Matrices<const T> q{all_q, sizes.lead, sizes.Tq, sizes.D};
  const Matrices<const T> k{all_k, sizes.lead, sizes.Tk, sizes.D};
  const Matrices<const T> v{all_v, sizes.lead, sizes.Tk, sizes.Dv};
  const Matrices<const T> bias{rule.bias, sizes.lead, sizes.Tq, sizes.Tk};
  const Matrices<const bool> allowed{rule.allowed, sizes.lead, sizes.Tq, sizes.Tk};
  const Matrices<const T> positions{table, sizes.lead, 1, sizes.distances};
  const Matrices<const T> sink{rule.sink, sizes.lead, 1, 1};
  const T scale = static_cast<T>(rule.scale), soft_cap = static_cast<T>(rule.soft_cap);

  // Calls f(i, rows) for the strips of queries of the share that begin before `end`.
  void each_strip(const Share& share, int64_t end, const auto& f) const {
    for (int64_t i = share.first * kQueries; i < end; i += share.step * kQueries)
      f(i, std::min(kQueries, sizes.Tq - i));
  }
  // How many of the tile's keys the query `back` before its query r may attend to by its position. Those that
  // the query a window before sees are before the window.
  int64_t seen(const Tile& t, int64_t r, int64_t back = 0) const {
    return std::clamp<int64_t>(rule.past + t.i + r + 1 - t.j - back, 0, t.columns);
  }
  // The element of `positions` for the first key of the tile and its query r.
  int64_t distance(const Tile& t, int64_t r) const { return t.j - (t.i + r) + sizes.Tq - 1; }

  // Calls take(j, columns) for kKeys keys after the other, and then f(tile, scores) for the tiles of the
  // share's queries, if a query of the tile may attend to one of its keys. The scores are in the first of the
  // tiles. `slopes`, if it has data, receives the derivatives of the soft cap.
  void each_tile(const Share& share, const Matrices<T>& tiles, const Matrix<T>& slopes, const auto& take,
                 const auto& f) const {
    ReusedMatrix<T> scaled;
    for (int64_t j = 0; j < std::min(sizes.Tk, rule.past + sizes.Tq); j += kKeys) {
      const int64_t columns = std::min(kKeys, sizes.Tk - j), sinks = std::min(columns, rule.sinks - j);
      // The first query with a window that begins behind these keys.
      const int64_t behind = j + columns + std::min(rule.window, 2 * rule.everything) - rule.past - 1;
      const int64_t beyond = std::clamp<int64_t>(behind, 0, sizes.Tq), end = sinks > 0 ? sizes.Tq : beyond;
      if (end <= share.first * kQueries) continue;
      scaled.set(ceil_div(sizes.Tq, share.step), sizes.D, columns, scale,
                 k[share.head].block(j, 0).transposed());
      take(j, columns);
      each_strip(share, end, [&](int64_t i, int64_t rows) {
        const Tile t{i, rows, j, std::min(i < beyond ? columns : sinks, rule.past + i + rows - j)};
        if (t.columns > 0 && any_allowed(share.head, t))
          f(t, scores(share.head, t, scaled, tiles[0], slopes));
      });
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
  Matrix<T> scores(int64_t head, const Tile& t, const ReusedMatrix<T>& scaled, const Matrix<T>& s,
                   const Matrix<T>& slopes) const {
    const Matrix<const bool> a = allowed[head].block(t.i, t.j);
    const Matrix<const T> b = bias[head].block(t.i, t.j), of_head = positions[head];
    scaled.multiply(t.rows, t.columns, sizes.D, q[head].block(t.i, 0), {}, s);
    for (int64_t r = 0; r < t.rows; ++r) {
      T* row = s.at(r, 0);
      if (soft_cap > 0) cap_line(padded(t.columns), soft_cap, row, slopes.at(r, 0));
      if (of_head.data) add_line(t.columns, of_head.at(0, distance(t, r)), row);
      if (b.data)
        for (int64_t c = 0; c < t.columns; ++c) row[c] += *b.at(r, c);
      if (a.data != nullptr)
        for (int64_t c = 0; c < t.columns; ++c) row[c] = *a.at(r, c) ? row[c] : minus_infinity<T>;
      for (int64_t c = std::max<int64_t>(0, rule.sinks - t.j), end = seen(t, r, rule.window); c < end; ++c)
        row[c] = minus_infinity<T>;
      std::fill(row + seen(t, r), row + padded(t.columns), minus_infinity<T>);
    }
    return s;
  }

  // The factors of dropout for the tile's weights; without data if there is no dropout. They are drawn
  // together if the rows of the tile are whole.
  Matrix<const T> factors(int64_t head, const Tile& t, Matrix<T> f) const {
    if (rule.dropout.p() == 0) return {};
    const int64_t rows = t.columns == sizes.Tk ? 1 : t.rows, n = t.rows / rows * t.columns;
    if (rows == 1) f.row_step = t.columns;
    for (int64_t r = 0; r < rows; ++r)
      rule.dropout.draw((head * sizes.Tq + t.i + r) * sizes.Tk + t.j, n, f.at(r, 0));
    return f;
  }
};

// The softmax of one query's scores, which arrive tile by tile.
template <class T>
struct RunningSoftmax {
  T max = minus_infinity<T>;
  double total = max == minus_infinity<T> ? 0 : 1;  // a first score without a value: the sink

  // s = exp(s - max) for the next n scores. Returns the factor by which the earlier ones shrink.
  T update(int64_t n, T* s) {
    const T before = max;
    max = max_line(n, max, s);
    const T shift = shift_of(max);
    const double sum = exp_line(n, s, shift, s);
    const T shrink = total == 0 ? 1 : math::exp(before - shift);  // no earlier ones: nothing to shrink
    total = total * static_cast<double>(shrink) + sum;
    return shrink;
  }
  // For a query that may attend to no key, y is 0 and exp(s - log_total) will be 0.
  T factor() const { return static_cast<T>(total == 0 ? 0 : 1 / total); }
  T log_total() const {
    return total == 0 ? std::numeric_limits<T>::infinity() : max + static_cast<T>(std::log(total));
  }
};

// y and log_totals [Tq] of the share's queries.
template <class T>
void forward_share(const Inputs<T>& in, const Share& share, const Matrices<T>& tiles, const Matrix<T>& y,
                   T* log_totals) {
  const int64_t Tq = in.sizes.Tq, Dv = in.sizes.Dv;
  const T* sink = in.sink[share.head].data;
  std::vector<RunningSoftmax<T>> softmax(static_cast<size_t>(Tq),
                                         RunningSoftmax<T>{sink ? *sink : minus_infinity<T>});
  ReusedMatrix<T> values;
  in.each_strip(share, Tq, [&](int64_t i, int64_t rows) { clear(y.block(i, 0), rows, Dv); });
  const auto take = [&](int64_t j, int64_t columns) {
    values.set(ceil_div(Tq, share.step), columns, Dv, 1, in.v[share.head].block(j, 0));
  };
  in.each_tile(share, tiles, {}, take, [&](const Tile& t, const Matrix<T>& p) {
    const Matrix<T> y_i = y.block(t.i, 0);
    for (int64_t r = 0; r < t.rows; ++r) {
      // The sum is over the keys that are seen, so that its bits are those of a query without other keys.
      const int64_t seen = in.seen(t, r);
      const T shrink = softmax[static_cast<size_t>(t.i + r)].update(padded(seen), p.at(r, 0));
      std::fill(p.at(r, seen), p.at(r, t.columns), T(0));
      if (shrink != 1) scale_line(Dv, shrink, y_i.at(r, 0));
    }
    if (const Matrix<const T> factors = in.factors(share.head, t, tiles[1]); factors.data)
      for (int64_t r = 0; r < t.rows; ++r) scale_line(t.columns, T(1), p.at(r, 0), factors.at(r, 0));
    values.multiply(t.rows, Dv, t.columns, p, y_i, y_i);
  });
  in.each_strip(share, Tq, [&](int64_t i, int64_t rows) {
    for (int64_t r = i; r < i + rows; ++r) {
      scale_line(Dv, softmax[static_cast<size_t>(r)].factor(), y.at(r, 0));
      log_totals[r] = softmax[static_cast<size_t>(r)].log_total();
    }
  });
}

// One query: turns its scores p into weights, times their factors if there are any, and ds from g . v_j into
// the gradient of the scores.
template <class T>
void score_gradients(int64_t n, T scale, T log_total, T gy, const T* factors, T* p, T* ds) {
  const auto run = [=](auto factor) {
    HEED_VECTORIZE
    for (int64_t c = 0; c < n; ++c) {
      const T weight = math::exp_below(p[c] - log_total), f = factor(c);
      p[c] = f * weight;
      ds[c] = scale * weight * (f * ds[c] - gy);
    }
  };
  factors ? run([factors](int64_t c) { return factors[c]; }) : run([](int64_t) { return T(1); });
}

// The second pass, from the incoming gradient g and the results of the first, y and log_totals [Tq]: dq of
// the share's queries, and what they add to dk, dv and the gradient of the positions of the head.
template <class T>
void backward_share(const Inputs<T>& in, const Share& share, const Matrices<T>& tiles,
                    const Matrix<const T>& g, const Matrix<const T>& y, const T* log_totals,
                    const Matrix<T>& dq, const Matrix<T>& dk, const Matrix<T>& dv,
                    const Matrix<T>& d_positions) {
  const int64_t head = share.head, Tq = in.sizes.Tq, Tk = in.sizes.Tk, D = in.sizes.D, Dv = in.sizes.Dv;
  const int64_t queries = ceil_div(Tq, share.step);
  clear(dk, Tk, D);
  clear(dv, Tk, Dv);
  if (d_positions.data) clear(d_positions, 1, in.sizes.distances);
  const Matrix<T> slopes = in.soft_cap > 0 ? tiles[3] : Matrix<T>();
  const bool scores_differ = slopes.data || d_positions.data;  // from scale q . k
  std::vector<T> gy(static_cast<size_t>(Tq));                  // g_i . y_i
  in.each_strip(share, Tq, [&](int64_t i, int64_t rows) {
    clear(dq.block(i, 0), rows, D);
    for (int64_t r = i; r < i + rows; ++r)
      gy[static_cast<size_t>(r)] = static_cast<T>(sum_line(Dv, std::multiplies<>(), g.at(r, 0), y.at(r, 0)));
  });
  ReusedMatrix<T> keys, values;
  const auto take = [&](int64_t j, int64_t columns) {
    keys.set(queries, columns, D, 1, in.k[head].block(j, 0));
    values.set(queries, Dv, columns, 1, in.v[head].block(j, 0).transposed());
  };
  in.each_tile(share, tiles, slopes, take, [&](const Tile& t, const Matrix<T>& p) {
    const Matrix<T> ds = tiles[1];
    const Matrix<const T> q_i = in.q[head].block(t.i, 0), g_i = g.block(t.i, 0);
    const Matrix<T> dq_i = dq.block(t.i, 0), dk_j = dk.block(t.j, 0), dv_j = dv.block(t.j, 0);
    values.multiply(t.rows, t.columns, Dv, g_i, {}, ds);
    const Matrix<const T> factors = in.factors(head, t, tiles[2]);
    for (int64_t r = 0; r < t.rows; ++r) {
      score_gradients(padded(t.columns), scores_differ ? T(1) : in.scale, log_totals[t.i + r],
                      gy[static_cast<size_t>(t.i + r)], factors.at(r, 0), p.at(r, 0), ds.at(r, 0));
      if (d_positions.data) add_line(t.columns, ds.at(r, 0), d_positions.at(0, in.distance(t, r)));
      if (scores_differ) scale_line<T>(padded(t.columns), in.scale, ds.at(r, 0), slopes.at(r, 0));
    }
    gemm_tile<T>(t.columns, Dv, t.rows, 1, p.transposed(), g_i, dv_j, dv_j);
    gemm_tile<T>(t.columns, D, t.rows, 1, ds.transposed(), q_i, dk_j, dk_j);
    keys.multiply(t.rows, D, t.columns, ds, dq_i, dq_i);
  });
}

}  // namespace

AttentionSizes::AttentionSizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule)
    : Tq(q.size(-2)), Tk(k.size(-2)), D(q.size(-1)), Dv(v.size(-1)) {
  for (const Tensor& x : {q, k, v, rule.allowed, rule.bias, rule.positions, rule.sink})
    if (x.defined() && x.dim() > 2) lead = broadcast_shapes(lead, leading(x));
  heads = numel(lead);
  distances = std::max<int64_t>(0, Tq + Tk - 1);
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
    each_share<T>(sizes, work, rule.dropout.p() > 0 ? 2 : 1,
                  [&](const Share& share, const Matrices<T>& tiles) {
                    forward_share(in, share, tiles, y[share.head], log_totals.at(share.head, 0));
                  });
  });
  return out;
}

// The gradient of a key is a sum over all queries: each share computes its own dk and dv, and they are added
// in order. So is that of a position.
AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionRule& rule, const AttentionResult& forward) {
  if (reference_mode()) return plain::attention_backward(g, q, k, v, rule, forward);
  const AttentionSizes sizes(q, k, v, rule);
  const double work = count_products(sizes, 2 * (sizes.D + sizes.Dv) + sizes.D);
  const int64_t shares = shares_of(sizes);
  const auto empty_shares = [&](int64_t rows, int64_t columns, const Tensor& x) {
    const Shape shape = sizes.shape(rows, columns);
    return empty_like_rows(shares > 1 ? shape.inserted(0, shares) : shape, x);
  };
  const Tensor dense_g = dense_for_products(g), y = dense_for_products(forward.y);
  const Tensor dq = empty_like_rows(sizes.shape(sizes.Tq, sizes.D), q);
  const Tensor all_dk = empty_shares(sizes.Tk, sizes.D, k), all_dv = empty_shares(sizes.Tk, sizes.Dv, v);
  const bool learns_positions = rule.positions.defined(), drops = rule.dropout.p() > 0;
  const int64_t tile_count = rule.soft_cap > 0 ? 4 : drops ? 3 : 2;
  const Tensor all_dp = learns_positions ? empty_shares(1, sizes.distances, rule.positions) : Tensor();

  visit_floating(q.dtype(), [&]<class T>(Type<T>) {
    const Inputs<T> in{sizes, rule, for_products(q), for_products(k), for_products(v)};
    const Matrices<const T> gs(dense_g, sizes.lead, sizes.Tq, sizes.Dv),
        ys(y, sizes.lead, sizes.Tq, sizes.Dv);
    const Matrix<const T> log_totals = Matrices<const T>(forward.log_totals)[0];
    const Matrices<T> dqs(dq), dks(all_dk), dvs(all_dv);
    const Matrices<T> dps = learns_positions ? Matrices<T>(all_dp) : Matrices<T>();
    each_share<T>(sizes, work, tile_count, [&](const Share& share, const Matrices<T>& tiles) {
      const int64_t head = share.head, part = share.first * sizes.heads + head;
      backward_share(in, share, tiles, gs[head], ys[head], log_totals.at(head, 0), dqs[head], dks[part],
                     dvs[part], dps[part]);
    });
  });
  const auto joined = [&](const Tensor& parts) { return shares > 1 ? sum(parts, {0}, false) : parts; };
  return {dq, joined(all_dk), joined(all_dv), learns_positions ? joined(all_dp) : Tensor()};
}

}  // namespace heed::kernel
