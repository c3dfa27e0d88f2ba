#pragma once

#include <array>
#include <cstdint>

/// Random numbers: the same seed, the same numbers, on any number of threads.
namespace heed {

/// A counter-based generator (Philox 4x32-10; Salmon et al., 2011): value i of a stream is a function of the
/// seed, the stream and i alone, so any number of threads draw the same numbers, and a state is three
/// integers.
class Generator {
 public:
  /// The stream of a seed, from its beginning.
  explicit Generator(uint64_t seed = 0, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  /// An independent generator: the same seed, another stream. split(k) is the same whenever it is asked for.
  Generator split(uint64_t k) const;
  /// Reserves the next `count` positions and returns the first; position p gives bits(p).
  uint64_t reserve(uint64_t count) {
    const uint64_t first = position_;
    position_ += count;
    return first;
  }
  /// 64 random bits of a position.
  uint64_t bits(uint64_t position) const;
  /// One double in [0, 1).
  double uniform();
  /// One integer in [low, high).
  int64_t integer(int64_t low, int64_t high);

  uint64_t seed() const { return seed_; }                         ///< the first of the three integers
  uint64_t stream() const { return stream_; }                     ///< the second
  uint64_t position() const { return position_; }                 ///< the third: that of the next draw
  void set_position(uint64_t position) { position_ = position; }  ///< goes on from there

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t position_ = 0;
};

/// What dropout multiplies values by: 0 with probability p, else 1 / (1 - p). Drawn anew by whoever needs the
/// factors, as often as they are needed: no mask is kept.
class DropoutFactors {
 public:
  DropoutFactors() = default;  ///< p = 0
  /// Takes so many factors from the generator, without one from the thread's default.
  DropoutFactors(double p, int64_t count, Generator* generator = nullptr);
  double p() const { return p_; }  ///< the probability of 0
  /// out = the n factors from number `begin` on.
  template <class T>
  void draw(int64_t begin, int64_t n, T* out) const;

 private:
  double p_ = 0;
  Generator source_;  // stands at the first
};

/// The function behind it: 128 random bits of a counter and a key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// The generator of this thread, used where none is given. In every thread it starts with seed 0.
Generator& default_generator();
/// Starts this thread's default generator anew: the same seed, the same numbers.
void manual_seed(uint64_t seed);

}  // namespace heed
