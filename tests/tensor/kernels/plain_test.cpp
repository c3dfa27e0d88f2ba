#include "tensor/kernels/plain.h"

#include "tests/support/references.h"

namespace plain = heed::kernel::plain;

// The fast kernels are tested against the plain loops, which are tested here against numbers found by hand.

TEST_CASE("plain matmul, sums and extrema") {
  const Tensor a = tensor({{1, 2}, {3, 4}}), x = tensor({{1, kNaN, 5}, {2, 3, 4}});
  CHECK(values(plain::matmul(a, tensor({{5, 6}, {7, 8}}), {}, 1)) == Values{19, 22, 43, 50});
  CHECK(values(plain::matmul(a, tensor({{1}, {1}}), tensor({10}), 2)) == Values{16, 24});
  CHECK(values(plain::sum(a, {0}, false, 2)) == Values{2, 3});
  CHECK(values(plain::sum(tensor({{1, 2}, {3, 4}}, int64), {0, 1}, true, 1)) == Values{10});
  CHECK(distance({plain::extremum(x, {0}, false, true), plain::extremum(x, {1}, true, false)},
                 {tensor({2, kNaN, 5}), tensor({{kNaN}, {2}})}) == 0);
}

TEST_CASE("plain softmax and norm") {
  const Tensor x = tensor({{0, std::log(3)}, {-kInf, -kInf}});
  using Form = kernel::SoftmaxForm;
  CHECK(distance({plain::softmax(x, 1, Form::plain), plain::softmax(x, 1, Form::masked)},
                 {tensor({{0.25, 0.75}, {kNaN, kNaN}}), tensor({{0.25, 0.75}, {0, 0}})}) < 1e-6);
  CHECK(distance({plain::softmax(tensor({1000, 1000}), 0, Form::log)}, {full({2}, -std::log(2))}) < 1e-6);
  const kernel::NormResult y =
      plain::norm(kernel::Centre::mean, tensor({1, 3}), 2, tensor({2, 2}), tensor({0, 1}), 0);
  CHECK(distance({y.y, y.mean, y.scale}, {tensor({-2, 3}), tensor({2}), tensor({1})}) == 0);
  CHECK(values(plain::norm(kernel::Centre::zero, tensor({3, 3}), 2, {}, {}, 0).y) == Values{1, 1});
}

TEST_CASE("plain attention: equal scores give the mean of the values that may be attended to") {
  const Tensor q = ones({2, 2}, float64), k = ones({3, 2}, float64), v = tensor({{3}, {5}, {10}}, float64);
  const kernel::AttentionRule causal{1, {}, {}, 0};
  const kernel::AttentionResult y = plain::attention(q, k, v, causal);
  CHECK(distance({y.y, y.log_totals},
                 {tensor({{3}, {4}}, float64), tensor({{2, 2 + std::log(2)}}, float64)}) < 1e-12);
  // dv_j = sum_i p_ij g_i, ds_ij = p_ij (v_j - y_i), dq_i = sum_j ds_ij k_j = 0, dk_j = sum_i ds_ij q_i
  const kernel::AttentionGradients d = plain::attention_backward(ones({2, 1}, float64), q, k, v, causal, y);
  CHECK(
      distance({d.q, d.k, d.v}, {zeros({2, 2}, float64), tensor({{-0.5, -0.5}, {0.5, 0.5}, {0, 0}}, float64),
                                 tensor({{1.5}, {0.5}, {0}}, float64)}) < 1e-12);
}

TEST_CASE("plain recurrence: steps, in order and in reverse, until a sequence ends") {
  // h' = relu(x + 2 h + 1)
  const Tensor x = tensor({{{1}, {1}}, {{-9}, {3}}}), lengths = tensor({2, 1}, int64);
  const auto states = [&](bool reverse) {
    const kernel::RecurrentRule rule{Recurrence::rnn_relu, reverse, lengths};
    return values(plain::recurrent_forward(rule, x, {}, tensor({{2}}), tensor({1}), false).y);
  };
  CHECK(states(false) == Values{2, 2, 0, 2});
  CHECK(states(true) == Values{2, 2, 0, 0});
}
