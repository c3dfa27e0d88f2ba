#include "nn/attention/mask.h"

#include <sstream>

#include "tests/support/expect.h"

// covers: C-100-01
TEST_CASE("Mask: causal, window and lengths, as text") {
  CHECK(to_string(Mask::causal(3)) == "x..\nxx.\nxxx\n");
  CHECK(to_string(Mask::causal(2, 2)) == "xxx.\nxxxx\n");  // two queries after two cached keys
  CHECK(to_string(Mask::window(4, 1, 0)) == "x...\nxx..\n.xx.\n..xx\n");
  CHECK(to_string(Mask::window(3, 0, 1)) == "xx.\n.xx\n..x\n");
  CHECK(to_string(Mask::window(1, 1, 5, 3)) == "..xx\n");
  CHECK(to_string(Mask::window(2, INT64_MAX, INT64_MAX)) == "xx\nxx\n");

  const Mask one_each = Mask::lengths(tensor({2, 0, 3}, int64), 3);
  CHECK(one_each.allowed().shape() == Shape{3, 1, 3});
  CHECK(to_string(one_each) == "xx.\n\n...\n\nxxx\n");
  const Mask every_query = Mask::lengths(tensor({{1, 2}, {3, 0}}, int64), 3);
  CHECK(every_query.allowed().shape() == Shape{2, 2, 3});
  CHECK(to_string(every_query) == "x..\nxx.\n\nxxx\n...\n");

  std::ostringstream out;
  out << Mask(tensor({{1, 0}}, boolean));
  CHECK(out.str() == "x.\n");
}

// covers: C-100-01
TEST_CASE("Mask: and, or, not; masks broadcast to each other") {
  const Mask causal = Mask::causal(3), near = Mask::window(3, 1, 1);
  CHECK(to_string(causal & near) == "x..\nxx.\n.xx\n");
  CHECK(to_string(causal | near) == "xx.\nxxx\nxxx\n");
  CHECK(to_string(~causal) == ".xx\n..x\n...\n");
  const Mask both = causal & Mask::lengths(tensor({3, 1}, int64), 3);
  CHECK(both.allowed().shape() == Shape{2, 3, 3});
  CHECK(to_string(both) == "x..\nxx.\nxxx\n\nx..\nx..\nx..\n");
}

TEST_CASE("Mask: blocks and dilated windows") {
  CHECK(to_string(Mask::blocks(5, 2)) == "xx...\nxx...\n..xx.\n..xx.\n....x\n");
  CHECK(to_string(Mask::blocks(2, 3, 2)) == "xxx.\n...x\n");
  CHECK(to_string(Mask::dilated(4, 2)) == "x.x.\n.x.x\nx.x.\n.x.x\n");
  CHECK(to_string(Mask::dilated(2, 3, 3)) == "x..x.\n.x..x\n");
  CHECK(to_string(Mask::dilated(5, 2) & Mask::window(5, 2, 0)) == "x....\n.x...\nx.x..\n.x.x.\n..x.x\n");
  CHECK_ERROR(Mask::blocks(2, 0),
              "Mask::blocks: 2 queries after 0 keys, in steps of 0; the step must be positive "
              "and the others not negative");
  CHECK_THROWS_AS(Mask::dilated(-1, 2), Error);
}

TEST_CASE("Mask: the default allows everything") {
  const Mask all, causal = Mask::causal(2);
  CHECK(all.allows_all());
  CHECK(to_string(all) == "everything may attend to everything\n");
  CHECK(to_string(all & causal) == to_string(causal));
  CHECK(to_string(causal & all) == to_string(causal));
  CHECK((all | causal).allows_all());
  CHECK((causal | all).allows_all());
  CHECK((all & all).allows_all());
  CHECK(to_string(~all & causal) == "..\n..\n");
  CHECK(to_string(~all | causal) == to_string(causal));
  CHECK(to_string(Mask(zeros({2, 0}, boolean))) == "");
  CHECK(Mask::causal(0).allowed().shape() == Shape{0, 0});
}

TEST_CASE("Mask: a mask of three dimensions is for every head") {
  using heed::detail::for_heads;
  CHECK(for_heads(Mask::lengths(tensor({1, 2}, int64), 4)).shape() == Shape{2, 1, 1, 4});
  CHECK(for_heads(Mask::causal(4)).shape() == Shape{4, 4});
  CHECK(for_heads(ones({2, 3, 1, 4})).shape() == Shape{2, 3, 1, 4});
  CHECK_FALSE(for_heads(Mask()).defined());
}

TEST_CASE("Mask: errors") {
  CHECK_ERROR_HAS(Mask(zeros({2, 2})),
                  "Mask: given float32 [2, 2]; a mask is bool, true = may attend (numbers to add to the "
                  "scores are a bias)");
  CHECK_ERROR_HAS(Mask::causal(-1), "Mask: -1 queries after 0 keys, ");
  CHECK_ERROR_HAS(Mask::window(2, -1, 0),
                  "Mask: 2 queries after 0 keys, -1 keys before and 0 behind each; none may be negative");
  CHECK_ERROR_HAS(
      Mask::lengths(zeros({2}), 3),
      "Mask::lengths: given float32 [2]; lengths are int64 [B], or [B, Tq] with one for each query");
  CHECK_THROWS_AS(Mask::lengths(tensor({4}, int64), 3), Error);
  CHECK_THROWS_AS(Mask::lengths(tensor({-1}, int64), 3), Error);
}
