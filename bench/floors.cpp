// blas: what this machine allows at most, and from it the floor of each workload, on OMP_NUM_THREADS threads.
//
// floor = sum over the workload's matrix products of the time that OpenBLAS takes for them, hot in cache
//       + bytes of everything else / bandwidth of the memory level that the workload's data fit in,
// that is OpenBLAS and unfused single-pass loops with no overhead at all. Fusing passes can go below it.
#include <cblas.h>
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
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr double KiB = 1024, MiB = 1024 * KiB;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();  // the machine cannot do it

struct Result {
  std::string section, name;
  double value;
};
std::vector<Result> results;

// Prints a line of the table at once, and keeps it for --json. A section's name carries the unit.
double report(const std::string& section, const std::string& name, double value) {
  if (results.empty() || results.back().section != section) std::printf("\n%s\n", section.c_str());
  if (std::isnan(value)) {
    std::printf("  %-34s %14s\n", name.c_str(), "-");
  } else {
    std::printf("  %-34s %14.*f\n", name.c_str(), value < 1000 ? 2 : 0, value);
  }
  std::fflush(stdout);
  results.push_back({section, name, value});
  return value;
}

// {"section": {"name": value, ...}, ...}; no name needs escaping.
bool write_json(const char* path) {
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  std::fprintf(file, "{\n  \"threads\": %d", omp_get_max_threads());
  std::string section;
  for (const Result& result : results) {
    if (result.section != section) {
      std::fprintf(file, "%s,\n  \"%s\": {", section.empty() ? "" : "\n  }", result.section.c_str());
    }
    std::fprintf(file, "%s\n    \"%s\": ", result.section != section ? "" : ",", result.name.c_str());
    std::fprintf(file, std::isnan(result.value) ? "null" : "%.1f", result.value);
    section = result.section;
  }
  std::fprintf(file, "\n  }\n}\n");
  return std::fclose(file) == 0;
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
  double best = 0;
  for (;;) {
    const double start = now_ns();
    work(times);
    best = now_ns() - start;
    if (best >= 10e6) break;
    times *= 2;
  }
  for (int batch = 0; batch < 6; ++batch) {
    const double start = now_ns();
    work(times);
    best = std::min(best, now_ns() - start);
  }
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
    std::fprintf(stderr, "blas: no memory for the measurement (768 MiB)\n");
    std::exit(1);
  }
  std::fill_n(memory.get(), bytes / sizeof(float), 1.0F);
  for (Level& level : levels) {
    const auto rate = [&](const char* name, Pass pass, int arrays) {
      return report("bandwidth_gbs", level.name + std::string(" ") + name,
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

// The time in ns of c [m, n] = a [m, k] b [k, n], measured once; 't': the operand is stored transposed.
double sgemm(char transpose_a, char transpose_b, int m, int n, int k) {
  const std::string name =
      std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " " + transpose_a + transpose_b;
  static std::map<std::string, double> known;
  if (const auto it = known.find(name); it != known.end()) return it->second;

  const auto floats = [](int rows, int columns) {
    return std::vector<float>(static_cast<size_t>(rows) * static_cast<size_t>(columns), 0.5F);
  };
  const std::vector<float> a = floats(m, k), b = floats(k, n);
  std::vector<float> c = floats(m, n);
  const bool ta = transpose_a == 't', tb = transpose_b == 't';
  const double ns = fastest([&](int64_t times) {
    for (int64_t i = 0; i < times; ++i) {
      cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1,
                  a.data(), ta ? m : k, b.data(), tb ? k : n, 0, c.data(), n);
    }
  });
  report("sgemm_gflops", name, 2.0 * m * n * k / ns);
  return known[name] = ns;
}

// y = x W^T of a linear layer, and its backward: dW = g^T x and, where x has a gradient, dx = g W.
double linear_products(int batch, int in, int out, bool input_gradient) {
  double ns = sgemm('n', 't', batch, out, in) + sgemm('t', 'n', out, in, batch);
  if (input_gradient) ns += sgemm('n', 'n', batch, in, out);
  return ns;
}

// ns to move `floats` float32 values from and to the level that can hold the `live` distinct ones.
double move(double floats, double live) {
  for (const Level& level : levels) {
    if (live * 4 <= level.size) return floats * 4 / level.bandwidth;
  }
  return nothing;
}

// A workload's name and floor; the counts are passes over arrays, forward + backward.
std::vector<Result> workload_floors() {
  std::vector<Result> floors;
  const auto add = [&](const std::string& name, double ns) { floors.push_back({"floor_ns", name, ns}); };

  for (const char* name :
       {"op_overhead_forward", "op_overhead_forward_nograd", "op_overhead_autograd", "op_overhead_small"}) {
    add(name, nothing);  // overhead has no floor
  }
  for (const int n : {1'000'000, 16'000'000}) {
    const std::string size = "/" + std::to_string(n);
    add("elementwise_add" + size, move(6.0 * n, 6.0 * n));  // a, b, y; g, da, db
    for (const char* name : {"elementwise_exp", "elementwise_tanh", "elementwise_gelu"}) {
      add(name + size, move(5.0 * n, 4.0 * n));  // x, y; g, x or y, dx
    }
  }
  for (const char* name : {"softmax/4096x64", "softmax/4096x512", "softmax/512x8192", "layer_norm/4096x256",
                           "layer_norm/4096x1024"}) {
    int rows = 0, cols = 0;
    std::sscanf(std::strchr(name, '/'), "/%dx%d", &rows, &cols);
    const double n = static_cast<double>(rows) * cols;
    add(name, move(5 * n, 4 * n));  // x, y; g, x or y, dx
  }
  for (const char* name : {"linear/64x256->256", "linear/2048x256->1024", "linear/4096x1024->1024"}) {
    int batch = 0, in = 0, out = 0;
    std::sscanf(name, "linear/%dx%d->%d", &batch, &in, &out);
    const double x = static_cast<double>(batch) * in, y = static_cast<double>(batch) * out,
                 w = static_cast<double>(in) * out;
    // Beside the products: the bias added to y (2 passes) and summed from g (1).
    add(name, linear_products(batch, in, out, true) + move(3 * y, 2 * (x + y + w)));
  }
  {
    // Over [50, 49]: subtract 2, times w 2, square and scale 2, softmax 2, weighted sum 2; backward, gradient
    // of the weights 2, softmax 3, square 3, w 2. Keys, values and seven intermediate arrays are live.
    const double n = 50 * 49;
    add("kernel_regression_step", move(20 * n, 9 * n));
  }
  {
    const double hidden = 64 * 128, logits = 64 * 10, weights = 784 * 128 + 128 + 128 * 10 + 10;
    const double products = linear_products(64, 784, 128, false) + linear_products(64, 128, 10, true);
    // Hidden: bias 2, ReLU 2; backward ReLU 3, bias 1. Logits: bias 2, loss 3, bias gradient 1. SGD: weight
    // twice, gradient.
    const double passes = 8 * hidden + 6 * logits + 3 * weights;
    add("mlp_step", products + move(passes, 64 * 784 + 4 * hidden + 3 * logits + 2 * weights));
  }
  add("adam_step", move(7e7, 4e7));  // gradient; parameter and two moments, each read and written
  return floors;
}

void run() {
  std::printf("%s, %d threads\n", openblas_get_config(), omp_get_max_threads());

  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f"),
             avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  report("fma_gflops", "AVX-512", avx512 ? fma_gflops(fma_avx512, 16) : nothing);
  report("fma_gflops", "AVX2", avx2 ? fma_gflops(fma_avx2, 8) : nothing);

  measure_memory();

  report("page_fault_ns_per_mib", "4 KiB pages", page_faults(MADV_NOHUGEPAGE));
  report("page_fault_ns_per_mib", "huge pages", page_faults(MADV_HUGEPAGE));

  for (const int n : {64, 128, 256, 512, 1024, 2048}) sgemm('n', 'n', n, n, n);
  for (const Result& floor : workload_floors()) report(floor.section, floor.name, floor.value);
}

}  // namespace

int main(int argc, char** argv) {
  const char* json = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else if (flag == "--version") {
      std::printf("heed %s, %s, %d threads\n", HEED_VERSION, openblas_get_config(), omp_get_max_threads());
      return 0;
    } else {
      const bool help = flag == "--help";
      std::fprintf(help ? stdout : stderr,
                   "usage: blas [--json FILE] [--version] [--help]\nOMP_NUM_THREADS sets the threads.\n");
      return help ? 0 : 2;
    }
  }
  openblas_set_num_threads(omp_get_max_threads());
  run();
  if (json != nullptr && !write_json(json)) {
    std::fprintf(stderr, "blas: cannot write %s\n", json);
    return 1;
  }
}
