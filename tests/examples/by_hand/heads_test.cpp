#include "examples/by_hand/heads.h"

#include "tests/support/by_hand.h"

// The projections of the example, each one matrix with the columns of head 1, then those of head 2.
const Tensor w_q = tensor({{0, 3, 0, 0}, {3, 0, 0, 0}, {0, 0, 0, 3}, {0, 0, 3, 0}}, float64),
             w_k = eye(4, 4, float64),
             w_v = tensor({{1, 0, 0, 1}, {0, 1, 1, 0}, {1, 0, 0, -1}, {0, 1, -1, 0}}, float64),
             w_o = tensor({{1, 0, 0, 1}, {0, 1, 1, 0}, {1, 0, 1, 0}, {0, 1, 0, -1}}, float64);

// Both heads in one product: x [T, 4] as [2, T, 2].
static Tensor heads(const Tensor& x, const Tensor& w) {
  return transpose(reshape(matmul(x, w), {x.size(0), 2, 2}), 0, 1);
}
static Tensor weights(const Tensor& x, const Tensor& bias) {
  return softmax(matmul(heads(x, w_q), transpose(heads(x, w_k))) / std::sqrt(2.0) + bias, -1);
}
static Tensor output(const Tensor& x, const Tensor& joined_to, const Tensor& bias) {
  const Tensor y = matmul(weights(x, bias), heads(x, w_v));
  return matmul(reshape(transpose(y, 0, 1), {x.size(0), 4}), joined_to);
}

// covers: C-004-08 C-004-11 C-004-12
TEST_CASE("attention_by_hand: two heads by hand equal the library, concatenated and multiplied by W_O") {
  const Folder folder;
  const Json r = by_hand("multi-head", "--out '" + folder / "out" + "'");
  const Tensor x = leaf({{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}});
  const Tensor joined_to = w_o.detach().requires_grad_(), none = zeros({1}, float64);
  const Tensor y = output(x, joined_to, none), a = weights(x, none);
  for (const char* of : {"output", "sum", "library"}) CHECK(distance(r[of], rows(y)) < 1e-12);
  for (int64_t h = 0; h < 2; ++h)
    CHECK(distance(r["heads"][static_cast<size_t>(h)]["weights"], rows(a[h])) < 1e-12);
  const Tensors d = grad(sum(y), {joined_to, x});
  for (const char* by : {"grad", "autograd"}) {
    CHECK(distance(r[by]["W_O"], rows(d[0])) < 1e-12);
    CHECK(distance(r[by]["X"], rows(d[1])) < 1e-12);
  }
  CHECK(r["refused"].get<std::string>().starts_with(
      "MultiheadAttention: embed_dim 4 does not divide into 3 heads of one width"));
  const std::string text = told_by_hand("multi-head");
  for (const char* step :
       {"d_k = d_model / heads = 4 / 2 = 2", "-- head 1\nW_Q1   [4, 2]", "Q = X W_Q1   [3, 2]",
        "-- head 2\nW_Q2   [4, 2]", "joined = [head1, head2]   [3, 4]"})
    CHECK(contains(text, step));
  CHECK(contains(read_file(folder / "out/weights.svg"), "<svg"));
}

// covers: C-000-18
TEST_CASE("attention_by_hand: queries, keys and values with widths 4, 3 and 5") {
  const Json r = by_hand("multi-head")["widths"];
  // Queries score 3 / sqrt(2) with one key per head: "cat" with the first key in head 1.
  const double most = 1 / (1 + std::exp(-6 / std::sqrt(2.0)));
  CHECK(distance(r["weights"][0], {{1 - most, most}, {most, 1 - most}, {most, 1 - most}}) < 1e-12);
  CHECK(distance(r["weights"][1], {{1 - most, most}, {1 - most, most}, {most, 1 - most}}) < 1e-12);
  CHECK(distance(r["output"], rows(r["library"])) < 1e-12);
  CHECK(rows(r["output"])[2].size() == 4);
  CHECK(contains(told_by_hand("multi-head"), "values   [2, 5]"));
}

// covers: C-100-06
TEST_CASE("attention_by_hand: decoding with a cache is attention over all words at once, with fewer scores") {
  const Json r = by_hand("cache");
  const Tensor x = tensor({{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}, {1, 1, 0, 1}}, float64);
  const Rows at_once = rows(output(x, w_o, triu(full({4, 4}, -1e9, float64), 1)));
  CHECK(distance(r["whole"], at_once) < 1e-12);
  CHECK(distance(r["rows"], at_once) < 1e-12);
  CHECK(r["difference"] < 1e-12);
  for (int t = 1; t <= 4; ++t) {
    const Json& step = r["steps"][static_cast<size_t>(t - 1)];
    CHECK(step["length"] == t);
    CHECK(step["shape"] == "[1, 2, " + std::to_string(t) + ", 2]");
    CHECK(step["scores"] == 2 * t);
    CHECK(step["scores_without"] == 2 * t * t);
  }
  CHECK(r["scores"] == 20);
  CHECK(r["scores_without"] == 60);
}
