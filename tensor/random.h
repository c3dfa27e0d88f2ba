#pragma once

#include <array>
#include <cstdint>
#include <utility>

/// Random numbers that depend on the seed alone, not on the number of threads.
namespace heed {

/// A counter-based generator (Philox 4x32-10; Salmon et al., 2011). Value i of a stream is a function of the
/// seed, the stream and i, so any number of threads draw the same numbers, and the state is three integers.
class Generator {
 public:
  /// A generator at the beginning of a stream.
  explicit Generator(uint64_t seed = 0, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  /// An independent generator with the same seed and another stream. The result depends only on the seed, the
  /// stream and k, not on the position.
  Generator split(uint64_t k) const;
  /// Reserves the next `count` positions and returns the first; position p gives bits(p).
  uint64_t reserve(uint64_t count) { return std::exchange(position_, position_ + count); }
  /// The 64 random bits at a position.
  uint64_t bits(uint64_t position) const;
  /// Draws a double in [0, 1).
  double uniform();
  /// Draws an integer in [low, high).
  int64_t integer(int64_t low, int64_t high);

  uint64_t seed() const { return seed_; }
  uint64_t stream() const { return stream_; }
  /// The position of the next draw.
  uint64_t position() const { return position_; }
  /// Continues from a position.
  void set_position(uint64_t position) { position_ = position; }

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t position_ = 0;
};

/// The factors of dropout: 0 with probability p, else 1 / (1 - p). They are computed each time they are
/// needed, so that no mask is stored.
class DropoutFactors {
 public:
  DropoutFactors() = default;  ///< p = 0
  /// Reserves `count` factors in the generator, or in the thread's default generator. Throws unless p is in
  /// [0, 1].
  DropoutFactors(double p, int64_t count, Generator* generator = nullptr);
  double p() const { return p_; }
  /// Writes factors `begin` to `begin + n - 1` to `out`.
  template <class T>
  void draw(int64_t begin, int64_t n, T* out) const;

 private:
  double p_ = 0;
  Generator source_;  // at the first factor
};

/// The function behind Generator: 128 random bits for a counter and a key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// The default generator of this thread. In every thread it starts with seed 0.
Generator& default_generator();
/// Restarts this thread's default generator with a seed.
inline void manual_seed(uint64_t seed) { default_generator() = Generator(seed); }

}  // namespace heed
