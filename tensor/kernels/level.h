#pragma once

#include <string>

/// Which instructions the kernels use.
///
/// Note [Levels]: the archive of the preset `release` runs on every x86-64 processor since 2009 and is fast
/// on each. It has three levels of instructions, named as compilers do: v2 (SSE4), v3 (AVX2 and fused
/// multiply-adds) and v4 (AVX-512). One is chosen when the program starts, by what the processor has;
/// HEED_LEVEL=v3 in the environment asks for one. There are two ways into a level:
///
/// - The sources of tensor/kernels/ are compiled once for each level, unchanged. The functions of a level
///   get names of their own, and each old name becomes a jump to the level chosen (cmake/levels.cmake). So a
///   kernel is called like any other function. A kernel's source has no variable that is initialised when
///   the program starts, since that would run at every level.
/// - Formulas become loops where they are written, in autograd/ops/ or in a user's program. These run through
///   at_level(), of which the compiler makes a variant for each level.
///
/// All else is compiled for v2. A build for one kind of processor (preset `native`) has one level, its own.
namespace heed::kernel {

/// "x86-64-v3", or "built for x86-64-v3" where there is no choice.
std::string level_info();

#if defined(HEED_LEVELS) && !defined(HEED_ONE_LEVEL)

/// The level chosen: 2, 3 or 4.
extern int level;

namespace detail {
[[gnu::target("avx2,bmi,bmi2,f16c,fma,lzcnt,movbe"), gnu::flatten, gnu::noinline]] void run_at_v3(
    const auto& f) {
  f();
}
[[gnu::target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2,f16c,fma,lzcnt,movbe"), gnu::flatten,
  gnu::noinline]] void
run_at_v4(const auto& f) {
  f();
}
}  // namespace detail

#endif

/// f(), compiled for the level chosen, with all that it calls.
[[gnu::always_inline]] inline void at_level(const auto& f) {
#if defined(HEED_LEVELS) && !defined(HEED_ONE_LEVEL)
  if (level == 4) return detail::run_at_v4(f);
  if (level == 3) return detail::run_at_v3(f);
#endif
  f();
}

}  // namespace heed::kernel
