#pragma once

#include <functional>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/loop.h"
#include "tensor/parallel.h"

namespace heed::kernel {

/// Elements one thread takes at a time: several tensors of it fit its cache.
inline constexpr int64_t kSweep = 8192;

/// One pass of an optimiser over a parameter, made ready: update(p, g, memory...) for every element, where g
/// is sign g + decay p. What is returned runs it, and neither asks for memory nor throws. All have one shape
/// and the dtype T; what update changes through its references is stored, and contiguous. Not counted as a
/// write for Note [Versions]: the caller says who wrote.
template <class T, class Update, class... Memory>
std::function<void()> sweep(const Tensor& p, const Tensor& g, T sign, T decay, const Update& update,
                            const Memory&... memory) {
  return [=, gradient = contiguous(g)] {
    parallel_for(p.numel(), kSweep, [&](int64_t begin, int64_t end) {
      const auto run = [&, each = update](T* p_, const T* g_, auto*... memory_) {
        HEED_VECTORIZE
        for (int64_t i = begin; i < end; ++i) each(p_[i], sign * g_[i] + decay * p_[i], memory_[i]...);
      };
      run(detail::first_of<T>(p), gradient.data<T>(), detail::first_of<T>(memory)...);
    });
  };
}

/// sum |x|^p; the largest |x| for p = infinity, the number of non-zeros for p = 0. Summed in float64.
double sum_of_powers(const Tensor& x, double p);

}  // namespace heed::kernel
