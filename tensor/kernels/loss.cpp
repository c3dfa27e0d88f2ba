#include "tensor/kernels/loss.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/reduce.h"

namespace heed::kernel {
namespace {

// Shared by all rows: the targets, and the weight of every class.
template <class T>
struct Classes {
  const ClassTargets& targets;
  const int64_t count;

  const int64_t* target = targets.target.data<int64_t>();
  const Tensor weights = targets.weight.defined() ? targets.weight : full({count}, 1, dtype_of<T>);
  const T* weight = weights.data<T>();
  const T total = static_cast<T>(sum(weights, {0}, false).item());
  const T smoothing = static_cast<T>(targets.smoothing);
  const T exact = 1 - smoothing, share = smoothing / static_cast<T>(count);
};

// log sum exp(x - most)
template <class T>
T log_sum_exp(const T* x, int64_t n, T most) {
  T part[kRun];
  double sum = 0;
  for (int64_t start = 0; start < n; start += kRun)
    sum += exp_line(std::min(kRun, n - start), x + start, most, part);
  return static_cast<T>(std::log(sum));
}

}  // namespace

double total_weight(const ClassTargets& targets, int64_t classes) {
  const auto* target = targets.target.data<int64_t>();
  std::vector<double> weight;
  if (targets.weight.defined()) weight = targets.weight.to_vector();
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
  const auto row_of_each = [&] { return Tensor::empty(targets.target.shape(), x.dtype()); };
  CrossEntropy y{row_of_each(), row_of_each(), row_of_each()};
  const int64_t classes = x.shape().back();
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const Classes<T> c{targets, classes};
    const T* logits = x.data<T>();
    T *loss = y.loss.mutable_data<T>(), *most = y.most.mutable_data<T>(),
      *total = y.log_total.mutable_data<T>();
    each_row(y.loss.numel(), classes, [&](int64_t r) {
      const int64_t t = c.target[r];
      loss[r] = most[r] = total[r] = 0;
      if (t == c.targets.ignore_index) return;
      const T* row = logits + r * classes;
      const T largest = most[r] = max_line(classes, row[0], row);
      const T log_total = total[r] = log_sum_exp(row, classes, largest);
      loss[r] = c.exact * c.weight[t] * (log_total + (largest - row[t]));
      if (c.share == 0) return;
      const auto other_loss = [=](auto weight, auto v) { return weight * (log_total + (largest - v)); };
      loss[r] += c.share * static_cast<T>(sum_line(classes, other_loss, c.weight, row));
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
    const T *logits = x.data<T>(), *gradient = g.data<T>();
    const T *most = forward.most.data<T>(), *total = forward.log_total.data<T>();
    T* out = dx.mutable_data<T>();
    each_row(g.numel(), classes, [&](int64_t r) {
      const T* row = logits + r * classes;
      T* to = out + r * classes;
      const int64_t t = c.target[r];
      if (t == c.targets.ignore_index) {
        std::fill_n(to, classes, T(0));
        return;
      }
      const T picked = c.exact * c.weight[t] * gradient[r], spread = c.share * gradient[r];
      const T all = picked + spread * c.total;
      const T largest = most[r], log_total = total[r];
      HEED_VECTORIZE
      for (int64_t j = 0; j < classes; ++j) to[j] = all * math::exp_below((row[j] - largest) - log_total);
      if (spread != 0)
        for (int64_t j = 0; j < classes; ++j) to[j] -= spread * c.weight[j];
      to[t] -= picked;
    });
  });
  return dx;
}

}  // namespace heed::kernel
