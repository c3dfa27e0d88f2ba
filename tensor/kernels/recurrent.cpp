#include "tensor/kernels/recurrent.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/plain.h"
#include "tensor/kernels/reduce.h"

namespace heed::kernel {

template <class T>
void recurrent_step(Recurrence kind, int64_t H, const T* x, const T* bias, const T* before, T* a, T* y) {
  const auto sum = [=](int64_t i) { return x[i] + (a[i] + bias[i]); };
  switch (kind) {
    case Recurrence::rnn_tanh:
      HEED_VECTORIZE
      for (int64_t i = 0; i < H; ++i) y[i] = math::tanh(sum(i));
      return;
    case Recurrence::rnn_relu:
      for (int64_t i = 0; i < H; ++i) y[i] = sum(i) < 0 ? T(0) : sum(i);
      return;
    case Recurrence::gru:
      HEED_VECTORIZE
      for (int64_t i = 0; i < H; ++i) {
        const T r = a[i] = math::sigmoid(sum(i));
        const T z = a[H + i] = math::sigmoid(sum(H + i));
        const T inner = a[2 * H + i] += bias[2 * H + i];
        const T candidate = a[3 * H + i] = math::tanh(x[2 * H + i] + r * inner);
        y[i] = (1 - z) * candidate + z * before[i];
      }
      return;
    case Recurrence::lstm:
      HEED_VECTORIZE
      for (int64_t i = 0; i < H; ++i) {
        const T in = math::sigmoid(sum(i)), forget = math::sigmoid(sum(H + i));
        const T candidate = math::tanh(sum(2 * H + i)), out = math::sigmoid(sum(3 * H + i));
        const T c = y[H + i] = forget * before[H + i] + in * candidate;
        a[i] = in;
        a[H + i] = forget;
        a[2 * H + i] = candidate;
        a[3 * H + i] = out;
        y[i] = out * math::tanh(c);
      }
      return;
  }
}
template decltype(recurrent_step<float>) recurrent_step<float>;
template decltype(recurrent_step<double>) recurrent_step<double>;

namespace {

// The gradients of one step. d is the gradient of the state after it, and becomes the part of the gradient of
// the state before it that does not pass through W h. dx and da are the gradients of x and of W h + b. They
// are equal except for gru, and da is written for gru only.
template <class T>
void step_backward(Recurrence kind, int64_t H, const T* gates, const T* before, const T* y, T* d, T* dx,
                   T* da) {
  switch (kind) {
    case Recurrence::rnn_tanh:
    case Recurrence::rnn_relu:
      for (int64_t i = 0; i < H; ++i)
        dx[i] = kind == Recurrence::rnn_tanh ? d[i] * (1 - y[i] * y[i]) : y[i] > 0 ? d[i] : T(0);
      std::fill_n(d, H, T(0));
      return;
    case Recurrence::gru:
      HEED_VECTORIZE
      for (int64_t i = 0; i < H; ++i) {
        const T r = gates[i], z = gates[H + i], inner = gates[2 * H + i], candidate = gates[3 * H + i];
        const T dn = dx[2 * H + i] = d[i] * (1 - z) * (1 - candidate * candidate);
        dx[i] = da[i] = dn * inner * r * (1 - r);
        dx[H + i] = da[H + i] = d[i] * (before[i] - candidate) * z * (1 - z);
        da[2 * H + i] = dn * r;
        d[i] *= z;
      }
      return;
    case Recurrence::lstm:
      HEED_VECTORIZE
      for (int64_t i = 0; i < H; ++i) {
        const T in = gates[i], forget = gates[H + i], candidate = gates[2 * H + i], out = gates[3 * H + i];
        const T shown = math::tanh(y[H + i]);
        const T dc = d[H + i] + d[i] * out * (1 - shown * shown);
        dx[i] = dc * candidate * in * (1 - in);
        dx[H + i] = dc * before[H + i] * forget * (1 - forget);
        dx[2 * H + i] = dc * in * (1 - candidate * candidate);
        dx[3 * H + i] = d[i] * shown * out * (1 - out);
        d[i] = 0;
        d[H + i] = dc * forget;
      }
      return;
  }
}

// Sequences are independent, so each thread runs some of them through all steps: see Note [Same bits] in
// tensor/parallel.h. As every block of sequences reads the whole weight at every step, there are few: halves
// of the batch, of at most 64 sequences.
int64_t sequences_per_block(int64_t batch) {
  return std::clamp<int64_t>((batch + 1) / 2, std::min<int64_t>(batch, 16), 64);
}

// x [T, B, n] as a matrix of its rows: at(t, b) is the first element of sequence b at step t.
template <class T>
Matrix<T> rows_of(const Tensor& x) {
  return {detail::first_of<T>(x), x.strides()[0], x.strides()[1]};
}

// x, or a copy if its rows are not dense.
Tensor with_dense_rows(const Tensor& x) { return x.strides().back() == 1 ? x : contiguous(x); }

// An uninitialized [T, B, n] in the memory order of `like`.
Tensor empty_ordered_as(const Tensor& like, int64_t n) {
  return empty_like_rows({like.size(0), like.size(1), n}, like);
}

// What forward and backward share: the sizes, and the state before each step. Steps are counted in the order
// in which they run.
template <class T>
struct RecurrentRun {
  const RecurrentRule& rule;
  const Tensor &all_y, &state, &all_weight;  // [T, B, S]; [B, S] or undefined; [G H, H], contiguous

  const int64_t steps = all_y.size(0), batch = all_y.size(1), S = all_y.size(2);
  const int64_t GH = all_weight.size(0), H = all_weight.size(1);
  const bool from_zero = !state.defined();
  const Tensor first = from_zero ? full({S}, 0, all_y.dtype()) : contiguous(state);
  const Matrix<const T> weight{all_weight.data<T>(), H, 1}, y = rows_of<const T>(all_y);

  /// The time of step `index`.
  int64_t time(int64_t index) const { return rule.reverse ? steps - 1 - index : index; }
  /// The states before step `index`, as rows [B, S].
  Matrix<const T> before(int64_t index) const {
    if (index == 0) return {first.data<T>(), from_zero ? 0 : S, 1};
    return {y.at(time(index - 1), 0), y.col_step, 1};
  }
};

}  // namespace

RecurrentResult recurrent_forward(const RecurrentRule& rule, const Tensor& strided_x, const Tensor& state,
                                  const Tensor& strided_weight, const Tensor& strided_bias, bool keep_gates) {
  if (reference_mode())
    return plain::recurrent_forward(rule, strided_x, state, strided_weight, strided_bias, keep_gates);
  const Tensor all_x = with_dense_rows(strided_x), all_weight = contiguous(strided_weight);
  const int64_t steps = all_x.size(0), batch = all_x.size(1), H = all_weight.size(1);
  const Tensor bias = contiguous_or(0, strided_bias, {all_weight.size(0)}, all_x.dtype());
  const Tensor all_y = empty_ordered_as(all_x, rule.state_size(H));
  const int64_t saved = rule.saved_size(H);
  const bool keep = keep_gates && saved > H;
  // Gates that are not kept are overwritten at each step.
  const Tensor all_gates = keep ? empty_ordered_as(all_x, saved)
                                : TensorImpl::view(Tensor::empty({batch, saved}, all_x.dtype()),
                                                   {steps, batch, saved}, {0, saved, 1});
  product_flops() += 2 * steps * batch * all_weight.numel();
  visit_floating(all_x.dtype(), [&]<class T>(Type<T>) {
    const RecurrentRun<T> run{rule, all_y, state, all_weight};
    const Matrix<const T> x = rows_of<const T>(all_x);
    const Matrix<T> y = rows_of<T>(all_y), gates = rows_of<T>(all_gates);
    ReusedMatrix<T> weight;
    weight.set(steps * batch, H, run.GH, 1, run.weight.transposed());
    parallel_for(batch, sequences_per_block(batch), [&, b_data = bias.data<T>()](int64_t begin, int64_t end) {
      for (int64_t index = 0; index < steps; ++index) {
        const int64_t t = run.time(index);
        const Matrix<const T> before = run.before(index);
        if (index == 0 && run.from_zero)
          for (int64_t b = begin; b < end; ++b) std::fill_n(gates.at(t, b), run.GH, T(0));
        else
          weight.multiply(end - begin, run.GH, H, before.block(begin, 0), {},
                          {gates.at(t, begin), gates.col_step, 1});
        for (int64_t b = begin; b < end; ++b)
          if (rule.ended(t, b))
            std::copy_n(before.at(b, 0), run.S, y.at(t, b));
          else
            recurrent_step(rule.kind, H, x.at(t, b), b_data, before.at(b, 0), gates.at(t, b), y.at(t, b));
      }
    });
  });
  return {all_y, keep ? all_gates : Tensor()};
}

// The gradient of the state runs back from step to step. That of the weight is one product over all steps at
// the end, for which all_h [T, B, H] collects the h before each of them.
RecurrentGradients recurrent_backward(const RecurrentRule& rule, const Tensor& strided_g, const Tensor& state,
                                      const Tensor& strided_weight, const RecurrentResult& forward) {
  const Tensor all_g = with_dense_rows(strided_g), all_weight = contiguous(strided_weight);
  const Tensor& all_y = forward.y;
  const Tensor dstate = full({all_y.size(1), all_y.size(2)}, 0, all_y.dtype());
  const Tensor all_dx = empty_ordered_as(all_y, all_weight.size(0)),
               all_h = empty_ordered_as(all_y, all_weight.size(1));
  const Tensor all_da = rule.kind == Recurrence::gru ? empty_ordered_as(all_y, all_weight.size(0)) : all_dx;
  product_flops() += 2 * all_y.size(0) * all_y.size(1) * all_weight.numel();
  visit_floating(all_y.dtype(), [&]<class T>(Type<T>) {
    const RecurrentRun<T> run{rule, all_y, state, all_weight};
    const Matrix<const T> g = rows_of<const T>(all_g), y = run.y;
    const Matrix<const T> gates = forward.gates.defined() ? rows_of<const T>(forward.gates) : y;
    const Matrix<T> dx = rows_of<T>(all_dx), da = rows_of<T>(all_da), h = rows_of<T>(all_h);
    const Matrix<T> d{dstate.mutable_data<T>(), run.S, 1};
    ReusedMatrix<T> weight;
    weight.set(run.steps * run.batch, run.GH, run.H, 1, run.weight);
    parallel_for(run.batch, sequences_per_block(run.batch), [&](int64_t begin, int64_t end) {
      for (int64_t index = run.steps - 1; index >= 0; --index) {
        const int64_t t = run.time(index);
        const Matrix<const T> before = run.before(index);
        for (int64_t b = begin; b < end; ++b) {
          for (int64_t i = 0; i < run.S; ++i) d.at(b, 0)[i] += g.at(t, b)[i];
          std::copy_n(before.at(b, 0), run.H, h.at(t, b));
          if (rule.ended(t, b))
            for (T* none : {dx.at(t, b), da.at(t, b)}) std::fill_n(none, run.GH, T(0));
          else
            step_backward(rule.kind, run.H, gates.at(t, b), before.at(b, 0), y.at(t, b), d.at(b, 0),
                          dx.at(t, b), da.at(t, b));
        }
        if (index > 0 || !run.from_zero)
          weight.multiply(end - begin, run.H, run.GH, {da.at(t, begin), da.col_step, 1}, d.block(begin, 0),
                          d.block(begin, 0));
      }
    });
  });
  // All steps of all sequences as the rows of a matrix, in the order of memory.
  const auto merged = [](const Tensor& x) { return TensorImpl::view(x, {x.size(0) * x.size(1), x.size(2)}); };
  const Tensor rows = merged(all_da);
  return {all_dx, dstate, matmul(last_swapped_with(rows, 0), merged(all_h)), sum(rows, {0}, false)};
}

}  // namespace heed::kernel
