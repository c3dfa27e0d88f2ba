#include "nn/attention/key_value_cache.h"

#include "nn/attention/multi_head.h"
#include "tests/support/expect.h"

// covers: C-100-06
TEST_CASE("KeyValueCache: step by step equals one call, rotary or not, with gradients") {
  manual_seed(10);
  for (const bool rotary : {false, true})
    for (const int64_t step : {1, 2}) {
      const MultiheadAttention attention = in_float64(MultiheadAttention(8, 2, {.rotary = rotary}));
      const Tensor x = randn({3, 6, 8}, float64).requires_grad_(), g = randn({3, 6, 8}, float64);
      const Tensor whole = attention(x, Mask::causal(6)).output;
      KeyValueCache cache;
      Tensors parts;
      for (int64_t t = 0; t < 6; t += step)
        parts.push_back(attention(narrow(x, 1, t, step), AttentionOptions{.is_causal = true}, &cache).output);
      CHECK(cache.length() == 6);
      CHECK(cache.keys().shape() == Shape{3, 2, 6, 4});
      CHECK(largest_difference(cat(parts, 1), whole) < 1e-12);
      const auto of_whole = grad({whole}, {x, attention.in_proj_weight}, {.grad_outputs = {g}});
      const auto of_parts = grad({cat(parts, 1)}, {x, attention.in_proj_weight}, {.grad_outputs = {g}});
      for (size_t i = 0; i < 2; ++i) CHECK(largest_difference(of_parts[i], of_whole[i]) < 1e-12);
    }
}

// covers: C-100-06
TEST_CASE("KeyValueCache: keys and values of a memory are computed once; roll back; rows of the batch") {
  manual_seed(11);
  const MultiheadAttention attention = in_float64(MultiheadAttention(8, 2));
  const Tensor x = randn({3, 2, 8}, float64), memory = randn({3, 5, 8}, float64);
  KeyValueCache cache;
  const Tensor y = attention(x, memory, memory, Mask(), &cache).output;
  CHECK(largest_difference(y, attention(x, memory, memory).output) == 0);
  const Tensor none;
  CHECK(largest_difference(attention(x, none, none, Mask(), &cache).output, y) == 0);
  CHECK(cache.length() == 5);

  KeyValueCache copy = cache;
  copy.roll_back(2);
  CHECK(largest_difference(attention(x, none, none, Mask(), &copy).output,
                           attention(x, narrow(memory, 1, 0, 2), narrow(memory, 1, 0, 2)).output) < 1e-12);
  CHECK(cache.length() == 5);
  const Tensor rows = tensor({2, 2, 0, 1}, int64);
  cache.select(rows);
  CHECK(largest_difference(attention(index_select(x, 0, rows), none, none, Mask(), &cache).output,
                           index_select(y, 0, rows)) < 1e-12);

  CHECK_ERROR(cache.roll_back(6), "KeyValueCache: cannot roll back to 6 positions, it holds 5");
  CHECK_ERROR_HAS(attention(x, memory, memory, Mask(), &cache),
                  "KeyValueCache: keys [3, 2, 5, 4] do not continue the cached ones, [4, 2, 5, 4]");
  CHECK_ERROR_HAS(attention(x, none, none), "there are no keys and values, and no cache that holds some");
  const MultiheadAttention turned = in_float64(MultiheadAttention(8, 2, {.rotary = true}));
  CHECK_ERROR_HAS(turned(x, memory, memory), "rotary positions are for self-attention");
}

// covers: C-100-06
TEST_CASE("KeyValueCache: grows in place; appending to a copy or after a rollback changes no other cache") {
  manual_seed(12);
  const NoGrad guard;
  const Tensor keys = randn({3, 2, 9, 4}), values = randn({3, 2, 9, 5});
  const auto append = [&](KeyValueCache& cache, int64_t from, int64_t count) {
    cache.append(narrow(keys, 2, from, count), narrow(values, 2, from, count));
  };
  const auto holds = [&](const KeyValueCache& cache, const std::vector<int64_t>& positions) {
    const Tensor at = from_vector(positions, {std::ssize(positions)});
    CHECK(largest_difference(cache.keys(), index_select(keys, 2, at)) == 0);
    CHECK(largest_difference(cache.values(), index_select(values, 2, at)) == 0);
  };
  KeyValueCache cache;
  append(cache, 0, 1);
  append(cache, 1, 1);
  const KeyValueCache early = cache;
  const Tensor before = cache.keys();
  append(cache, 2, 2);
  CHECK(cache.keys().data<float>() == before.data<float>());
  KeyValueCache other = early, back = cache;
  append(other, 5, 2);
  back.roll_back(3);
  append(back, 7, 1);
  append(back, 8, 1);
  append(cache, 4, 3);
  holds(early, {0, 1});
  holds(cache, {0, 1, 2, 3, 4, 5, 6});
  holds(other, {0, 1, 5, 6});
  holds(back, {0, 1, 2, 7, 8});

  KeyValueCache same = other;
  same.select(arange(3, int64));
  CHECK(same.keys().data<float>() == other.keys().data<float>());
  const Tensor rows = tensor({2, 2, 0, 1}, int64);
  same.select(rows);
  same.append(index_select(narrow(keys, 2, 8, 1), 0, rows), index_select(narrow(values, 2, 8, 1), 0, rows));
  append(other, 7, 1);
  holds(other, {0, 1, 5, 6, 7});
  const Tensor at = tensor({0, 1, 5, 6, 8}, int64);
  CHECK(largest_difference(same.keys(), index_select(index_select(keys, 0, rows), 2, at)) == 0);
  CHECK_ERROR_HAS(append(same, 8, 1),
                  "KeyValueCache: keys [3, 2, 1, 4] do not continue the cached ones, [4, 2, 5, 4]");
  CHECK_THROWS_AS(other.append(randn({3, 2, 1, 3}), randn({3, 2, 1, 5})), Error);
  holds(other, {0, 1, 5, 6, 7});
}

TEST_CASE("KeyValueCache: observers see how the positions are joined") {
  struct Joined : Observer {
    void on_result(const Operation& op, const Tensor& value) override {
      if (std::string(op.name) == "cat") shapes.push_back(value.shape());
    }
    std::vector<Shape> shapes;
  };
  const NoGrad guard;
  const Tensor x = randn({3, 9, 2, 4});
  const auto at = [&](int64_t from) { return transpose(narrow(x, 1, from, 1), 1, 2); };
  KeyValueCache cache;
  const Joined joined;
  for (const int64_t t : {0, 1, 2}) cache.append(at(t), at(t + 4));
  CHECK(joined.shapes == std::vector<Shape>{{3, 2, 2, 4}, {3, 2, 2, 4}, {3, 2, 3, 4}, {3, 2, 3, 4}});
  CHECK(largest_difference(cache.keys(), transpose(narrow(x, 1, 0, 3), 1, 2)) == 0);
  CHECK(largest_difference(cache.values(), transpose(narrow(x, 1, 4, 3), 1, 2)) == 0);
}

TEST_CASE("KeyValueCache: a state in place of keys") {
  KeyValueCache cache;
  CHECK(cache.state().empty());
  cache.advance({tensor({1, 2}), tensor({{3}, {4}})}, 5);
  KeyValueCache copy = cache;
  copy.advance({tensor({5, 6})}, 1);
  CHECK((cache.length() == 5 && copy.length() == 6));
  cache.select(tensor({1, 1, 0}, int64));
  CHECK(values(cache.state()[0]) == Values{2, 2, 1});
  CHECK(values(cache.state()[1]) == Values{4, 4, 3});
  CHECK(values(copy.state()[0]) == Values{5, 6});
  CHECK_ERROR(
      cache.roll_back(2),
      "KeyValueCache: cannot roll back to 2 positions, because it holds a state in place of keys and values");
  cache.roll_back(5);
  CHECK(cache.length() == 5);
  cache.roll_back(0);
  CHECK((cache.length() == 0 && cache.state().empty()));
}
