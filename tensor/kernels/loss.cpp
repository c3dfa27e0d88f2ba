#include "tensor/kernels/loss.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/reduce.h"

namespace heed::kernel {
namespace {

// What all rows share. The loss of a row with target t is
// exact w_t (-log p_t) + share sum_j w_j (-log p_j).
template <class T>
struct Classes {
  const ClassTargets& targets;
  const int64_t count;

  const int64_t* target = targets.target.data<int64_t>();
  const Tensor weights = contiguous_or(1, targets.weight, {count}, dtype_of<T>);
  const T* weight = weights.data<T>();
  const T total = static_cast<T>(sum(weights, {0}, false).item());
  const T smoothing = static_cast<T>(targets.smoothing);
  const T exact = 1 - smoothing, share = smoothing / static_cast<T>(count);
};

// log sum_j exp(x_j - max)
template <class T>
T log_sum_exp(const T* x, int64_t n, T max) {
  T part[kRun];
  double sum = 0;
  for (int64_t start = 0; start < n; start += kRun)
    sum += exp_line(std::min(kRun, n - start), x + start, max, part);
  return static_cast<T>(std::log(sum));
}

}  // namespace

double total_weight(const ClassTargets& targets, int64_t classes) {
  const auto* target = targets.target.data<int64_t>();
  const auto weight = targets.weight.defined() ? targets.weight.to_vector() : std::vector<double>();
  double total = 0;
  for (int64_t r = 0; r < targets.target.numel(); ++r) {
    const int64_t t = target[r];
    if (t == targets.ignore_index) continue;
    check(t >= 0 && t < classes, "the target at position ", r, " is ", t, ", and the classes are 0 to ",
          classes - 1, "; targets that do not count are ", targets.ignore_index, " (ignore_index)");
    total += weight.empty() ? 1 : weight[static_cast<size_t>(t)];
  }
  return total;
}

CrossEntropy cross_entropy(const Tensor& x, const ClassTargets& targets) {
  const auto one_per_row = [&] { return Tensor::empty(targets.target.shape(), x.dtype()); };
  CrossEntropy y{one_per_row(), one_per_row(), one_per_row()};
  const int64_t classes = x.shape().back();
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const Classes<T> c{targets, classes};
    const T* logits = x.data<T>();
    T *losses = y.loss.mutable_data<T>(), *maxima = y.max.mutable_data<T>(),
      *log_sums = y.log_sum.mutable_data<T>();
    each_row(y.loss.numel(), classes, [&](int64_t r) {
      const int64_t t = c.target[r];
      losses[r] = maxima[r] = log_sums[r] = 0;
      if (t == targets.ignore_index) return;
      const T* row = logits + r * classes;
      const T max = maxima[r] = max_line(classes, row[0], row);
      const T log_sum = log_sums[r] = log_sum_exp(row, classes, max);
      losses[r] = c.exact * c.weight[t] * (log_sum + (max - row[t]));
      if (c.share == 0) return;
      const auto class_loss = [=](auto weight, auto v) { return weight * (log_sum + (max - v)); };
      losses[r] += c.share * static_cast<T>(sum_line(classes, class_loss, c.weight, row));
    });
  });
  return y;
}

Tensor cross_entropy_backward(const Tensor& g, const Tensor& x, const CrossEntropy& forward,
                              const ClassTargets& targets) {
  Tensor dx = Tensor::empty(x.shape(), x.dtype());
  const int64_t classes = x.shape().back();
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const Classes<T> c{targets, classes};
    const T *logits = x.data<T>(), *gradients = g.data<T>();
    const T *maxima = forward.max.data<T>(), *log_sums = forward.log_sum.data<T>();
    T* out = dx.mutable_data<T>();
    each_row(g.numel(), classes, [&](int64_t r) {
      const T* row = logits + r * classes;
      T* dx_row = out + r * classes;
      const int64_t t = c.target[r];
      if (t == targets.ignore_index) return void(std::fill_n(dx_row, classes, T(0)));
      const T exact = c.exact * c.weight[t] * gradients[r], share = c.share * gradients[r];
      const T all = exact + share * c.total;
      const T max = maxima[r], log_sum = log_sums[r];
      HEED_VECTORIZE
      for (int64_t j = 0; j < classes; ++j) dx_row[j] = all * math::exp_below((row[j] - max) - log_sum);
      if (share != 0)
        for (int64_t j = 0; j < classes; ++j) dx_row[j] -= share * c.weight[j];
      dx_row[t] -= exact;
    });
  });
  return dx;
}

}  // namespace heed::kernel
