#include "tensor/kernels/optim.h"

#include <cmath>
#include <vector>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/loop.h"
#include "tensor/parallel.h"

namespace heed::kernel {
namespace {

constexpr int64_t kSweep = 8192;  // elements one thread takes at a time: several tensors of it fit its cache

template <class T>
T* first_of(const Tensor& x) {
  return const_cast<T*>(x.data<T>());
}

// Calls update(p, g, memory...) for every element, g being the gradient as the step starts with it. What
// update changes through its references is stored.
template <class T, class Update, class... Memory>
void sweep(const Tensor& p, const Tensor& g, const StepOptions& step, const Update& update,
           const Memory&... memory) {
  const Tensor gradient = contiguous(g);
  const T sign = step.maximize ? T(-1) : T(1);
  const T decay = static_cast<T>(step.weight_decay);
  parallel_for(p.numel(), kSweep, [&](int64_t begin, int64_t end) {
    const auto run = [&](T* p_, const T* g_, auto*... memory_) {
      HEED_VECTORIZE
      for (int64_t i = begin; i < end; ++i) update(p_[i], sign * g_[i] + decay * p_[i], memory_[i]...);
    };
    run(first_of<T>(p), gradient.data<T>(), first_of<T>(memory)...);
  });
}

}  // namespace

void sgd_step(const Tensor& p, const Tensor& g, const Tensor& v, const StepOptions& step,
              const Momentum& momentum) {
  visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T lr = static_cast<T>(step.lr), mu = static_cast<T>(momentum.momentum);
    const T fresh = static_cast<T>(1 - momentum.dampening);
    if (!v.defined()) return sweep<T>(p, g, step, [=](T& p_, T g_) { p_ -= lr * g_; });
    if (momentum.nesterov)
      return sweep<T>(
          p, g, step,
          [=](T& p_, T g_, T& v_) {
            v_ = mu * v_ + fresh * g_;
            p_ -= lr * (g_ + mu * v_);
          },
          v);
    sweep<T>(
        p, g, step,
        [=](T& p_, T g_, T& v_) {
          v_ = mu * v_ + fresh * g_;
          p_ -= lr * v_;
        },
        v);
  });
}

void adam_step(const Tensor& p, const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& largest_v,
               const StepOptions& step, const Adam& adam) {
  const double t = static_cast<double>(adam.t);
  const double correction1 = 1 - std::pow(adam.beta1, t);
  const double correction2 = 1 - std::pow(adam.beta2, t);
  StepOptions coupled = step;
  if (adam.decoupled) coupled.weight_decay = 0;
  visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T keep = adam.decoupled ? static_cast<T>(1 - step.lr * step.weight_decay) : T(1);
    const T beta1 = static_cast<T>(adam.beta1), fresh1 = static_cast<T>(1 - adam.beta1);
    const T beta2 = static_cast<T>(adam.beta2), fresh2 = static_cast<T>(1 - adam.beta2);
    const T size = static_cast<T>(step.lr / correction1), eps = static_cast<T>(adam.eps);
    const T root = static_cast<T>(1 / std::sqrt(correction2));
    const auto moments = [=](T g_, T& m_, T& v_) {
      m_ = beta1 * m_ + fresh1 * g_;
      v_ = beta2 * v_ + fresh2 * g_ * g_;
    };
    if (!largest_v.defined())
      return sweep<T>(
          p, g, coupled,
          [=](T& p_, T g_, T& m_, T& v_) {
            moments(g_, m_, v_);
            p_ = keep * p_ - size * m_ / (std::sqrt(v_) * root + eps);
          },
          m, v);
    sweep<T>(
        p, g, coupled,
        [=](T& p_, T g_, T& m_, T& v_, T& most) {
          moments(g_, m_, v_);
          most = v_ > most ? v_ : most;
          p_ = keep * p_ - size * m_ / (std::sqrt(most) * root + eps);
        },
        m, v, largest_v);
  });
}

void rmsprop_step(const Tensor& p, const Tensor& g, const Tensor& v, const Tensor& mean, const Tensor& b,
                  const StepOptions& step, const RMSprop& rmsprop) {
  visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T lr = static_cast<T>(step.lr), eps = static_cast<T>(rmsprop.eps);
    const T mu = static_cast<T>(rmsprop.momentum);
    const T alpha = static_cast<T>(rmsprop.alpha), fresh = static_cast<T>(1 - rmsprop.alpha);
    const auto plain = [=](T g_, T& v_) {
      v_ = alpha * v_ + fresh * g_ * g_;
      return g_ / (std::sqrt(v_) + eps);
    };
    const auto centred = [=](T g_, T& v_, T& mean_) {
      v_ = alpha * v_ + fresh * g_ * g_;
      mean_ = alpha * mean_ + fresh * g_;
      return g_ / (std::sqrt(v_ - mean_ * mean_) + eps);
    };
    const auto move = [=](T& p_, T d, T& b_) {
      b_ = mu * b_ + d;
      p_ -= lr * b_;
    };
    if (!mean.defined() && !b.defined())
      sweep<T>(
          p, g, step, [=](T& p_, T g_, T& v_) { p_ -= lr * plain(g_, v_); }, v);
    else if (!mean.defined())
      sweep<T>(
          p, g, step, [=](T& p_, T g_, T& v_, T& b_) { move(p_, plain(g_, v_), b_); }, v, b);
    else if (!b.defined())
      sweep<T>(
          p, g, step, [=](T& p_, T g_, T& v_, T& mean_) { p_ -= lr * centred(g_, v_, mean_); }, v, mean);
    else
      sweep<T>(
          p, g, step, [=](T& p_, T g_, T& v_, T& mean_, T& b_) { move(p_, centred(g_, v_, mean_), b_); }, v,
          mean, b);
  });
}

void adagrad_step(const Tensor& p, const Tensor& g, const Tensor& s, const StepOptions& step, double eps_) {
  visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T lr = static_cast<T>(step.lr), eps = static_cast<T>(eps_);
    sweep<T>(
        p, g, step,
        [=](T& p_, T g_, T& s_) {
          s_ += g_ * g_;
          p_ -= lr * g_ / (std::sqrt(s_) + eps);
        },
        s);
  });
}

double sum_of_powers(const Tensor& x, double p) {
  const Tensor values = contiguous(x);
  const bool largest = std::isinf(p);
  const auto join = [largest](double sum, double term) {
    return largest ? (term > sum || std::isnan(term) ? term : sum) : sum + term;
  };
  std::vector<double> parts(static_cast<size_t>((x.numel() + kSweep - 1) / kSweep));
  visit_floating(x.dtype(), [&]<class T>(Type<T>) {
    const T* first = values.data<T>();
    parallel_for(x.numel(), kSweep, [&](int64_t begin, int64_t end) {
      std::array<double, 8> lanes{};  // sums side by side, so that the loop becomes vector code
      const auto add = [&](auto&& power) {
        for (int64_t i = begin; i < end; i += 8)
          for (int64_t l = 0; l < 8; ++l) {
            const double value = i + l < end ? std::abs(static_cast<double>(first[i + l])) : 0;
            lanes[static_cast<size_t>(l)] = join(lanes[static_cast<size_t>(l)], power(value));
          }
      };
      if (p == 2)
        add([](double v) { return v * v; });
      else if (p == 1 || largest)
        add([](double v) { return v; });
      else if (p == 0)
        add([](double v) { return double(v != 0); });
      else
        add([p](double v) { return std::pow(v, p); });
      double& part = parts[static_cast<size_t>(begin / kSweep)];
      for (const double lane : lanes) part = join(part, lane);
    });
  });
  double result = 0;
  for (const double part : parts) result = join(result, part);
  return result;
}

}  // namespace heed::kernel
