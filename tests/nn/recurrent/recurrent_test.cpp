// RNN, GRU and LSTM, and their cells: most tests run for all three. The reference cases in
// tests/parity/recurrents.cpp check the formulas.
#include "nn/recurrent/recurrent.h"

#include "tests/support/expect.h"

namespace {

using RnnPair = std::pair<RNN, RNNCell>;
using GruPair = std::pair<GRU, GRUCell>;
using LstmPair = std::pair<LSTM, LSTMCell>;

struct Answer {
  Tensor output, h_n, c_n;
};

// Calls a layer of any kind; only an LSTM gets c_0.
template <class Layer>
Answer ask(const Layer& layer, const Tensor& x, const Tensor& h_0, const Tensor& c_0, const Tensor& lengths) {
  if constexpr (std::is_same_v<Layer, LSTM>) {
    const auto [output, h_n, c_n] = layer(x, h_0, c_0, lengths);
    return {output, h_n, c_n};
  } else {
    const auto [output, h_n] = layer(x, h_0, lengths);
    return {output, h_n, {}};
  }
}
template <class Layer>
Answer ask(const Layer& layer, const Tensor& x, const Tensor& lengths = {}) {
  return ask(layer, x, Tensor(), Tensor(), lengths);
}

// Entry b of a batch.
Answer entry(const Answer& all, int64_t b) {
  return {select(all.output, 1, b), select(all.h_n, 1, b),
          all.c_n.defined() ? select(all.c_n, 1, b) : all.c_n};
}
double apart(const Answer& a, const Answer& b) {
  const double c = a.c_n.defined() ? largest_difference(a.c_n, b.c_n) : 0;
  return largest_difference(a.output, b.output) + largest_difference(a.h_n, b.h_n) + c;
}

Tensor lengths_of(const std::vector<int64_t>& lengths) {
  return from_vector(lengths, {static_cast<int64_t>(lengths.size())});
}

template <class Layer>
Layer make(int64_t input, int64_t hidden, const RecurrentOptions& options = {}) {
  manual_seed(3);
  return in_float64(Layer(input, hidden, options));
}

}  // namespace

TEST_CASE_TEMPLATE("recurrent layers: equal to a loop of cells", Pair, RnnPair, GruPair, LstmPair) {
  for (const bool bias : {true, false})
    for (const auto nonlinearity : {init::Nonlinearity::tanh, init::Nonlinearity::relu}) {
      const auto layer = make<typename Pair::first_type>(3, 4, {.nonlinearity = nonlinearity, .bias = bias});
      auto cell = in_float64(typename Pair::second_type(3, 4, {.bias = bias, .nonlinearity = nonlinearity}));
      static_cast<RecurrentWeights&>(cell) = layer.weights[0];
      CHECK(cell.parameters().size() == (bias ? 4 : 2));
      const Tensor x = randn({5, 2, 3}, float64);
      const Answer whole = ask(layer, x);
      Tensor h, c;
      for (int64_t t = 0; t < 5; ++t) {
        if constexpr (std::is_same_v<typename Pair::first_type, LSTM>)
          std::tie(h, c) = std::pair(cell(x[t], h, c).h, cell(x[t], h, c).c);
        else
          h = cell(x[t], h);
        CHECK(largest_difference(h, whole.output[t]) < 1e-14);
      }
      if (c.defined()) CHECK(largest_difference(c, whole.c_n[0]) < 1e-14);
      CHECK(test::unregistered_leaves(h, cell) == "");
    }
}

TEST_CASE_TEMPLATE("recurrent layers: layouts of batch_first and of a single sequence", L, RNN, GRU, LSTM) {
  const RecurrentOptions options{.num_layers = 2, .bidirectional = true};
  RecurrentOptions batch_first = options;
  batch_first.batch_first = true;
  const L layer = make<L>(3, 2, options), other = make<L>(3, 2, batch_first);
  const Tensor x = randn({5, 4, 3}, float64), lengths = lengths_of({5, 0, 3, 1});
  const Tensor h_0 = randn({4, 4, 2}, float64), c_0 = randn({4, 4, 2}, float64);
  const Answer want = ask(layer, x, h_0, c_0, lengths);
  const Answer got = ask(other, transpose(x, 0, 1), h_0, c_0, lengths);
  CHECK(got.output.is_contiguous());
  CHECK(apart({transpose(got.output, 0, 1), got.h_n, got.c_n}, want) < 1e-14);
  for (const L* one : {&layer, &other})
    CHECK(apart(ask(*one, select(x, 1, 0), select(h_0, 1, 0), select(c_0, 1, 0), {}), entry(want, 0)) <
          1e-14);
}

TEST_CASE_TEMPLATE("recurrent layers: with lengths, the results of each sequence alone", L, RNN, GRU, LSTM) {
  const L layer = make<L>(3, 2, {.num_layers = 2, .bidirectional = true});
  const Tensor x = randn({6, 5, 3}, float64);
  const Tensor h_0 = randn({4, 5, 2}, float64), c_0 = randn({4, 5, 2}, float64);
  const std::vector<int64_t> lengths = {4, 6, 1, 0, 3};
  const Answer got = ask(layer, x, h_0, c_0, lengths_of(lengths));
  for (int64_t b = 0; b < 5; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    const Tensor h = select(h_0, 1, b), c = select(c_0, 1, b);
    CHECK(largest_difference(select(narrow(got.output, 0, length, 6 - length), 1, b),
                             zeros({6 - length, 4}, float64)) == 0);
    Answer one = entry(got, b);
    one.output = narrow(one.output, 0, 0, length);
    if (length == 0)
      CHECK(apart(one, {one.output, h, c}) == 0);
    else
      CHECK(apart(one, ask(layer, narrow(select(x, 1, b), 0, 0, length), h, c, {})) < 1e-14);
  }
}

TEST_CASE_TEMPLATE("recurrent layers: 50 steps of padding, even NaN, change nothing", L, RNN, GRU, LSTM) {
  const L layer = make<L>(3, 4, {.num_layers = 2, .batch_first = true, .bidirectional = true});
  const Tensor lengths = lengths_of({2, 6, 0, 5});
  const Tensor x = randn({4, 6, 3}, float64);
  const Tensor cotangent = randn({4, 6, 8}, float64), state_cotangent = randn({4, 4, 4}, float64);
  Tensors before;
  for (const double filler : {0.0, 1e300, std::nan("")}) {
    const int64_t more = filler == 0 ? 0 : 50;
    const Tensor padded = cat({x, full({4, more, 3}, filler, float64)}, 1).requires_grad_();
    const Answer got = ask(layer, padded, lengths);
    const Tensor output = narrow(got.output, 1, 0, 6);
    CHECK(largest_difference(narrow(got.output, 1, 6, more), zeros({4, more, 8}, float64)) == 0);
    Tensor loss = sum(output * cotangent) + sum(got.h_n * state_cotangent);
    if (got.c_n.defined()) loss = loss + sum(got.c_n * got.c_n);
    Tensors inputs = layer.parameters();
    inputs.push_back(padded);
    Tensors now = grad(loss, inputs);
    CHECK(largest_difference(narrow(now.back(), 1, 6, more), zeros({4, more, 3}, float64)) == 0);
    now.back() = narrow(now.back(), 1, 0, 6);
    now.insert(now.end(), {output.detach(), got.h_n.detach(), loss.detach()});
    if (!before.empty())
      for (size_t i = 0; i < now.size(); ++i) CHECK(largest_difference(now[i], before[i]) < 1e-12);
    before = now;
  }
}

TEST_CASE_TEMPLATE("recurrent layers: gradients with lengths, every leaf registered", L, RNN, GRU, LSTM) {
  const L layer = make<L>(2, 2, {.num_layers = 2, .bidirectional = true});
  const Tensor x = randn({3, 2, 2}, float64).requires_grad_(), lengths = lengths_of({3, 2});
  Tensors inputs = layer.parameters();
  inputs.push_back(x);
  CHECK(gradcheck([&](const Tensors&) { return ask(layer, x, lengths).output; }, inputs));
  CHECK(test::unregistered_leaves(ask(layer, x, lengths).output, layer, {x}) == "");
}

TEST_CASE("recurrent layers: start uniform within 1 / sqrt(hidden)") {
  manual_seed(1);
  const GRU layer(200, 100);
  for (const Tensor& parameter : layer.parameters()) check_fills(parameter, 0.1, 0.95);
}

TEST_CASE_TEMPLATE("recurrent layers: dropout between layers, in training", L, RNN, GRU, LSTM) {
  const Tensor x = randn({4, 3, 2}, float64);
  L dropping = make<L>(2, 8, {.num_layers = 2, .dropout = 0.5});
  const L plain = make<L>(2, 8, {.num_layers = 2}), one = make<L>(2, 8, {.dropout = 0.5});
  CHECK(largest_difference(ask(one, x).output, ask(make<L>(2, 8), x).output) == 0);
  CHECK(largest_difference(ask(dropping, x).output, ask(plain, x).output) > 1e-3);
  CHECK(largest_difference(narrow(ask(dropping, x).h_n, 0, 0, 1), narrow(ask(plain, x).h_n, 0, 0, 1)) == 0);
  dropping.eval();
  CHECK(largest_difference(ask(dropping, x).output, ask(plain, x).output) == 0);
}

TEST_CASE_TEMPLATE("recurrent layers: hooks see each result and may replace it", L, RNN, GRU, LSTM) {
  L layer(2, 2);
  int count = 0;
  const HookHandle handle = layer.register_forward_hook([&](const Module&, const Tensors&, const Tensor& y) {
    ++count;
    return y * 0;
  });
  const Answer got = ask(layer, ones({1, 1, 2}));
  CHECK(count == (got.c_n.defined() ? 3 : 2));
  CHECK(values(got.output) == Values{0, 0});
}

TEST_CASE_TEMPLATE("recurrent layers: errors", L, RNN, GRU, LSTM) {
  const L layer(3, 2, {.bidirectional = true});
  const std::string name = layer.type_name() + ": ";
  const Tensor x = ones({4, 5, 3}), narrower = ones({4, 5, 2});
  CHECK_ERROR_HAS(layer(narrower), name + "x is [4, 5, 2]; it must be [T, B, 3], or [T, 3] without a batch");
  CHECK_ERROR_HAS(layer(ones({3})), name + "x is [3]; it must be [T, B, 3]");
  CHECK_ERROR_HAS(layer(ones({0, 5, 3})), name + "x is [0, 5, 3]; a sequence must have at least one step");
  CHECK_ERROR_HAS(layer(x, ones({2, 4, 2})), name + "h_0 is [2, 4, 2]; for this input it must be [2, 5, 2]");
  CHECK_ERROR_HAS(layer(ones({4, 3}), ones({2, 1, 2})),
                  name + "h_0 is [2, 1, 2]; for this input it must be [2, 2]");
  CHECK_ERROR_HAS(ask(layer, x, lengths_of({1, 2})),
                  name + "lengths are [2], x is [4, 5, 3]; there must be one for each sequence");
  CHECK_ERROR_HAS(ask(layer, ones({4, 3}), lengths_of({1})),
                  name + "lengths are [1], x is [4, 3]; without a batch give the sequence alone");
  for (const Tensor& wrong : {ones({5}), lengths_of({1, 2, 3, 4, 5}), lengths_of({1, -1, 3, 4, 0})})
    CHECK_ERROR_HAS(ask(layer, x, wrong), "lengths");
  CHECK_ERROR_HAS(L(3, 2, {.num_layers = 0}), name + "num_layers is 0; there must be at least one");
  CHECK_ERROR_HAS(L(3, 2, {.dropout = 1.5}), name + "dropout is 1.5; a probability lies in [0, 1]");
  CHECK_ERROR_HAS(L(3, 0), "hidden_size 0");
  CHECK_ERROR_HAS(L(-1, 2), "input_size is -1");
  CHECK_ERROR_HAS(L(0, 2), "input_size is 0");
  CHECK(message([&] { L(3, int64_t{1} << 62); }) != "");
  CHECK_ERROR_HAS(layer(ones({4, 5, 3}, float64)), "float64");
  CHECK(ask(layer, ones({4, 0, 3})).output.shape() == Shape{4, 0, 4});
  CHECK(ask(layer, ones({4, 0, 3}), lengths_of({})).h_n.shape() == Shape{2, 0, 2});
}

TEST_CASE("recurrent layers and cells: errors of single kinds") {
  CHECK_ERROR(RNN(2, 2, {.nonlinearity = init::Nonlinearity::sigmoid}),
              "RNN: the nonlinearity is tanh or relu");
  CHECK_ERROR(RNN(2, 2, {.proj_size = 1}), "RNN: only an LSTM has a proj_size");
  CHECK_ERROR_HAS(LSTM(2, 2, {.proj_size = 2}), "proj_size is 2, hidden_size 2");
  CHECK_ERROR_HAS(RNNCell(3, 2)(ones({4, 2})), "RNNCell: x is [4, 2]; it must be [B, 3] or [3]");
  CHECK_ERROR_HAS(RNNCell(3, 2)(ones({4, 3}), ones({2})),
                  "RNNCell: h is [2]; for this input it must be [4, 2]");
  const LSTMCell cell(1, 1);
  CHECK_ERROR_HAS(cell(ones({4, 1}), ones({4, 1}), ones({1})),
                  "LSTMCell: c is [1]; for this input it must be [4, 1]");
  // h or c is zero if it is not given.
  CHECK(cell(tensor({0.8F}), tensor({0.0F})).h.item() == cell(tensor({0.8F})).h.item());
  CHECK(cell(tensor({0.8F}), Tensor(), tensor({0.0F})).c.item() == cell(tensor({0.8F})).c.item());
}

TEST_CASE("LSTM: a projection makes h narrower than c") {
  const auto layer =
      make<LSTM>(3, 4, {.num_layers = 2, .batch_first = true, .bidirectional = true, .proj_size = 2});
  const Tensor x = randn({2, 5, 3}, float64), lengths = lengths_of({5, 3});
  const auto [output, h_n, c_n] = layer(x, Tensor(), Tensor(), lengths);
  CHECK(output.shape() == Shape{2, 5, 4});
  CHECK(h_n.shape() == Shape{4, 2, 2});
  CHECK(c_n.shape() == Shape{4, 2, 4});
  CHECK(layer.state_dict().at("weight_hr_l1_reverse").shape() == Shape{2, 4});
  CHECK(layer.state_dict().at("weight_hh_l0").shape() == Shape{16, 2});
  CHECK(gradcheck([&](const Tensors&) { return layer(x).output; }, {layer.weights[0].weight_hr}));
  CHECK_ERROR_HAS(layer(x, zeros({4, 2, 4}, float64)),
                  "LSTM: h_0 is [4, 2, 4]; for this input it must be [4, 2, 2]");
}
