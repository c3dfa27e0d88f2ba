#include "tensor/kernels/plain.h"

#include <numeric>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/lists.h"

namespace heed::kernel::plain {
namespace {

using Values = std::vector<double>;

// All elements in row-major order after broadcasting to the shape, or copies of one number if x is undefined.
Values read(const Tensor& x, const Shape& shape, double otherwise = 0) {
  const Tensor copy = full(shape, otherwise, float64);
  if (x.defined()) copy_into(copy, x);
  return copy.to_vector();
}

Tensor write(const Values& values, const Shape& shape, DType dtype) {
  const Tensor y = Tensor::empty(shape, float64);
  std::ranges::copy(values, y.mutable_data<double>());
  return cast(y, dtype);
}

// y = join(y, x) for every element x that is reduced to y; then y is divided. Floats are joined in double,
// integers in Whole.
template <class Whole>
Tensor reduce(const Tensor& x, const Shape& dims, bool keepdim, const auto& start, const auto& join,
              double divisor = 1) {
  Tensor y = Tensor::empty(reduced_shape(x.shape(), dims, keepdim), x.dtype());
  const Tensor kept = TensorImpl::view(y, reduced_shape(x.shape(), dims, true));
  const CollapsedDims place(x.shape(), broadcast_strides(kept, x.shape()));
  visit_dtype(x.dtype(), [&]<class T>(Type<T> type) {
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, Whole>;
    std::vector<Wide> results(static_cast<size_t>(y.numel()), static_cast<Wide>(start(type)));
    int64_t i = 0;
    x.for_each([&](auto v) {
      Wide& result = results[place.at(i++)];
      result = join(result, static_cast<Wide>(v));
    });
    for (i = 0; i < y.numel(); ++i)
      detail::first_of<T>(y)[i] = static_cast<T>(results[i] / static_cast<Wide>(divisor));
  });
  return y;
}

// Row i of a matrix with n columns.
auto* row(auto& x, int64_t i, int64_t n) { return x.data() + i * n; }

double sum_exp(int64_t n, const double* x, double shift) {
  return std::accumulate(x, x + n, 0.0, [=](double sum, double v) { return sum + std::exp(v - shift); });
}

double dot(int64_t n, const double* a, const double* b) { return std::inner_product(a, a + n, b, 0.0); }

// y += a x
void add_multiple(int64_t n, double a, const double* x, double* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

// The operands of attention, broadcast to the leading dimensions of the result. Query i of all heads attends
// to the keys j of its head.
struct Attention {
  const Tensor &all_q, &all_k, &all_v;
  const AttentionRule& rule;
  const AttentionSizes sizes{all_q, all_k, all_v, rule};
  const int64_t Tq = sizes.Tq, Tk = sizes.Tk, D = sizes.D, Dv = sizes.Dv;
  const Values q = read(all_q, sizes.shape(Tq, D)), k = read(all_k, sizes.shape(Tk, D));
  const Values v = read(all_v, sizes.shape(Tk, Dv)), bias = read(rule.bias, sizes.shape(Tq, Tk));
  const Values allowed = read(rule.allowed, sizes.shape(Tq, Tk), 1);
  const Values positions = read(rule.positions, sizes.shape(1, sizes.distances));
  const Values sink = read(rule.sink, sizes.shape(1, 1), minus_infinity<double>);

  /// The offset of key j of query i.
  int64_t key(int64_t i, int64_t j) const { return i / Tq * Tk + j; }
  /// The offset of j - i among the positions.
  int64_t position(int64_t i, int64_t j) const { return i / Tq * sizes.distances + j - i % Tq + Tq - 1; }
  /// tanh(scale q_i . k_j / cap), or 0 without a cap.
  double capped(int64_t i, int64_t j) const {
    return rule.soft_cap == 0 ? 0 : std::tanh(product(i, j) / rule.soft_cap);
  }
  double product(int64_t i, int64_t j) const {
    return rule.scale * dot(D, row(q, i, D), row(k, key(i, j), D));
  }
  /// Calls f(j, p_ij, factor_ij) for all keys of query i, and returns log_total_i = log sum_j exp(s_ij).
  double each_key(int64_t i, const auto& f) const {
    Values s(Tk + 1, minus_infinity<double>), factors(Tk);
    rule.dropout.draw(i * Tk, Tk, factors.data());
    const int64_t at = rule.past + i % Tq;
    for (int64_t j = 0; j < std::min(Tk, at + 1); ++j)
      if (allowed[i * Tk + j] != 0 && (j > at - rule.window || j < rule.sinks))
        s[j] = (rule.soft_cap == 0 ? product(i, j) : rule.soft_cap * capped(i, j)) + bias[i * Tk + j] +
               positions[position(i, j)];
    s[Tk] = sink[i / Tq];
    const double max = shift_of(std::ranges::max(s)), sum = sum_exp(Tk + 1, s.data(), max);
    for (int64_t j = 0; j < Tk; ++j) f(j, sum == 0 ? 0 : std::exp(s[j] - max) / sum, factors[j]);
    return sum == 0 ? -minus_infinity<double> : max + std::log(sum);
  }
};

}  // namespace

void run_loop(const Tensor& out, std::initializer_list<const Tensor*> in, detail::Loop loop, const void* f) {
  const auto address_in = [&](const Tensor& x) {  // of element i
    const int64_t width = size_of(x.dtype());
    char* const first = detail::first_of<char>(x) + TensorImpl::of(x).offset * (width - 1);
    const CollapsedDims place(out.shape(), broadcast_strides(x, out.shape()));
    return [=](int64_t i) { return first + place.at(i) * width; };
  };
  const auto result = address_in(out);
  const auto operands = heed::detail::mapped(in, [&](const Tensor* x) { return address_in(*x); });
  std::vector<const void*> at(operands.size());
  for (int64_t i = 0; i < out.numel(); ++i) {
    for (size_t k = 0; k < at.size(); ++k) at[k] = operands[k](i);
    loop(f, 1, result(i), at.data());
  }
}

Tensor matmul(const Tensor& a, const Tensor& b, const Tensor& start, double alpha) {
  const int64_t n = a.size(-2), k = a.size(-1), m = b.size(-1);
  const Shape lead = broadcast_shapes(leading(a), leading(b)), shape = matrix_shape(lead, n, m);
  const Values as = read(a, matrix_shape(lead, n, k)), bs = read(b, matrix_shape(lead, k, m));
  Values y = read(start, shape);
  for (int64_t p = 0; p < numel(lead); ++p)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t l = 0; l < k; ++l)
        add_multiple(m, alpha * as[(p * n + i) * k + l], row(bs, p * k + l, m), row(y, p * n + i, m));
  return write(y, shape, a.dtype());
}

Tensor sum(const Tensor& x, const Shape& dims, bool keepdim, double divisor) {
  return reduce<uint64_t>(
      x, dims, keepdim, [](auto) { return 0; }, std::plus<>(), divisor);
}
Tensor extremum(const Tensor& x, const Shape& dims, bool keepdim, bool largest) {
  const auto start = [=]<class T>(Type<T>) { return largest ? least<T> : most<T>; };
  return reduce<int64_t>(x, dims, keepdim, start, [=](auto a, auto b) {
    return (largest ? b > a : b < a) || b != b ? b : a;  // a NaN stays: no number is above or below it
  });
}

Tensor softmax(const Tensor& x, int64_t dim, SoftmaxForm form) {
  const Tensor lines = last_swapped_with(x, dim);
  Values y = lines.to_vector();
  const int64_t n = x.dim() == 0 ? 1 : lines.size(-1);
  for (int64_t first = 0; first < x.numel(); first += n) {
    double* line = &y[first];
    const double largest = *std::max_element(line, line + n);
    const double max = form == SoftmaxForm::masked ? shift_of(largest) : largest;
    const double sum = sum_exp(n, line, max), log_sum = std::log(sum);
    for (int64_t i = 0; i < n; ++i)
      line[i] = form == SoftmaxForm::log ? (line[i] - max) - log_sum
                : sum == 0               ? 0
                                         : std::exp(line[i] - max) / sum;
  }
  return contiguous(last_swapped_with(write(y, lines.shape(), x.dtype()), dim));
}

NormResult norm(Centre centre, const Tensor& x, int64_t n, const Tensor& weight, const Tensor& bias,
                double eps) {
  const Values xs = x.to_vector(), w = read(weight, {n}, 1), b = read(bias, {n});
  const int64_t rows = n == 0 ? 0 : x.numel() / n;
  Values y(xs.size()), mean(rows), scale(rows);
  for (int64_t r = 0; r < rows; ++r) {
    const double* in = row(xs, r, n);
    if (centre == Centre::mean) mean[r] = std::accumulate(in, in + n, 0.0) / n;
    double variance = 0;
    for (int64_t i = 0; i < n; ++i) variance += (in[i] - mean[r]) * (in[i] - mean[r]) / n;
    scale[r] = 1 / std::sqrt(variance + eps);
    for (int64_t i = 0; i < n; ++i) row(y, r, n)[i] = (in[i] - mean[r]) * scale[r] * w[i] + b[i];
  }
  return {write(y, x.shape(), x.dtype()), centre == Centre::mean ? write(mean, {rows}, x.dtype()) : Tensor(),
          write(scale, {rows}, x.dtype())};
}

Tensor convolution(const ConvParts& parts, const Tensor& bias, const Windows& windows) {
  const auto& [x, weight, y] = parts;
  const auto& [h, w, groups] = windows;
  const int64_t n = (x.defined() ? x : y).size(0);
  const int64_t in = weight.defined() ? weight.size(1) : x.size(1) / groups;
  const int64_t out = (y.defined() ? y.size(1) : weight.size(0)) / groups;
  const Shape x_shape{n, groups * in, h.in, w.in}, w_shape{groups * out, in, h.size, w.size};
  const Shape y_shape{n, groups * out, h.windows, w.windows};
  const Tensor start = bias.defined() ? TensorImpl::view(contiguous(bias), {bias.numel(), 1, 1}) : bias;
  Values xs = read(x.defined() ? x : start, x_shape), ws = read(weight.defined() ? weight : start, w_shape);
  Values ys = read(y.defined() ? y : start, y_shape);
  for (int64_t o = 0; o < n * groups * out; ++o)
    for (int64_t c = 0; c < in; ++c)
      for (int64_t i = 0; i < h.size; ++i)
        for (int64_t j = 0; j < w.size; ++j)
          for (int64_t a = 0; a < h.windows; ++a)
            for (int64_t b = 0; b < w.windows; ++b) {
              const int64_t row = a * h.stride + i * h.dilation - h.padding;
              const int64_t column = b * w.stride + j * w.dilation - w.padding;
              if (row < 0 || row >= h.in || column < 0 || column >= w.in) continue;
              double& x_nc = xs[((o / out * in + c) * h.in + row) * w.in + column];
              double& w_oc = ws[((o % (groups * out) * in + c) * h.size + i) * w.size + j];
              double& y_no = ys[(o * h.windows + a) * w.windows + b];
              if (!x.defined()) x_nc += w_oc * y_no;
              if (!weight.defined()) w_oc += x_nc * y_no;
              if (!y.defined()) y_no += w_oc * x_nc;
            }
  return !x.defined()   ? write(xs, x_shape, y.dtype())
         : !y.defined() ? write(ys, y_shape, x.dtype())
                        : write(ws, w_shape, x.dtype());
}

AttentionResult attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule) {
  const Attention a{q, k, v, rule};
  const Shape shape = a.sizes.shape(a.Tq, a.Dv);
  Values y(numel(shape)), log_totals(a.sizes.heads * a.Tq);
  for (int64_t i = 0; i < a.sizes.heads * a.Tq; ++i)
    log_totals[i] = a.each_key(i, [&](int64_t j, double p, double factor) {
      add_multiple(a.Dv, p * factor, row(a.v, a.key(i, j), a.Dv), row(y, i, a.Dv));
    });
  return {write(y, shape, q.dtype()), write(log_totals, {a.sizes.heads, a.Tq}, q.dtype())};
}

AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const AttentionRule& rule, const AttentionResult& forward) {
  const Attention a{q, k, v, rule};
  const Values gs = g.to_vector(), y = forward.y.to_vector();
  Values dq(a.q.size()), dk(a.k.size()), dv(a.v.size()), d_positions(a.positions.size());
  for (int64_t i = 0; i < a.sizes.heads * a.Tq; ++i)
    a.each_key(i, [&, g_i = row(gs, i, a.Dv)](int64_t j, double p, double factor) {
      const int64_t key = a.key(i, j);
      const double dp = factor * dot(a.Dv, g_i, row(a.v, key, a.Dv));
      const double d_biased = p * (dp - dot(a.Dv, g_i, row(y, i, a.Dv))), capped = a.capped(i, j);
      const double ds = rule.scale * d_biased * (1 - capped * capped);
      d_positions[a.position(i, j)] += d_biased;
      add_multiple(a.Dv, p * factor, g_i, row(dv, key, a.Dv));
      add_multiple(a.D, ds, row(a.k, key, a.D), row(dq, i, a.D));
      add_multiple(a.D, ds, row(a.q, i, a.D), row(dk, key, a.D));
    });
  const auto result = [&](const Values& d, int64_t rows, int64_t columns) {
    return write(d, a.sizes.shape(rows, columns), q.dtype());
  };
  return {result(dq, a.Tq, a.D), result(dk, a.Tk, a.D), result(dv, a.Tk, a.Dv),
          rule.positions.defined() ? result(d_positions, 1, a.sizes.distances) : Tensor()};
}

RecurrentResult recurrent_forward(const RecurrentRule& rule, const Tensor& x, const Tensor& state,
                                  const Tensor& weight, const Tensor& bias, bool keep_gates) {
  const int64_t T = x.size(0), B = x.size(1), G = weight.size(0), H = weight.size(1);
  const int64_t S = rule.state_size(H), saved = rule.saved_size(H);
  const Values xs = x.to_vector(), w = weight.to_vector(), b = read(bias, {G}), start = read(state, {B, S});
  Values y(T * B * S), gates(T * B * saved);
  for (int64_t i = 0; i < B; ++i)
    for (int64_t step = 0; step < T; ++step) {
      const int64_t t = rule.reverse ? T - 1 - step : step, previous = rule.reverse ? t + 1 : t - 1;
      const double* before = step == 0 ? row(start, i, S) : row(y, previous * B + i, S);
      double *a = row(gates, t * B + i, saved), *after = row(y, t * B + i, S);
      for (int64_t r = 0; r < G; ++r) a[r] = dot(H, row(w, r, H), before);
      if (rule.ended(t, i))
        std::copy_n(before, S, after);
      else
        recurrent_step(rule.kind, H, row(xs, t * B + i, G), b.data(), before, a, after);
    }
  return {write(y, {T, B, S}, x.dtype()),
          keep_gates && saved > H ? write(gates, {T, B, saved}, x.dtype()) : Tensor()};
}

}  // namespace heed::kernel::plain
