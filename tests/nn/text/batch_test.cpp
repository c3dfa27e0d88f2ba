#include "nn/text/batch.h"

#include "tests/support/expect.h"

TEST_CASE("pad_batch: one tensor, with <pad> at the end of shorter rows") {
  const PaddedBatch batch = pad_batch({{5, 6, 7}, {}, {8}});
  CHECK(batch.ids.shape() == Shape{3, 3});
  CHECK(batch.ids.dtype() == int64);
  CHECK(values(batch.ids) == Values{5, 6, 7, 0, 0, 0, 8, 0, 0});
  CHECK(values(batch.lengths) == Values{3, 0, 1});
  CHECK(values(pad_batch({{5}}, 3).ids) == Values{5, 0, 0});
  CHECK(pad_batch({{5, 6}}, 1).ids.shape() == Shape{1, 2});
  CHECK_ERROR(pad_batch({{5}}, -1), "pad_batch: length is -1; it must not be negative");
  CHECK(pad_batch({}).ids.shape() == Shape{0, 0});
  CHECK(pad_batch({{}}).ids.shape() == Shape{1, 0});
}

// covers: C-100-05
TEST_CASE("teacher_forcing: the input is one step behind the labels") {
  const TeacherForcing taught = teacher_forcing({{5, 6}, {7}, {}});
  CHECK(values(taught.input) == Values{1, 5, 6, 1, 7, 0, 1, 0, 0});
  CHECK(values(taught.labels) == Values{5, 6, 2, 7, 2, 0, 2, 0, 0});
  CHECK(values(taught.lengths) == Values{3, 2, 1});
  CHECK(values(teacher_forcing({{5}}, 4).input) == Values{1, 5, 0, 0});
  CHECK(values(teacher_forcing({{5}}, 4).labels) == Values{5, 2, 0, 0});
}

TEST_CASE("bucket_batches: every example once, similar lengths, a random order that depends on the seed") {
  std::vector<int64_t> lengths;
  Generator random(3);
  for (int64_t i = 0; i < 103; ++i) lengths.push_back(random.integer(1, 20));
  Generator one(7), two(7);
  const auto batches = bucket_batches(lengths, 10, one);
  CHECK(batches == bucket_batches(lengths, 10, two));
  CHECK(batches != bucket_batches(lengths, 10, one));

  std::vector<int64_t> all;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  size_t small = 0;
  for (const auto& batch : batches) {
    small += batch.size() == 3;
    CHECK((batch.size() == 10 || batch.size() == 3));
    all.insert(all.end(), batch.begin(), batch.end());
    ranges.emplace_back(lengths[size_t(batch.front())], lengths[size_t(batch.back())]);
  }
  CHECK(small == 1);
  CHECK_FALSE(std::is_sorted(ranges.begin(), ranges.end()));  // the batches are shuffled
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 0; i + 1 < ranges.size(); ++i) CHECK(ranges[i].second <= ranges[i + 1].first);
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) CHECK(all[i] == int64_t(i));

  CHECK(bucket_batches({}, 4, one).empty());
  CHECK(bucket_batches({5}, 4, one) == std::vector<std::vector<int64_t>>{{0}});
  CHECK_ERROR(bucket_batches({1}, 0, one), "bucket_batches: batch_size is 0; it must be at least 1");
  CHECK_ERROR(bucket_batches({1, -2}, 1, one), "bucket_batches: a length is -2; none may be negative");
}

TEST_CASE("BatchStream: epochs of bucket_batches; another stream continues from its state") {
  const std::vector<int64_t> lengths = {1, 5, 2, 2, 7, 1, 3};
  Generator random(4);
  BatchStream stream(lengths, 3, random), other(lengths, 3, Generator(9));
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    auto batches = bucket_batches(lengths, 3, random);
    for (; !batches.empty(); batches.pop_back()) {
      CHECK(stream.epoch() == epoch);
      CHECK(stream.next() == batches.back());
    }
  }
  other = BatchStream(lengths, 3, Generator(4));
  for (int i = 0; i < 10; ++i) {
    stream.next();
    other.next();
    other.load_state_dict(stream.state_dict());
    BatchStream ahead = stream;
    for (int more = 0; more < 7; ++more) CHECK(other.next() == ahead.next());
  }
  CHECK_ERROR_HAS(BatchStream({}, 3, Generator()), "BatchStream: there are no examples");
  CHECK_ERROR_HAS(BatchStream({1}, 0, Generator()), "batch_size is 0");
  for (const std::vector<int64_t>& place :
       std::vector<std::vector<int64_t>>{{-1, 0, 0}, {0, 0, -1}, {0, 0, 3}})
    CHECK_ERROR_HAS(stream.load_state_dict({{"place", from_vector(place, {3})}}), "an epoch has 3");
  for (const Tensor& wrong : {zeros({3}), zeros({4}, int64)})
    CHECK_ERROR_HAS(stream.load_state_dict({{"place", wrong}}), "the state must be \"place\", int64 [3]");
  CHECK_ERROR_HAS(stream.load_state_dict({}), "the state must be \"place\", int64 [3]");
}
