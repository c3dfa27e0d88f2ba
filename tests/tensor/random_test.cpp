#include "tensor/random.h"

#include <set>
#include <thread>

#include "tests/support/references.h"

namespace {

using Draw = std::function<Tensor(Generator&, int64_t)>;

// All functions that fill a tensor.
const Draw draws[] = {
    [](Generator& g, int64_t n) { return rand({n}, float32, &g); },
    [](Generator& g, int64_t n) { return rand({n}, float64, &g); },
    [](Generator& g, int64_t n) { return randn({n}, float32, &g); },
    [](Generator& g, int64_t n) { return randn({n}, float64, &g); },
    [](Generator& g, int64_t n) { return randint(-3, 1000, {n}, &g); },
};

struct Moments {
  double mean = 0, variance = 0, third = 0, fourth = 0;
  explicit Moments(const Values& x) {
    const double n = static_cast<double>(x.size());
    for (const double v : x) mean += v / n;
    for (const double v : x) {
      const double d = v - mean;
      variance += d * d / n;
      third += d * d * d / n;
      fourth += d * d * d * d / n;
    }
  }
};

}  // namespace

TEST_CASE("philox returns the published numbers") {
  using Four = std::array<uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t all = 0xffffffff;
  CHECK(philox({all, all, all, all}, {all, all}) == Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random numbers do not depend on the number of threads") {
  for (const Draw& draw : draws)
    CHECK(same_on_threads([&] {
      Generator generator(5);
      generator.reserve(1);  // from an odd position
      return Tensors{draw(generator, 100001)};
    }));
}

TEST_CASE("dropout_mask: 0 with probability p, else 1 / (1 - p), on any number of threads") {
  constexpr int64_t n = 200001;
  for (const DType dtype : {float32, float64})
    for (const double p : {0.0, 0.1, 0.5, 1.0}) {
      Generator generator(3);
      generator.reserve(1);
      double dropped = 0;
      for (const double v : values(dropout_mask({n}, DropoutFactors(p, n, &generator), dtype))) {
        if (v != 0) REQUIRE(v == doctest::Approx(1 / (1 - p)));
        dropped += v == 0;
      }
      CHECK(std::fabs(dropped - n * p) <= 5 * std::sqrt(n * p * (1 - p)));
      CHECK(generator.position() == 1 + (n + 1) / 2);
    }
  CHECK(same_on_threads([&] {
    Generator generator(5);
    generator.reserve(1);
    return Tensors{dropout_mask({100001}, DropoutFactors(0.5, 100001, &generator))};
  }));
}

TEST_CASE("random numbers are the same in one draw and in several") {
  for (const Draw& draw : draws) {
    Generator at_once(7), in_parts(7), later(7);
    const Values whole = values(draw(at_once, 1000));
    Values parts;
    for (const int64_t n : {0, 1, 2, 64, 63, 65, 5, 800})
      for (const double v : values(draw(in_parts, n))) parts.push_back(v);
    CHECK(parts == whole);
    CHECK(in_parts.position() == at_once.position());
    later.set_position(997);
    CHECK(values(draw(later, 3)) == Values(whole.end() - 3, whole.end()));
  }
  Generator one(3), many(3);
  const Values filled = values(rand({9}, float64, &many));
  for (const double v : filled) CHECK(one.uniform() == v);
  const Values integers = values(randint(-5, 50, {9}, &many));
  for (const double v : integers) CHECK(static_cast<double>(one.integer(-5, 50)) == v);
  CHECK(Generator(3).bits(4) == Generator(3).bits(4));
}

TEST_CASE("seeds and streams differ, and split() does not depend on earlier draws") {
  std::vector<Generator> generators;
  const Generator root(1);
  for (uint64_t k = 0; k < 30; ++k) {
    generators.push_back(root.split(k));
    generators.push_back(root.split(3).split(k));
    generators.push_back(root.split(k).split(0).split(1));
    generators.emplace_back(k);  // root itself among them
    generators.push_back(Generator(2).split(k));
  }
  std::set<std::pair<uint64_t, uint64_t>> names, first_bits;
  std::set<uint64_t> bits;
  for (const Generator& generator : generators) {
    names.emplace(generator.seed(), generator.stream());
    first_bits.emplace(generator.bits(0), generator.bits(1));
    for (uint64_t position = 0; position < 100; ++position) bits.insert(generator.bits(position));
  }
  CHECK(names.size() == generators.size());
  CHECK(first_bits.size() == generators.size());
  CHECK(bits.size() == 100 * generators.size());

  Generator used(1);
  randn({100}, float32, &used);
  CHECK(used.split(4).stream() == root.split(4).stream());
  CHECK(used.split(4).position() == 0);

  // Neighboring streams are uncorrelated, within 5 standard errors.
  Generator a = root.split(0), b = root.split(1);
  const Values u = values(randn({20000}, float64, &a)), v = values(randn({20000}, float64, &b));
  double product = 0;
  for (size_t i = 0; i < u.size(); ++i) product += u[i] * v[i];
  CHECK(std::fabs(product) < 5 * std::sqrt(20000.0));
}

TEST_CASE("each thread has its own default generator") {
  manual_seed(11);
  const Values first = values(randn({5}));
  Values elsewhere, fresh;
  std::thread([&] {
    fresh = values(randn({5}));
    manual_seed(11);
    elsewhere = values(randn({5}));
  }).join();
  CHECK(elsewhere == first);
  CHECK(fresh != first);
  CHECK(values(randn({5})) != first);
  manual_seed(11);
  CHECK(values(randn({5})) == first);
  Generator own(11);
  CHECK(values(randn({5}, float32, &own)) == first);
  CHECK(default_generator().position() == 5);  // the default generator has advanced
  manual_seed(0);
}

TEST_CASE("rand is uniform") {
  constexpr int64_t n = 200000;
  for (const DType dtype : {float32, float64}) {
    Generator generator(2);
    const Values x = values(rand({n}, dtype, &generator));
    CHECK(*std::min_element(x.begin(), x.end()) >= 0);
    CHECK(*std::max_element(x.begin(), x.end()) < 1);
    const Moments m(x);  // within 5 standard errors
    CHECK(std::fabs(m.mean - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
    CHECK(std::fabs(m.variance - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / n));
    Values bins(64, 0);
    for (const double v : x) ++bins[static_cast<size_t>(v * 64)];
    double chi = 0;
    for (const double count : bins) chi += (count - n / 64.0) * (count - n / 64.0) / (n / 64.0);
    CHECK(chi < 63 + 5 * std::sqrt(2.0 * 63));
  }
}

TEST_CASE("randn is normal") {
  constexpr int64_t n = 200000;
  for (const DType dtype : {float32, float64}) {
    Generator generator(2);
    const Values x = values(randn({n}, dtype, &generator));
    const Moments m(x);
    CHECK(std::fabs(m.mean) < 5 / std::sqrt(double(n)));
    CHECK(std::fabs(m.variance - 1) < 5 * std::sqrt(2.0 / n));
    CHECK(std::fabs(m.third) < 5 * std::sqrt(15.0 / n));
    CHECK(std::fabs(m.fourth - 3) < 5 * std::sqrt(96.0 / n));
    const auto beyond = std::count_if(x.begin(), x.end(), [](double v) { return std::fabs(v) > 3; });
    CHECK(std::fabs(static_cast<double>(beyond) - 0.0027 * n) < 5 * std::sqrt(0.0027 * n));
    double neighbours = 0;
    for (size_t i = 1; i < x.size(); ++i) neighbours += x[i] * x[i - 1];
    CHECK(std::fabs(neighbours) < 5 * std::sqrt(double(n)));
  }
  CHECK(randn({0, 3}).shape() == Shape{0, 3});
}

TEST_CASE("random integers include both ends of their range") {
  Generator generator(9);
  const Values x = values(randint(-2, 3, {10000}, &generator));
  for (int v = -2; v < 3; ++v) CHECK(std::fabs(double(std::count(x.begin(), x.end(), v)) - 2000) < 250);
  CHECK(std::count_if(x.begin(), x.end(), [](double v) { return v < -2 || v > 2; }) == 0);
  CHECK(values(randint(4, 5, {3})) == Values{4, 4, 4});
  const Values wide = values(randint(INT64_MIN, INT64_MAX, {1000}, &generator));
  CHECK(*std::min_element(wide.begin(), wide.end()) < -8e18);
  CHECK(*std::max_element(wide.begin(), wide.end()) > 8e18);
  CHECK_ERROR(randint(3, 3, {1}), "randint: there is no integer from 3 to below 3");
  CHECK_ERROR(Generator().integer(1, 0), "integer: there is no integer from 1 to below 0");
  CHECK(message([] { rand({2}, int64); }).find("rand: expected a floating tensor") == 0);
}

TEST_CASE("randperm returns all permutations") {
  Generator generator(4);
  std::set<Values> seen;
  for (int round = 0; round < 200; ++round) {
    Values x = values(randperm(4, &generator));
    seen.insert(x);
    std::sort(x.begin(), x.end());
    CHECK(x == Values{0, 1, 2, 3});
  }
  CHECK(seen.size() == 24);
  CHECK(randperm(1000).dtype() == int64);
  CHECK(randperm(0).shape() == Shape{0});
  CHECK_FALSE(message([] { randperm(-1); }).empty());
}

TEST_CASE("DropoutFactors: the same in one draw and in several, 0 with probability p") {
  Generator generator(4);
  generator.uniform();
  const DropoutFactors dropout(0.25, 10001, &generator);
  CHECK(generator.position() == 1 + 5001);
  std::vector<float> all(10001), parts(all.size());
  dropout.draw(0, 10001, all.data());
  for (int64_t begin = 0, n = 1; begin < 10001; begin += n, n = n * 3 % 257 + 1)
    dropout.draw(begin, std::min<int64_t>(n, 10001 - begin), parts.data() + begin);
  CHECK(parts == all);
  const auto zeros = static_cast<double>(std::ranges::count(all, 0.0f));
  CHECK(std::abs(zeros / 10001 - 0.25) < 0.02);
  CHECK(static_cast<double>(std::ranges::count(all, 1 / 0.75f)) == 10001 - zeros);
  Generator other(4);
  other.uniform();
  Values wide(all.size());
  DropoutFactors(0.25, 10001, &other).draw(0, 10001, wide.data());
  CHECK(std::ranges::equal(
      all, wide, {}, [](float v) { return v == 0; }, [](double v) { return v == 0; }));
}
