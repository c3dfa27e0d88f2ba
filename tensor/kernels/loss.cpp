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
  explicit Weights(const ClassTargets& targets, int64_t classes)
      : each(targets.weight.defined() ? targets.weight.data<T>() : nullptr),
        sum(each ? static_cast<T>(kernel::sum(targets.weight, {0}, false).template item<double>())
                 : static_cast<T>(classes)) {}
  T operator[](int64_t j) const { return each ? each[j] : T(1); }
  const T* each;
  T sum;
};

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
  const CrossEntropy y{Tensor::empty(targets.target.shape(), x.dtype()),
                       Tensor::empty(targets.target.shape(), x.dtype())};
  const int64_t classes = x.shape().back();
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const Weights<T> w(targets, classes);
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
        const T most = join_line(
            classes, row[0], [row](int64_t j) { return row[j]; }, [](T a, T b) { return b > a ? b : a; });
        const double sum = sum_line(classes, [row, most](int64_t j) { return math::exp(row[j] - most); });
        const T all = most + static_cast<T>(std::log(sum));
        lse[r] = all;
        loss[r] = (1 - smoothing) * w[t] * (all - row[t]);
        if (smoothing != 0)
          loss[r] +=
              share * static_cast<T>(sum_line(classes, [&](int64_t j) { return w[j] * (all - row[j]); }));
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
    const Weights<T> w(targets, classes);
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
