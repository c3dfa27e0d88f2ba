#include "tensor/kernels/loss.h"

#include <cmath>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/lines.h"
#include "tensor/kernels/math.h"
#include "tensor/kernels/reduce.h"
#include "tensor/parallel.h"

namespace heed::kernel {
namespace {

int64_t rows_at_once(int64_t classes) { return std::max<int64_t>(1, kBlock / std::max<int64_t>(1, classes)); }

template <class T>
struct Weights {
  Weights(const ClassTargets& targets, int64_t classes, DType dtype)
      : tensor(targets.weight.defined() ? targets.weight : full({classes}, 1, dtype)),
        each(tensor.data<T>()),
        sum(static_cast<T>(kernel::sum(tensor, {0}, false).template item<double>())) {}
  T operator[](int64_t j) const { return each[j]; }
  Tensor tensor;
  const T* each;
  T sum;
};

template <class T>
T log_sum_exp(const T* x, int64_t n) {
  const auto itself = [](auto v) { return v; };
  const T most = join_line(
      n, x[0], [](auto a, auto b) { return b > a ? b : a; }, itself, x);
  T part[kRun];
  double sum = 0;
  for (int64_t start = 0; start < n; start += kRun) {
    const int64_t count = std::min(kRun, n - start);
    HEED_VECTORIZE
    for (int64_t i = 0; i < count; ++i) part[i] = math::exp(x[start + i] - most);
    sum += sum_line(count, itself, part);
  }
  return most + static_cast<T>(std::log(sum));
}

}  // namespace

double total_weight(const ClassTargets& targets, int64_t classes) {
  const auto* target = targets.target.data<int64_t>();
  const std::vector<double> weight =
      targets.weight.defined() ? targets.weight.to_vector<double>() : std::vector<double>();
  double total = 0;
  for (int64_t r = 0; r < targets.target.numel(); ++r) {
    const int64_t t = target[r];
    if (t == targets.ignore_index) continue;
    check(t >= 0 && t < classes, "cross_entropy: the target at position ", r, " is ", t,
          ", and the classes are 0 to ", classes - 1, "; targets that do not count are ",
          targets.ignore_index, " (ignore_index)");
    total += weight.empty() ? 1 : weight[static_cast<size_t>(t)];
  }
  return total;
}

CrossEntropy cross_entropy(const Tensor& x, const ClassTargets& targets) {
  CrossEntropy y{Tensor::empty(targets.target.shape(), x.dtype()),
                 Tensor::empty(targets.target.shape(), x.dtype())};
  const int64_t classes = x.shape().back();
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const Weights<T> w(targets, classes, x.dtype());
    const T smoothing = static_cast<T>(targets.smoothing), share = smoothing / static_cast<T>(classes);
    const T* logits = x.data<T>();
    const auto* target = targets.target.data<int64_t>();
    T *loss = y.loss.mutable_data<T>(), *lse = y.logsumexp.mutable_data<T>();
    parallel_for(y.loss.numel(), rows_at_once(classes), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t t = target[r];
        lse[r] = loss[r] = 0;
        if (t == targets.ignore_index) continue;
        const T* row = logits + r * classes;
        const T all = log_sum_exp(row, classes);
        lse[r] = all;
        loss[r] = (1 - smoothing) * w[t] * (all - row[t]);
        if (smoothing == 0) continue;
        const double even = sum_line(
            classes, [all](auto weight, auto v) { return weight * (all - v); }, w.each, row);
        loss[r] += share * static_cast<T>(even);
      }
    });
  });
  return y;
}

Tensor cross_entropy_backward(const Tensor& g, const Tensor& x, const Tensor& logsumexp,
                              const ClassTargets& targets) {
  Tensor dx = Tensor::empty(x.shape(), x.dtype());
  const int64_t classes = x.shape().back();
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const Weights<T> w(targets, classes, x.dtype());
    const T smoothing = static_cast<T>(targets.smoothing), share = smoothing / static_cast<T>(classes);
    const T *logits = x.data<T>(), *lse = logsumexp.data<T>(), *gradient = g.data<T>();
    const auto* target = targets.target.data<int64_t>();
    T* out = dx.mutable_data<T>();
    parallel_for(g.numel(), rows_at_once(classes), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = logits + r * classes;
        T* to = out + r * classes;
        const int64_t t = target[r];
        if (t == targets.ignore_index) {
          std::fill(to, to + classes, T(0));
          continue;
        }
        const T picked = (1 - smoothing) * w[t] * gradient[r], spread = share * gradient[r];
        const T all = picked + spread * w.sum, shift = lse[r];
        HEED_VECTORIZE
        for (int64_t j = 0; j < classes; ++j) to[j] = all * math::exp(row[j] - shift);
        if (spread != 0)
          for (int64_t j = 0; j < classes; ++j) to[j] -= spread * w[j];
        to[t] -= picked;
      }
    });
  });
  return dx;
}

}  // namespace heed::kernel
