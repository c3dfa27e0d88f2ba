#include "nn/distributed/reduction.h"

#include "tests/support/expect.h"

using detail::Subtree, detail::subtrees, detail::sums_after, detail::owner_of;

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
    int64_t next = 0;
    for (const auto& [from, to, owner] : subtrees(shards, processes)) {
      CHECK(from == next);
      for (int64_t shard = from; shard < to; ++shard) CHECK(owner_of(shard, shards, processes) == owner);
      next = to;
    }
    CHECK(next == shards);
  }
}

TEST_CASE("sums are added in the order of the tree") {
  for (int64_t shards = 1; shards <= 17; ++shards) {
    Texts sums;
    for (int64_t shard = 0; shard < shards; ++shard) {
      sums.push_back(std::to_string(shard));
      for (int64_t n = sums_after(shard, 0, shards); n > 0; --n) {
        sums.end()[-2] = "(" + sums.end()[-2] + " " + sums.back() + ")";
        sums.pop_back();
      }
    }
    CHECK(sums == Texts{tree(0, shards)});
  }
}

TEST_CASE("a reduction of one process is the sum itself") {
  detail::Messages messages(1, 1);
  detail::Reduction reduction(messages, subtrees(4, 1));
  const Tensor x = counted({5});
  reduction.start(0, {x});
  reduction.finish();
  CHECK(values(x) == Values{0, 1, 2, 3, 4});
}
