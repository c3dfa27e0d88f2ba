#include "nn/distributed/reduction.h"

#include "tests/support/expect.h"

using detail::additions, detail::subtrees, detail::owner_of;

// The tree of shards from `from` to below `to` as text: ((0 1) 2).
static std::string tree(int64_t from, int64_t to) {
  if (to - from == 1) return std::to_string(from);
  const int64_t mid = (from + to) / 2;
  return "(" + tree(from, mid) + " " + tree(mid, to) + ")";
}

TEST_CASE("each process owns shards in a row, at least one") {
  for (int64_t shards = 1; shards <= 17; ++shards)
    for (int processes = 1; processes <= shards; ++processes) {
      int64_t expected = 0;
      for (int64_t shard = 0; shard < shards; ++shard) {
        if (shard == shards * (expected + 1) / processes) ++expected;
        CHECK(owner_of(shard, shards, processes) == expected);
      }
      CHECK(expected == processes - 1);
    }
}

TEST_CASE("subtrees are in order, and each has one owner") {
  CHECK(subtrees(8, 1).size() == 1);
  CHECK(subtrees(8, 4).size() == 4);
  CHECK(subtrees(8, 3).size() > 3);
  for (const auto& [shards, processes] :
       std::vector<std::pair<int64_t, int>>{{8, 3}, {6, 4}, {17, 5}, {5, 5}}) {
    std::vector<int64_t> firsts = subtrees(shards, processes);
    CHECK(firsts[0] == 0);
    firsts.push_back(shards);
    for (size_t i = 0; i + 1 < firsts.size(); ++i) {
      CHECK(firsts[i] < firsts[i + 1]);
      for (int64_t shard = firsts[i]; shard < firsts[i + 1]; ++shard)
        CHECK(owner_of(shard, shards, processes) == owner_of(firsts[i], shards, processes));
    }
  }
}

TEST_CASE("sums are added in the order of the tree") {
  for (int64_t shards = 1; shards <= 17; ++shards) {
    Texts sums;
    for (int64_t shard = 0; shard < shards; ++shard) sums.push_back(std::to_string(shard));
    for (const auto& [from, mid, to] : additions(0, shards)) {
      CHECK(sums[size_t(from)] == tree(from, mid));
      CHECK(sums[size_t(mid)] == tree(mid, to));
      sums[size_t(from)] = "(" + sums[size_t(from)] + " " + sums[size_t(mid)] + ")";
    }
    CHECK(sums[0] == tree(0, shards));
  }
}

TEST_CASE("a process adds its shards to its largest subtrees") {
  // The number of additions that are possible with this shard, when a process owns those from `own`.
  const auto sums_after = [](int64_t shard, int64_t own) {
    return std::ranges::count_if(additions(0, 8),
                                 [&](const auto& a) { return a.to == shard + 1 && a.from >= own; });
  };
  CHECK(sums_after(7, 5) == 1);  // of shards 5, 6 and 7: 6 + 7
  CHECK(sums_after(7, 4) == 2);
  CHECK(sums_after(7, 0) == 3);
  CHECK(sums_after(6, 0) == 0);
  CHECK(subtrees(8, 3) == std::vector<int64_t>{0, 2, 4, 5, 6});  // of shards 0 and 1, 2 to 4, 5 to 7
}

TEST_CASE("a reduction of one process adds in the order of the tree, and divides by the weight") {
  detail::Messages messages(1, 1);
  detail::Reduction reduction(messages, 3, 3);
  const float lost[] = {1e8F, -1e8F, 1.0F};  // (1e8 + (-1e8 + 1)), not ((1e8 - 1e8) + 1)
  const double weights[] = {0.125, 0.25, 0.125};
  for (int64_t shard = 0; shard < 3; ++shard) {
    reduction.add(1, shard, full({2}, lost[shard]));
    reduction.add(2, shard, full({2}, 3.0));
    CHECK(!reduction.advance());
    reduction.add(0, shard, full({1}, weights[shard], float64));
    CHECK(reduction.advance() == (shard == 2));
  }
  CHECK(values(reduction.sum(0)) == Values{0.5});
  CHECK(values(reduction.sum(1)) == Values{0, 0});
  CHECK(values(reduction.sum(2)) == Values{18, 18});
}

TEST_CASE("a reduction copies what others use") {
  detail::Messages messages(1, 1);
  detail::Reduction reduction(messages, 2, 1);
  const Tensor x = full({1}, 1.0, float64);
  reduction.add(0, 0, x);
  reduction.add(0, 1, x);
  CHECK(reduction.advance());
  CHECK(values(x) == Values{1});
  CHECK(values(reduction.sum(0)) == Values{2});
}
