#include "tensor/kernels/recurrent.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/loop.h"
#include "tensor/kernels/math.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/reduce.h"
#include "tensor/parallel.h"

namespace heed::kernel {
namespace {

// Sequences do not meet, so each thread walks some of them through all steps: see Note [Same bits] in
// tensor/parallel.h. As each share reads the whole weight at every step, there are few: halves, of at most 64
// sequences.
int64_t sequences_at_once(int64_t batch) {
  return std::clamp<int64_t>((batch + 1) / 2, std::min<int64_t>(batch, 16), 64);
}

// The vectors of x [T, B, n] as a matrix: at(t, b) is the first element of that of sequence b at step t.
template <class T>
Matrix<T> vectors(const Tensor& x) {
  return {detail::first_of<T>(x), x.strides()[0], x.strides()[1]};
}

// x itself where the values of its last dimension are neighbours.
Tensor with_rows(const Tensor& x) { return x.strides().back() == 1 ? x : contiguous(x); }

// [T, B, n] with the dimensions in memory as in `like`.
Tensor ordered_as(const Tensor& like, int64_t n) {
  const int64_t steps = like.size(0), batch = like.size(1);
  if (like.strides()[0] >= like.strides()[1]) return Tensor::empty({steps, batch, n}, like.dtype());
  return TensorImpl::view(Tensor::empty({batch, steps, n}, like.dtype()), {steps, batch, n},
                          {n, steps * n, 1});
}

// All vectors as the rows of a matrix, in the order of memory.
Tensor as_matrix(const Tensor& x) {
  const int64_t n = x.size(2);
  return TensorImpl::view(x, {x.size(0) * x.size(1), n}, {n, 1});
}

// One sequence, one step: `a` is W h and becomes what is saved of the gates.
template <class T>
void step(Recurrence kind, int64_t n, const T* x, const T* bias, const T* before, T* a, T* y) {
  const auto sum = [=](int64_t i) { return x[i] + (a[i] + bias[i]); };
  switch (kind) {
    case Recurrence::rnn_tanh:
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) y[i] = math::tanh(sum(i));
      return;
    case Recurrence::rnn_relu:
      for (int64_t i = 0; i < n; ++i) y[i] = sum(i) < 0 ? T(0) : sum(i);
      return;
    case Recurrence::gru:
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) {
        const T r = math::sigmoid(sum(i)), z = math::sigmoid(sum(n + i));
        const T inner = a[2 * n + i] + bias[2 * n + i];
        const T candidate = math::tanh(x[2 * n + i] + r * inner);
        a[i] = r;
        a[n + i] = z;
        a[2 * n + i] = inner;
        a[3 * n + i] = candidate;
        y[i] = (1 - z) * candidate + z * before[i];
      }
      return;
    case Recurrence::lstm:
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) {
        const T in = math::sigmoid(sum(i)), forget = math::sigmoid(sum(n + i));
        const T candidate = math::tanh(sum(2 * n + i)), out = math::sigmoid(sum(3 * n + i));
        const T c = forget * before[n + i] + in * candidate;
        a[i] = in;
        a[n + i] = forget;
        a[2 * n + i] = candidate;
        a[3 * n + i] = out;
        y[i] = out * math::tanh(c);
        y[n + i] = c;
      }
      return;
  }
}

// The step back: d is the gradient of the state after it and becomes that part of the gradient of the state
// before it which does not go through W h. dx and da are the gradients of x and of W h + b, one and the same
// but for gru.
template <class T>
void step_back(Recurrence kind, int64_t n, const T* gates, const T* before, const T* y, T* d, T* dx, T* da) {
  switch (kind) {
    case Recurrence::rnn_tanh:
      for (int64_t i = 0; i < n; ++i) dx[i] = d[i] * (1 - y[i] * y[i]);
      std::fill_n(d, n, T(0));
      return;
    case Recurrence::rnn_relu:
      for (int64_t i = 0; i < n; ++i) dx[i] = y[i] > 0 ? d[i] : T(0);
      std::fill_n(d, n, T(0));
      return;
    case Recurrence::gru:
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) {
        const T r = gates[i], z = gates[n + i], inner = gates[2 * n + i], candidate = gates[3 * n + i];
        const T dn = d[i] * (1 - z) * (1 - candidate * candidate);
        const T dr = dn * inner * r * (1 - r);
        const T dz = d[i] * (before[i] - candidate) * z * (1 - z);
        dx[i] = da[i] = dr;
        dx[n + i] = da[n + i] = dz;
        dx[2 * n + i] = dn;
        da[2 * n + i] = dn * r;
        d[i] *= z;
      }
      return;
    case Recurrence::lstm:
      HEED_VECTORIZE
      for (int64_t i = 0; i < n; ++i) {
        const T in = gates[i], forget = gates[n + i], candidate = gates[2 * n + i], out = gates[3 * n + i];
        const T shown = math::tanh(y[n + i]);
        const T dc = d[n + i] + d[i] * out * (1 - shown * shown);
        dx[i] = dc * candidate * in * (1 - in);
        dx[n + i] = dc * before[n + i] * forget * (1 - forget);
        dx[2 * n + i] = dc * in * (1 - candidate * candidate);
        dx[3 * n + i] = d[i] * shown * out * (1 - out);
        d[i] = 0;
        d[n + i] = dc * forget;
      }
      return;
  }
}

// Shared by forward and backward: sizes, and where the states before each step are.
template <class T>
struct Walk {
  const Steps& how;
  const Tensor &states, &start, &all_weight;  // [T, B, S]; [B, S] or undefined; [G H, H], contiguous

  const int64_t steps = states.size(0), batch = states.size(1), width = states.size(2);
  const int64_t rows = all_weight.size(0), hidden = all_weight.size(1);
  const bool from_zero = !start.defined();
  const Tensor first = from_zero ? full({width}, 0, states.dtype()) : contiguous(start);
  const Tensor lengths = contiguous(how.lengths);
  const Matrix<const T> weight{all_weight.data<T>(), hidden, 1}, y = vectors<const T>(states);

  /// The step that is done as number `index`.
  int64_t step(int64_t index) const { return how.reverse ? steps - 1 - index : index; }
  bool ended(int64_t t, int64_t b) const { return lengths.defined() && t >= lengths.data<int64_t>()[b]; }
  /// The states before the step number `index`, as rows [B, S].
  Matrix<const T> before(int64_t index) const {
    if (index == 0) return {first.data<T>(), from_zero ? 0 : width, 1};
    return {y.at(step(index - 1), 0), y.col_step, 1};
  }
};

}  // namespace

States recur(const Steps& how, const Tensor& strided_x, const Tensor& state, const Tensor& strided_weight,
             const Tensor& strided_bias, bool keep_gates) {
  const Tensor all_x = with_rows(strided_x), weight = contiguous(strided_weight);
  const int64_t steps = all_x.size(0), batch = all_x.size(1), rows = weight.size(0), hidden = weight.size(1);
  const Tensor bias = strided_bias.defined() ? contiguous(strided_bias) : full({rows}, 0, all_x.dtype());
  const bool gated = gate_count(how.kind) > 1, keep = keep_gates && gated;
  const int64_t saved = gated ? 4 * hidden : hidden;
  const Tensor all_y = ordered_as(all_x, how.kind == Recurrence::lstm ? 2 * hidden : hidden);
  // Gates that are not kept are overwritten at each step.
  const Tensor all_gates = keep ? ordered_as(all_x, saved)
                                : TensorImpl::view(Tensor::empty({batch, saved}, all_x.dtype()),
                                                   {steps, batch, saved}, {0, saved, 1});
  product_flops() += 2 * steps * batch * weight.numel();
  visit_floating(all_x.dtype(), [&]<class T>(Type<T>) {
    const Walk<T> walk{how, all_y, state, weight};
    const Matrix<const T> x = vectors<const T>(all_x);
    const Matrix<T> y = vectors<T>(all_y), gates = vectors<T>(all_gates);
    const T* bias_data = bias.data<T>();
    parallel_for(batch, sequences_at_once(batch), [&](int64_t begin, int64_t end) {
      for (int64_t index = 0; index < steps; ++index) {
        const int64_t t = walk.step(index);
        const Matrix<const T> before = walk.before(index);
        if (index == 0 && walk.from_zero)
          for (int64_t b = begin; b < end; ++b) std::fill_n(gates.at(t, b), rows, T(0));
        else
          multiply<T>(end - begin, rows, hidden, 1, before.from(begin, 0), walk.weight.transposed(), {},
                      {gates.at(t, begin), gates.col_step, 1});
        for (int64_t b = begin; b < end; ++b)
          if (walk.ended(t, b))
            std::copy_n(before.at(b, 0), walk.width, y.at(t, b));
          else
            step(how.kind, hidden, x.at(t, b), bias_data, before.at(b, 0), gates.at(t, b), y.at(t, b));
      }
    });
  });
  return {all_y, keep ? all_gates : Tensor()};
}

// The state's gradient goes back from step to step; that of the weight is one product over all steps at the
// end, for which all_h [T, B, H] gathers the h before each of them.
RecurrenceGradients recur_backward(const Steps& how, const Tensor& strided_g, const Tensor& state,
                                   const Tensor& strided_weight, const States& forward) {
  const Tensor all_g = with_rows(strided_g), weight = contiguous(strided_weight);
  const Tensor& all_y = forward.y;
  const Tensor dstate = Tensor::empty({all_y.size(1), all_y.size(2)}, all_y.dtype());
  const Tensor all_dx = ordered_as(all_y, weight.size(0)), all_h = ordered_as(all_y, weight.size(1));
  const Tensor all_da = how.kind == Recurrence::gru ? ordered_as(all_y, weight.size(0)) : all_dx;
  product_flops() += 2 * all_y.size(0) * all_y.size(1) * weight.numel();
  visit_floating(all_y.dtype(), [&]<class T>(Type<T>) {
    const Walk<T> walk{how, all_y, state, weight};
    const Matrix<const T> g = vectors<const T>(all_g), y = vectors<const T>(all_y);
    const Matrix<const T> gates = forward.gates.defined() ? vectors<const T>(forward.gates) : y;
    const Matrix<T> dx = vectors<T>(all_dx), da = vectors<T>(all_da), h = vectors<T>(all_h);
    const Matrix<T> d{dstate.mutable_data<T>(), walk.width, 1};
    parallel_for(walk.batch, sequences_at_once(walk.batch), [&](int64_t begin, int64_t end) {
      std::fill(d.at(begin, 0), d.at(end, 0), T(0));
      for (int64_t index = walk.steps - 1; index >= 0; --index) {
        const int64_t t = walk.step(index);
        const Matrix<const T> before = walk.before(index);
        for (int64_t b = begin; b < end; ++b) {
          T* d_row = d.at(b, 0);
          const T* up = g.at(t, b);
          for (int64_t i = 0; i < walk.width; ++i) d_row[i] += up[i];
          std::copy_n(before.at(b, 0), walk.hidden, h.at(t, b));
          if (walk.ended(t, b))
            for (T* none : {dx.at(t, b), da.at(t, b)}) std::fill_n(none, walk.rows, T(0));
          else
            step_back(how.kind, walk.hidden, gates.at(t, b), before.at(b, 0), y.at(t, b), d_row, dx.at(t, b),
                      da.at(t, b));
        }
        if (index > 0 || !walk.from_zero)
          multiply<T>(end - begin, walk.hidden, walk.rows, 1, {da.at(t, begin), da.col_step, 1}, walk.weight,
                      d.from(begin, 0), d.from(begin, 0));
      }
    });
  });
  const Tensor rows = as_matrix(all_da);
  const Tensor columns = TensorImpl::view(rows, {rows.size(1), rows.size(0)}, {1, rows.size(1)});
  return {all_dx, dstate, matmul(columns, as_matrix(all_h)), sum(rows, {0}, false)};
}

}  // namespace heed::kernel
