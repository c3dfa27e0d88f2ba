#include "examples/by_hand/sequences.h"

#include "tests/support/by_hand.h"

// covers: C-100-01 C-100-02
TEST_CASE("attention_by_hand: masks as text, and their weights; a query without keys gives 0") {
  const Folder folder;
  const Json r = by_hand("masks", "--out '" + folder / "out" + "'");
  const Tensor x = tensor({{1, 0, 1}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0}}, float64);
  const Values products = values(matmul(x, t(x)));
  const auto e = [&](size_t i, size_t j) { return std::exp(products[i * 4 + j] / std::sqrt(3.0)); };
  for (const auto& [key, text] : {std::pair("causal", "x...\nxx..\nxxx.\nxxxx\n"),
                                  {"length", "xxx.\n"},
                                  {"window", "xx..\nxxx.\n.xxx\n..xx\n"},
                                  {"causal_and_length", "x...\nxx..\nxxx.\nxxx.\n"},
                                  {"causal_or_window", "xx..\nxxx.\nxxxx\nxxxx\n"},
                                  {"not_causal", ".xxx\n..xx\n...x\n....\n"}}) {
    INFO(key);
    CHECK(r[key]["mask"] == text);
    const Texts lines = lines_of(text);
    Rows want(4, Values(4));
    for (size_t i = 0; i < 4; ++i) {
      const std::string& line = lines[std::min(i, lines.size() - 1)];
      double total = 0;
      for (size_t j = 0; j < 4; ++j) total += line[j] == 'x' ? e(i, j) : 0;
      for (size_t j = 0; j < 4; ++j) want[i][j] = line[j] == 'x' ? e(i, j) / total : 0;
    }
    CHECK(distance(r[key]["weights"], want) < 1e-12);
    CHECK(contains(told_by_hand("masks"), std::string(text) + "weights   [4, 4]"));
    CHECK(contains(read_file(folder / ("out/weights_" + std::string(key) + ".svg")), "<svg"));
  }
  CHECK(rows(r["nothing"]["output"]) == Rows{{0, 0, 0}});
  CHECK(rows(r["nothing"]["gradient"]) == Rows{{0, 0, 0}});
  for (const Json& weight : r["nothing"]["plain_softmax"][0]) CHECK(weight.is_null());  // JSON's NaN
}

// covers: C-100-03
TEST_CASE("attention_by_hand: sinusoidal, learned and rotary positions") {
  const Json r = by_hand("positions");
  Rows even, odd;
  for (int p = 0; p < 6; ++p) {
    even.push_back({std::sin(p), std::cos(p), std::sin(p / 100.0), std::cos(p / 100.0)});
    const double a = p / std::pow(10000, 0.4), b = p / std::pow(10000, 0.8);
    odd.push_back({std::sin(p), std::cos(p), std::sin(a), std::cos(a), std::sin(b)});
  }
  CHECK(distance(r["table"], even) < 1e-14);
  CHECK(distance(r["odd"], odd) < 1e-14);
  for (size_t pair = 0; pair < 2; ++pair) {
    const double a = pair ? 0.02 : 2;
    CHECK(distance(r["rotations"][pair], {{std::cos(a), std::sin(a)}, {-std::sin(a), std::cos(a)}}) < 1e-14);
  }
  CHECK(rows(r["learned"]["output"]) == Rows{{11, 11, 10}, {10, 11, 11}});
  CHECK(rows(r["learned"]["gradient"]) ==
        Rows{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 2, 3}, {4, 5, 6}, {0, 0, 0}});
  // As complex numbers: Re(q conj(k) exp(i (p_q - p_k) w)), q = (1, 1 + i), k = (1 + i, 2i).
  Rows products(5, Values(5));
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      const double u = i - j, v = u / 100;
      products[static_cast<size_t>(i)][static_cast<size_t>(j)] =
          std::cos(u) + std::sin(u) + 2 * std::cos(v) + 2 * std::sin(v);
    }
  CHECK(distance(r["rotary"], products) < 1e-14);
  Rows over_distance(1);
  for (int delta = -100; delta <= 100; ++delta) {
    double sum = 0;
    for (int i = 0; i < 32; ++i) sum += std::cos(delta * std::pow(10000, -i / 32.0));
    over_distance[0].push_back(sum);
  }
  CHECK(distance(r["products"], over_distance) < 1e-12);
  CHECK(r["uneven"] < 1e-14);
}

// covers: C-001-01
TEST_CASE("attention_by_hand: a word's vector is the same in two sentences before attention, not after") {
  const Json r = by_hand("context");
  const double e1 = std::exp(3 / std::sqrt(3.0)), e2 = std::exp(2 / std::sqrt(3.0)), all = 1 + e1 + e2;
  const Values river = {(3 * e1 + e2) / all, e2 / all, 1 / all}, money = {river[1], river[0], river[2]};
  CHECK(distance(Json::array({r["river"]["output"][2]}), {river}) < 1e-14);
  CHECK(distance(Json::array({r["money"]["output"][2]}), {money}) < 1e-14);
  const double squares = river[0] * river[0] + river[1] * river[1] + river[2] * river[2];
  CHECK(r["cosine"]["before"].get<double>() == doctest::Approx(1).epsilon(1e-15));
  CHECK(r["cosine"]["after"].get<double>() ==
        doctest::Approx((2 * river[0] * river[1] + river[2] * river[2]) / squares).epsilon(1e-12));
}
