// floors: what this machine allows at most, and from it the floor of each workload, on OMP_NUM_THREADS
// threads.
//
// floor = multiply-adds of the workload's products / peak of fused multiply-adds
//       + bytes that it must move / bandwidth of the memory level that its arrays fit in.
//
// A product moves its two operands and its result once; the passes between products move nothing, as they may
// be done while the numbers pass by. Scores of attention are never stored. An optimiser reads each gradient,
// and reads and writes what it updates.
#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr double KiB = 1024, MiB = 1024 * KiB;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();  // the machine cannot do it

// Prints a line of the JSON.
double report(const std::string& name, double value) {
  std::printf(std::isnan(value) ? ",\n  \"%s\": null" : ",\n  \"%s\": %.1f", name.c_str(), value);
  return value;
}

// Keeps the compiler from dropping a loop whose result nobody reads.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

double now_ns() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// The time of work(1) in ns; work(n) does it n times. The fastest of several batches: a floor is the time of
// a machine that nothing disturbs.
template <class Work>
double fastest(Work work) {
  work(1);
  int64_t times = 1;
  const auto batch = [&] {
    const double start = now_ns();
    work(times);
    return now_ns() - start;
  };
  double best = batch();
  for (; best < 10e6; best = batch()) times *= 2;
  const double start = now_ns();
  do best = std::min(best, batch());
  while (now_ns() - start < 300e6);
  return best / static_cast<double>(times);
}

// Twelve independent accumulators keep both units busy through the latency of a fused multiply-add. They
// start from different values: equal ones the compiler would merge into a single chain.
constexpr int accumulators = 12;

__attribute__((target("avx512f"))) void fma_avx512(int64_t rounds) {
  __m512 sum[accumulators];
  for (int i = 0; i < accumulators; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 half = _mm512_set1_ps(0.5F);
  for (int64_t round = 0; round < rounds; ++round) {
    for (auto& s : sum) s = _mm512_fmadd_ps(s, half, half);
  }
  for (const auto& s : sum) keep(_mm512_cvtss_f32(s));
}

__attribute__((target("avx2,fma"))) void fma_avx2(int64_t rounds) {
  __m256 sum[accumulators];
  for (int i = 0; i < accumulators; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 half = _mm256_set1_ps(0.5F);
  for (int64_t round = 0; round < rounds; ++round) {
    for (auto& s : sum) s = _mm256_fmadd_ps(s, half, half);
  }
  for (const auto& s : sum) keep(_mm256_cvtss_f32(s));
}

double fma_gflops(void (*rounds)(int64_t), int floats) {
  constexpr int64_t many = 100'000;
  const double ns = fastest([&](int64_t times) {
#pragma omp parallel
    rounds(times * many);
  });
  return 2.0 * floats * accumulators * many * omp_get_max_threads() / ns;
}

using Pass = void (*)(float* a, const float* b, const float* c, int64_t n);

void copy(float* a, const float* b, const float*, int64_t n) {
  std::memcpy(a, b, static_cast<size_t>(n) * sizeof(float));
}

void triad(float* __restrict a, const float* __restrict b, const float* __restrict c, int64_t n) {
  for (int64_t i = 0; i < n; ++i) a[i] = b[i] + 3 * c[i];
}

// Stores that go past the caches, so that a line is not read before it is overwritten.
void triad_streaming(float* a, const float* b, const float* c, int64_t n) {
  const __m128 three = _mm_set1_ps(3);
  for (int64_t i = 0; i + 4 <= n; i += 4) {
    _mm_stream_ps(a + i, _mm_add_ps(_mm_load_ps(b + i), _mm_mul_ps(three, _mm_load_ps(c + i))));
  }
  _mm_sfence();
}

void read(float* a, const float*, const float*, int64_t n) {
  __m128 sum[8] = {};
  for (int64_t i = 0; i + 32 <= n; i += 32) {
    for (int j = 0; j < 8; ++j) sum[j] = _mm_add_ps(sum[j], _mm_load_ps(a + i + 4 * j));
  }
  for (const auto& s : sum) keep(_mm_cvtss_f32(s));
}

// GB/s of a pass over `arrays` arrays of `bytes` in all, in the STREAM convention: a store counts once.
double bandwidth(Pass pass, int arrays, double bytes, float* memory) {
  const int threads = omp_get_max_threads();
  const auto n =
      static_cast<int64_t>(bytes / sizeof(float) / arrays / threads) / 32 * 32;  // of one array and thread
  const double ns = fastest([&](int64_t times) {
#pragma omp parallel
    {
      float* a = memory + omp_get_thread_num() * arrays * n;
      float* b = a + (arrays > 1 ? n : 0);
      float* c = a + (arrays > 2 ? 2 * n : 0);
      for (int64_t i = 0; i < times; ++i) {
        pass(a, b, c, n);
        keep(a);
      }
    }
  });
  return static_cast<double>(n * arrays * threads) * sizeof(float) / ns;
}

struct Level {
  const char* name;
  double measured;  // bytes that the measurement uses
  double size;      // bytes that the level holds
  double bandwidth = 0;
};
std::vector<Level> levels;

// Bytes of the first core's cache of this level. (sysconf adds up the caches of a whole AMD processor.)
double cache_size(int level, double otherwise) {
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    int its_level = 0;
    double kib = 0;
    if (std::ifstream(folder + "/level") >> its_level && its_level == level &&
        std::ifstream(folder + "/size") >> kib) {
      return kib * KiB;
    }
  }
  return otherwise;
}

void measure_memory() {
  levels = {{"L2", 384 * KiB, cache_size(2, MiB) * omp_get_max_threads()},
            {"L3", 12 * MiB, cache_size(3, 32 * MiB)},
            {"DRAM", 768 * MiB, std::numeric_limits<double>::infinity()}};

  const auto bytes = static_cast<size_t>(levels.back().measured);
  const std::unique_ptr<float, void (*)(void*)> memory(static_cast<float*>(std::aligned_alloc(64, bytes)),
                                                       std::free);
  if (memory == nullptr) {
    std::fprintf(stderr, "floors: no memory for the measurement (768 MiB)\n");
    std::exit(1);
  }
  std::fill_n(memory.get(), bytes / sizeof(float), 1.0F);
  for (Level& level : levels) {
    const auto rate = [&](const char* name, Pass pass, int arrays) {
      return report(level.name + std::string(" GB/s, ") + name,
                    bandwidth(pass, arrays, level.measured, memory.get()));
    };
    level.bandwidth = std::max({rate("memcpy", copy, 2), rate("triad", triad, 3),
                                rate("triad, streaming stores", triad_streaming, 3)});
    rate("read", read, 1);
  }
}

// ns for one MiB of fresh memory: mapped, touched page by page, unmapped. An allocator that keeps its blocks
// saves it.
double page_faults(int advice) {
  constexpr size_t bytes = 64 << 20;
  return fastest([&](int64_t times) {
           for (int64_t i = 0; i < times; ++i) {
             void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
             if (block == MAP_FAILED) std::abort();
             madvise(block, bytes, advice);
             for (size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(block)[at] = 1;
             munmap(block, bytes);
           }
         }) /
         64;
}

// What a workload needs: multiply-adds of products, floats moved, and weights, which an optimiser moves
// again.
struct Work {
  double products = 0, floats = 0, weights = 0;
};
Work operator+(Work a, Work b) {
  return {a.products + b.products, a.floats + b.floats, a.weights + b.weights};
}
Work operator*(double n, Work a) { return {n * a.products, n * a.floats, n * a.weights}; }

// Backward has two products for each of forward.
constexpr double forward = 1, both = 3;

// y [n, out] = x [n, in] W^T.
Work linear(double n, double in, double out, double passes = both) {
  return {passes * n * in * out, passes * (n * in + n * out + in * out), in * out};
}

// Images [n, in, size, size] to `out` channels with windows of kernel x kernel, `stride` apart.
Work convolution(double n, double in, double size, double out, double kernel, double stride = 1) {
  const double x = n * size * size, y = x / (stride * stride), weights = in * out * kernel * kernel;
  return {both * y * weights, both * (x * in + y * out + weights), weights};
}

// softmax(q k^T) v of `heads` heads (of every sentence) of width d; `share` of the scores is not masked.
Work attention(double heads, double tq, double tk, double d, double share = 1, double passes = both) {
  return {2 * passes * heads * tq * tk * d * share, 2 * passes * heads * (tq + tk) * d};
}
double causal(double t) { return (t + 1) / (2 * t); }

// Attention of several heads with its projections: of n positions a sentence to themselves, or to m others.
Work self_attention(double batch, double n, double width, double heads, double share = 1) {
  return linear(batch * n, width, 3 * width) + linear(batch * n, width, width) +
         attention(batch * heads, n, n, width / heads, share);
}
Work cross_attention(double batch, double n, double m, double width, double heads) {
  return 2 * linear(batch * n, width, width) + linear(batch * m, width, 2 * width) +
         attention(batch * heads, n, m, width / heads);
}
Work feed_forward(double n, double width, double hidden, double passes = both) {
  return linear(n, width, hidden, passes) + linear(n, hidden, width, passes);
}
Work gru(double n, double in, double hidden) {
  return linear(n, in, 3 * hidden) + linear(n, hidden, 3 * hidden);
}

// Additive attention of width 256: queries, keys, w_v . tanh, weighted sums of the values.
Work additive(double queries, double keys, double scores) {
  return linear(queries, 256, 256) + linear(keys, 256, 256) +
         Work{both * 2 * scores * 256, both * keys * 256};
}

// Weights that no product reads.
Work table(double rows, double width) { return {0, 0, rows * width}; }

// With the update of the weights: SGD moves each 3 times, Adam 7 times, the norm of all gradients once more.
Work trained(Work work, double moves) { return work + Work{0, moves * work.weights}; }

// Encoder and decoder, 128 sentences of length t.
Work transformer(double layers, double width, double hidden, double words, double t) {
  return trained(layers * (self_attention(128, t, width, 4) + self_attention(128, t, width, 4, causal(t)) +
                           cross_attention(128, t, t, width, 4) + 2 * feed_forward(128 * t, width, hidden)) +
                     linear(128 * t, width, words) + table(2 * words, width),
                 7);
}

// n positions of each sentence through the decoder of the small transformer, which attend to `seen` and to 16
// others.
Work decode(double batch, double n, double seen) {
  return 2 * (linear(batch * n, 128, 6 * 128, forward) + feed_forward(batch * n, 128, 512, forward) +
              attention(4 * batch, n, seen, 32, n > 1 ? causal(seen) : 1, forward) +
              attention(4 * batch, n, 16, 32, 1, forward)) +
         linear(batch, 128, 200, forward);
}

double peak_gflops = 0;

// In ns. Most arrays are moved more than once: two thirds of what is moved count as distinct.
double floor_of(Work work) {
  const double bytes = 4 * work.floats;
  const auto fits = [&](const Level& level) { return bytes * 2 / 3 <= level.size; };
  return 2 * work.products / peak_gflops +
         bytes / std::find_if(levels.begin(), levels.end(), fits)->bandwidth;
}

void add(const std::string& name, Work work) { report(name, floor_of(work)); }
void add(const std::string& name, double size, Work work) { add(name + std::to_string(int(size)), work); }

void report_floors() {
  for (const double n : {1e6, 16e6}) {
    add("elementwise_add/", n, {0, 6 * n});  // a, b, y; g, da, db
    for (const char* name : {"elementwise_exp/", "elementwise_tanh/", "elementwise_gelu/"})
      add(name, n, {0, 5 * n});  // x, y; g, x or y, dx
  }
  for (const double cols : {64, 512}) add("softmax/4096x", cols, {0, 5 * 4096 * cols});
  add("softmax/512x8192", {0, 5.0 * 512 * 8192});
  for (const double cols : {256, 1024}) add("layer_norm/4096x", cols, {0, 5 * 4096 * cols});
  add("cross_entropy/4096x1000", {0, 3.0 * 4096 * 1000});  // x; x, dx

  add("linear/64x256->256", linear(64, 256, 256));
  add("linear/2048x256->1024", linear(2048, 256, 1024));
  add("linear/4096x1024->1024", linear(4096, 1024, 1024));

  add("conv2d/32x3x32x32->32k3", convolution(32, 3, 32, 32, 3));
  add("conv2d/32x64x16x16->64k3", convolution(32, 64, 16, 64, 3));
  add("conv2d/16x128x14x14->128k3", convolution(16, 128, 14, 128, 3));
  add("conv2d/8x64x56x56->128k3s2", convolution(8, 64, 56, 128, 3, 2));
  add("conv2d/16x256x14x14->64k1", convolution(16, 256, 14, 64, 1));
  add("batch_norm/32x64x16x16", {0, 5.0 * 32 * 64 * 16 * 16});
  add("batch_norm/8x64x56x56", {0, 5.0 * 8 * 64 * 56 * 56});

  add("kernel_regression_step", {2.0 * 50 * 49, 4.0 * 50 * 49});  // keys and values, forward and backward
  add("mlp_step", trained(linear(64, 784, 128, both - 1) + linear(64, 128, 10), 3));  // x has no gradient
  add("adam_step", {0, 7e7});

  add("attention_scores_additive", additive(64, 640, 640));
  add("mha_step/64x32x128h4", self_attention(64, 32, 128, 4));
  add("mha_step/32x64x256h8", self_attention(32, 64, 256, 8));
  add("mha_step/8x256x512h8", self_attention(8, 256, 512, 8));
  for (const double t : {512, 1024, 2048, 4096, 8192}) {
    add("attention_long/full/", t, attention(8, t, t, 64));
    add("attention_long/causal/", t, attention(8, t, t, 64, causal(t)));
  }

  // Sentences fill three quarters of the padded length on the average. The GRU's encoder reads the padding
  // too.
  add("gru_seq2seq_step",
      trained(2 * gru(1280, 256, 256) + additive(960, 1280, 128 * 7.5 * 7.5) + gru(960, 512, 256) +
                  gru(960, 256, 256) + linear(960, 256, 200) + table(2 * 200, 256),
              8));
  add("transformer_seq2seq_step/small", transformer(2, 128, 512, 200, 12));
  add("transformer_seq2seq_step/large", transformer(4, 256, 1024, 100, 15));
  add("gpt_step", trained(6 * (self_attention(8, 256, 384, 6, causal(256)) + feed_forward(2048, 384, 1536)) +
                              linear(2048, 384, 65) + table(256, 384),
                          8));

  for (const double batch : {1, 64}) {
    // The encoder, and of its result the keys and values of the decoder.
    const double n = 16 * batch;
    double cached = floor_of(2 * (linear(n, 128, 6 * 128, forward) + feed_forward(n, 128, 512, forward) +
                                  attention(4 * batch, 16, 16, 32, 1, forward)));
    double uncached = cached;
    for (double seen = 1; seen <= 32; ++seen) {
      cached += floor_of(decode(batch, 1, seen));
      uncached += floor_of(decode(batch, seen, seen));
    }
    report("greedy_decode/nocache/" + std::to_string(int(batch)), uncached);
    report("greedy_decode/kvcache/" + std::to_string(int(batch)), cached);
  }
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    std::fprintf(stderr, "usage: floors    OMP_NUM_THREADS sets the threads. Prints JSON.\n");
    return 2;
  }
  std::printf("{\n  \"threads\": %d", omp_get_max_threads());
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f"),
             avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  peak_gflops = report("AVX2 GFLOP/s", avx2 ? fma_gflops(fma_avx2, 8) : nothing);
  peak_gflops =
      std::fmax(peak_gflops, report("AVX-512 GFLOP/s", avx512 ? fma_gflops(fma_avx512, 16) : nothing));
  measure_memory();
  report("page faults, 4 KiB pages, ns per MiB", page_faults(MADV_NOHUGEPAGE));
  report("page faults, huge pages, ns per MiB", page_faults(MADV_HUGEPAGE));
  report_floors();
  std::printf("\n}\n");
}
