// products [float64]: heed's product, by one thread, beside OpenBLAS as this computer runs it, on the shapes
// of the workloads, in float32 or float64. Prints GFLOP/s of both, their ratio, heed's share of the peak of
// fused multiply-adds, and the geometric means. Each number is the best of many short runs, in turn with the
// other side's and with the peak, because the processor's frequency changes.
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "heed.h"
#include "tensor/kernels/outer_inner.h"
#include "tensor/kernels/product.h"

namespace {

using heed::kernel::Matrix;
using heed::kernel::Simd;

double now_ns() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// The least time of f() seen, from batches of about 0.3 ms.
template <class F>
double time_ns(const F& f) {
  double start = now_ns();
  f();
  const auto times = static_cast<int>(1 + 3e5 / (now_ns() - start));
  double best = 1e18;
  for (int batch = 0; batch < 5; ++batch) {
    start = now_ns();
    for (int i = 0; i < times; ++i) f();
    best = std::min(best, (now_ns() - start) / times);
  }
  return best;
}

// GFLOP/s of independent chains in registers.
template <class T>
double peak() {
  constexpr int kChains = 12, kSteps = 10000;
  const double ns = time_ns([] {
    typename Simd<T>::Values sum[kChains] = {};
    for (int step = 0; step < kSteps; ++step) HEED_UNROLL
    for (auto& s : sum) {
      s = s * T(0.5) + T(0.5);
      asm volatile("" : "+v"(s));  // each a chain of its own, though they hold the same
    }
  });
  return 2.0 * Simd<T>::size * kChains * kSteps / ns;
}

struct Case {
  const char* of;  // whose product it is
  int n, k, m;
};

// Forward of a layer is x [n, k] times its weight [m, k] transposed; the two of backward follow from it.
const std::vector<Case> layers{{"linear", 64, 256, 256},
                               {"linear", 2048, 256, 1024},
                               {"linear", 4096, 1024, 1024},
                               {"mlp", 64, 784, 128},
                               {"mha", 2048, 128, 128},
                               {"mha", 2048, 256, 256},
                               {"mha", 2048, 512, 512},
                               {"transformer/small", 2048, 128, 512},
                               {"transformer/small", 2048, 512, 128},
                               {"transformer/large", 2560, 256, 256},
                               {"transformer/large", 2560, 256, 1024},
                               {"transformer/large", 2560, 1024, 256},
                               {"gru", 1280, 256, 768},
                               {"gru", 128, 512, 768},
                               {"gpt", 2048, 384, 384},
                               {"gpt", 2048, 384, 1536},
                               {"gpt", 2048, 1536, 384}};
const std::vector<Case> small{{"heads", 16, 32, 16}, {"heads", 32, 32, 32},  {"heads", 64, 32, 64},
                              {"heads", 20, 64, 20}, {"rows", 1, 128, 128},  {"rows", 1, 128, 512},
                              {"rows", 1, 512, 128}, {"rows", 1, 1024, 1024}};

struct Means {
  double log_ratio = 0, log_share = 0, least_ratio = 1e9, least_share = 1e9;
  int count = 0;

  void add(double ratio, double share) {
    log_ratio += std::log(ratio);
    log_share += std::log(share);
    least_ratio = std::min(least_ratio, ratio);
    least_share = std::min(least_share, share);
    ++count;
  }
  void print(const char* what) const {
    std::printf(
        "%s: %d products, geometric mean %.2f of OpenBLAS (least %.2f), %.0f %% of the peak (least %.0f)\n",
        what, count, std::exp(log_ratio / count), least_ratio, 100 * std::exp(log_share / count),
        100 * least_share);
  }
};

template <class T>
constexpr auto blas_gemm = cblas_dgemm;
template <>
constexpr auto blas_gemm<float> = cblas_sgemm;
template <class T>
constexpr auto blas_gemv = cblas_dgemv;
template <>
constexpr auto blas_gemv<float> = cblas_sgemv;

// One product, a and b each transposed or not: "nt" is a as it is, b transposed.
template <class T>
void compare(const Case& c, const char* form, Means& means) {
  const bool ta = form[0] == 't', tb = form[1] == 't';
  const auto numbers = [](int rows, int columns) { return heed::randn({rows, columns}, heed::dtype_of<T>); };
  const heed::Tensor a = ta ? numbers(c.k, c.n) : numbers(c.n, c.k),
                     b = tb ? numbers(c.m, c.k) : numbers(c.k, c.m);
  const heed::Tensor y = numbers(c.n, c.m), z = numbers(c.n, c.m);
  const T *x = a.data<T>(), *w = b.data<T>();
  T *out = y.mutable_data<T>(), *other = z.mutable_data<T>();
  const auto heed = [&] {
    heed::kernel::gemm<T>(c.n, c.m, c.k, 1, ta ? Matrix<const T>{x, 1, c.n} : Matrix<const T>{x, c.k, 1},
                          tb ? Matrix<const T>{w, 1, c.k} : Matrix<const T>{w, c.m, 1}, {}, {out, c.m, 1});
  };
  const auto openblas = [&] {
    if (c.n == 1)
      return blas_gemv<T>(CblasRowMajor, tb ? CblasNoTrans : CblasTrans, tb ? c.m : c.k, tb ? c.k : c.m, 1, w,
                          tb ? c.k : c.m, x, 1, 0, other, 1);
    blas_gemm<T>(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, c.n, c.m, c.k,
                 1, x, ta ? c.n : c.k, w, tb ? c.k : c.m, 0, other, c.m);
  };
  double ours = 1e18, theirs = 1e18, best = 0;
  for (int turn = 0; turn < 7; ++turn) {
    best = std::max(best, peak<T>());
    ours = std::min(ours, time_ns(heed));
    theirs = std::min(theirs, time_ns(openblas));
  }
  const double flop = 2.0 * c.n * c.k * c.m;
  means.add(theirs / ours, flop / ours / best);
  std::printf("%-18s %5d x %4d x %4d %s %8.1f %8.1f %6.2f %5.0f %%\n", c.of, c.n, c.k, c.m, form, flop / ours,
              flop / theirs, theirs / ours, 100 * flop / ours / best);
}

template <class T>
void compare_all() {
  const double best = std::max(peak<T>(), peak<T>());
  std::printf("peak of fused multiply-adds: %.1f GFLOP/s; OpenBLAS: %s\n", best, openblas_get_config());
  std::printf("%-18s %5s   %4s   %4s %s %8s %8s %6s %7s\n", "of", "n", "k", "m", "  ", "heed", "OpenBLAS",
              "ratio", "of peak");
  Means large, little;
  for (const Case& c : layers) {
    compare<T>(c, "nt", large);                      // y = x W^T
    compare<T>({c.of, c.n, c.m, c.k}, "nn", large);  // dx = dy W
    compare<T>({c.of, c.m, c.n, c.k}, "tn", large);  // dW = dy^T x
  }
  for (const Case& c : small)
    for (const char* form : {"nt", "nn"}) compare<T>(c, form, little);
  large.print("from 64 x 256 x 256 on");
  little.print("heads and rows");
}

}  // namespace

int main(int argc, char** argv) {
  omp_set_num_threads(1);
  if (argc > 1 && std::strcmp(argv[1], "float64") == 0)
    compare_all<double>();
  else
    compare_all<float>();
}
