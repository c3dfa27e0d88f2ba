#include "nn/training/batches.h"

#include <numeric>

#include "nn/files/csv.h"
#include "nn/files/npy.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

using Indices = std::vector<int64_t>;

Indices joined_indices(const Tensors& batches) {
  Indices all;
  for (const Tensor& batch : batches)
    for (const int64_t i : batch.to_vector<int64_t>()) all.push_back(i);
  return all;
}

Indices sorted_indices(Indices indices) {
  std::ranges::sort(indices);
  return indices;
}

const Indices ten_indices = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

}  // namespace

TEST_CASE("Batches: an epoch contains every index once, in a new order each time") {
  Batches batches(10, 4);
  CHECK(batches.per_epoch() == 3);
  const Tensors first = batches.epoch(), second = batches.epoch();
  REQUIRE(first.size() == 3);
  CHECK(first[0].shape() == Shape{4});
  CHECK(first[0].dtype() == int64);
  CHECK(first[2].shape() == Shape{2});
  CHECK(sorted_indices(joined_indices(first)) == ten_indices);
  CHECK(sorted_indices(joined_indices(second)) == ten_indices);
  CHECK(joined_indices(first) != joined_indices(second));
}

TEST_CASE("Batches: in order; without a smaller last batch") {
  CHECK(joined_indices(Batches(10, 4, {.shuffle = false}).epoch()) == ten_indices);
  Batches whole(10, 4, {.drop_last = true});
  CHECK(whole.per_epoch() == 2);
  CHECK(joined_indices(whole.epoch()).size() == 8);
  CHECK(Batches(8, 4, {.drop_last = true}).epoch().size() == 2);
  CHECK(Batches(3, 10).epoch().size() == 1);
}

TEST_CASE("Batches: next() goes on to the next epoch, and epoch() gives the rest of this one") {
  Batches all(10, 4), one(10, 4);
  const Tensors first = all.epoch(), second = all.epoch();
  for (const Tensor& batch : first) CHECK(values(one.next()) == values(batch));
  CHECK(values(one.next()) == values(second[0]));
  CHECK(joined_indices(one.epoch()) == joined_indices({second[1], second[2]}));
}

TEST_CASE("Batches: the order depends on the seed, or on a given generator") {
  manual_seed(1);
  const Indices one = joined_indices(Batches(10, 4).epoch());
  default_generator().uniform();
  CHECK(joined_indices(Batches(10, 4).epoch()) == one);
  manual_seed(2);
  CHECK(joined_indices(Batches(10, 4).epoch()) != one);
  CHECK(joined_indices(Batches(10, 4, {.generator = Generator(1).split(1)}).epoch()) == one);
  manual_seed(0);
}

TEST_CASE("Batches: continue from a state, also at the end of an epoch") {
  for (const int taken : {0, 2, 3, 4}) {
    Batches whole(10, 4), resumed(10, 4, {.generator = Generator(7, 3)});
    for (int i = 0; i < taken; ++i) whole.next();
    resumed.load_state_dict(whole.state_dict());
    for (int i = 0; i < 7; ++i) CHECK(values(resumed.next()) == values(whole.next()));
  }
  Batches batches(10, 4);
  CHECK_ERROR_HAS(batches.load_state_dict({}), "the state must be \"place\", int64 [9]");
  CHECK_ERROR_HAS(batches.load_state_dict({{"place", tensor({10, 4, 1, 0, 0, 0, 0, 0, 4}, int64)}}),
                  "batch 4 of epoch 0");
}

TEST_CASE("Batches: a state of other batches is an error that names both, and changes nothing") {
  Batches batches(500, 10), same(500, 10);
  CHECK_ERROR(batches.load_state_dict(Batches(1000, 10).state_dict()),
              "Batches: load_state_dict: the state is of other batches: n 1000, batch_size 10, shuffle 1, "
              "drop_last 0; these have n 500, batch_size 10, shuffle 1, drop_last 0");
  for (const Batches& other :
       {Batches(500, 20), Batches(500, 10, {.shuffle = false}), Batches(500, 10, {.drop_last = true})})
    CHECK_ERROR_HAS(batches.load_state_dict(other.state_dict()), "the state is of other batches");
  CHECK(values(batches.next()) == values(same.next()));
}

TEST_CASE("Batches: invalid sizes") {
  CHECK_ERROR(Batches(0, 4), "Batches: n is 0 and batch_size is 4; both must be at least 1");
  CHECK_ERROR_HAS(Batches(4, 0), "batch_size is 0");
  CHECK_ERROR_HAS(Batches(3, 4, {.drop_last = true}), "drop_last leaves no batch");
}

TEST_CASE("TensorBatches: rows that belong together stay together, in the order of Batches") {
  const Tensor x = counted({10, 2}), y = counted({10}, int64) * 2;
  TensorBatches data({x, y}, 4, {.generator = Generator(3)});
  Batches order(10, 4, {.generator = Generator(3)});
  for (int epoch = 0; epoch < 2; ++epoch) {
    size_t seen = 0;
    const Tensors indices = order.epoch();
    for (const auto& batch : data.epoch()) {
      REQUIRE(batch.size() == 2);
      CHECK(values(batch[0][{whole, 0}]) == values(batch[1]));
      CHECK(values(batch[0]) == values(x[indices.at(seen++)]));
    }
    CHECK(seen == 3);
  }
  const Tensors first = data.next();
  CHECK(values(first[1]) == values(y[order.next()]));
  TensorBatches resumed({x, y}, 4);
  resumed.load_state_dict(data.state_dict());
  CHECK(values(resumed.next()[0]) == values(data.next()[0]));
  CHECK(data.epoch().size() == 1);  // the rest of this one
  CHECK(data.per_epoch() == 3);
  CHECK_ERROR(
      TensorBatches({x, counted({9})}, 4),
      "TensorBatches: tensors of shapes [10, 2] and [9]; all must have one number of rows, the first size");
  CHECK_ERROR_HAS(TensorBatches({x, tensor(1)}, 4), "[10, 2] and []");
  CHECK_ERROR(TensorBatches({}, 4), "TensorBatches: there are no tensors");
}

TEST_CASE("TensorBatches: from .npy and CSV files") {
  const Folder folder;
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }";
  folder.write("x.npy", std::string("\x93NUMPY\1\0", 8) + char(header.size()) + '\0' + header +
                            std::string("\0\xff\x33\0\1\2", 6));
  save_npy(folder / "y.npy", tensor({1, 0, 1}, int64));
  const Tensor pixels = to(load_npy(folder / "x.npy"), float32) / 255;
  for (const auto& batch :
       TensorBatches({pixels, load_npy(folder / "y.npy")}, 3, {.shuffle = false}).epoch()) {
    CHECK(largest_difference(values(batch[0]), {0, 1, 0.2, 0, 1 / 255., 2 / 255.}) < 1e-7);
    CHECK(values(batch[1]) == Values{1, 0, 1});
  }
  const Tensor table = read_csv(folder.write("data.csv", "a,b,class\n1,2,0\n3,4,1\n")).values;
  TensorBatches rows({table[{whole, Slice(0, 2)}], to(table[{whole, 2}], int64)}, 2, {.shuffle = false});
  const Tensors batch = rows.next();
  CHECK(values(batch[0]) == Values{1, 2, 3, 4});
  CHECK(values(batch[1]) == Values{0, 1});
}
