#include "tensor/kernels/optim.h"

#include <cmath>
#include <vector>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/lines.h"
#include "tensor/kernels/map.h"

namespace heed::kernel {
namespace {

constexpr int64_t kSweep = 8192;  // elements one thread takes at a time: several tensors of it fit its cache

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
    run(detail::first_of<T>(p), gradient.data<T>(), detail::first_of<T>(memory)...);
  });
}

// The gradient as a step starts with it.
Tensor started(const Tensor& p, const Tensor& g, const StepOptions& step) {
  return add(step.maximize ? map(g, [](auto v) { return -v; }) : g, p, step.weight_decay);
}

// g / (sqrt(v) + eps)
Tensor normalized(const Tensor& g, const Tensor& v, double eps) {
  return zip(g, v, [eps](auto g_, auto v_) { return g_ / (std::sqrt(v_) + static_cast<decltype(v_)>(eps)); });
}

// out <- keep out + fresh x
void fade(const Tensor& out, const Tensor& x, double keep, double fresh) {
  mul_into(out, full({}, keep, out.dtype()));
  add_into(out, x, fresh);
}

}  // namespace

void sgd_step(const Tensor& p, const Tensor& g, const Tensor& v, const StepOptions& step,
              const MomentumStep& momentum) {
  visit_floating(p.dtype(), [&]<class T>(Type<T>) {
    const T lr = static_cast<T>(step.lr), mu = static_cast<T>(momentum.momentum);
    const T fresh = static_cast<T>(1 - momentum.dampening);
    const auto plain = [=](T& p_, T g_) { p_ -= lr * g_; };
    const auto with_momentum = [=, nesterov = momentum.nesterov](T& p_, T g_, T& v_) {
      v_ = mu * v_ + fresh * g_;
      p_ -= lr * (nesterov ? g_ + mu * v_ : v_);
    };
    v.defined() ? sweep<T>(p, g, step, with_momentum, v) : sweep<T>(p, g, step, plain);
  });
}

void adam_step(const Tensor& p, const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& largest_v,
               const StepOptions& step, const AdamStep& adam) {
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
    const auto update = [=](T& p_, T g_, T& m_, T& v_, auto&... largest) {
      m_ = beta1 * m_ + fresh1 * g_;
      v_ = beta2 * v_ + fresh2 * g_ * g_;
      T spread = v_;
      [[maybe_unused]] const auto raise = [&](T& most) { spread = most = v_ > most ? v_ : most; };
      (raise(largest), ...);
      p_ = keep * p_ - size * m_ / (std::sqrt(spread) * root + eps);
    };
    largest_v.defined() ? sweep<T>(p, g, coupled, update, m, v, largest_v)
                        : sweep<T>(p, g, coupled, update, m, v);
  });
}

// The two that follow take several passes: few train by them.

void rmsprop_step(const Tensor& p, const Tensor& g, const Tensor& v, const Tensor& mean, const Tensor& b,
                  const StepOptions& step, const RMSpropStep& rmsprop) {
  Tensor d = started(p, g, step), spread = v;
  fade(v, square(d), rmsprop.alpha, 1 - rmsprop.alpha);
  if (mean.defined()) {
    fade(mean, d, rmsprop.alpha, 1 - rmsprop.alpha);
    spread = sub(v, square(mean));
  }
  d = normalized(d, spread, rmsprop.eps);
  if (b.defined()) fade(b, d, rmsprop.momentum, 1);
  add_into(p, b.defined() ? b : d, -step.lr);
}

void adagrad_step(const Tensor& p, const Tensor& g, const Tensor& s, const StepOptions& step, double eps) {
  const Tensor d = started(p, g, step);
  add_into(s, square(d));
  add_into(p, normalized(d, s, eps), -step.lr);
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
      double lanes[8] = {};  // sums side by side, so that the loop becomes vector code
      const auto add = [&](auto&& power) {
        for (int64_t i = begin; i < end; i += 8)
          for (int64_t l = 0; l < 8; ++l) {
            const double value = i + l < end ? std::abs(static_cast<double>(first[i + l])) : 0;
            lanes[l] = join(lanes[l], power(value));
          }
      };
      if (p == 2)
        add([](double v) { return v * v; });
      else if (p == 1 || largest)
        add(itself);
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
