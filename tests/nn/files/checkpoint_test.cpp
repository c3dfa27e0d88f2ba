#include "nn/files/checkpoint.h"

#include <cstring>
#include <filesystem>

#include "nn/files/file.h"
#include "nn/layers/dropout.h"
#include "nn/layers/linear.h"
#include "nn/layers/sequential.h"
#include "nn/optim/adaptive.h"
#include "nn/text/batch.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using namespace heed;

namespace {

// A training that draws dropout, batches, a schedule and numbers of its own.
struct Trained {
  explicit Trained(const std::string& folder, int64_t hidden = 5, double lr = 0.01)
      : random(3, 1),
        model(Linear(2, hidden), Dropout(0.3), Linear(hidden, 1)),
        optimizer(model.parameters(), {.lr = lr}),
        schedule(optimizer, 3, 0.5),
        batches({1, 2, 3, 1, 2, 3, 1}, 3, Generator(5)),
        checkpoint(folder, 2) {
    checkpoint.add("model", model);
    checkpoint.add("optimizer", optimizer);
    checkpoint.add("schedule", schedule);
    checkpoint.add("default", default_generator());
    checkpoint.add("random", random);
    checkpoint.add("batches", batches);
    checkpoint.add("losses", losses);
    checkpoint.add("sum", sum);
    checkpoint.add("count", count);
  }

  void step() {
    std::vector<double> numbers;
    for (const int64_t i : batches.next())
      for (int part = 0; part < 2; ++part) numbers.push_back(static_cast<double>(i) + random.uniform());
    const Tensor x = to(from_vector(numbers, {std::ssize(numbers) / 2, 2}), float32);
    const Tensor y = model(x), loss = mean(y * y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    schedule.step();
    losses.push_back(loss.item());
    sum += loss.item();
    ++count;
  }
  void steps(int n) {
    for (int i = 0; i < n; ++i) step();
  }

  Generator random;
  Sequential model;
  AdamW optimizer;
  StepLR schedule;
  BatchStream batches;
  std::vector<double> losses;
  double sum = 0;
  int64_t count = 0;
  Checkpoint checkpoint;
};

Texts names_in(const std::string& folder) {
  Texts names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("Checkpoint: 7 steps, and 7 more elsewhere, are 14 steps bit for bit") {
  const Folder folder;
  const std::string at = folder / "a";
  manual_seed(1);
  Trained whole(folder / "whole");
  whole.steps(14);
  const std::string want = read_file(whole.checkpoint.save(14));
  {
    manual_seed(1);
    Trained first(at);
    first.steps(7);
    CHECK(first.checkpoint.save(7) == at + "/step-00000007.safetensors");
    CHECK(first.checkpoint.step() == 7);
    first.steps(2);  // lost
  }
  manual_seed(99);
  Trained second(at);
  second.steps(1);
  CHECK(second.checkpoint.load());
  CHECK(second.checkpoint.step() == 7);
  CHECK(second.count == 7);
  CHECK(second.losses.size() == 7);
  CHECK(second.optimizer.lr() == 0.0025);
  second.steps(7);
  CHECK(read_file(second.checkpoint.save(14)) == want);
}

TEST_CASE("Checkpoint: the rate that the user set is kept beside a schedule's") {
  const Folder folder;
  Trained first(folder / "a");
  first.steps(4);
  first.optimizer.set_lr(0.123);
  first.checkpoint.save(4);
  Trained second(folder / "a");
  second.checkpoint.load();
  CHECK(second.optimizer.lr() == 0.123);
  second.steps(2);
  CHECK(second.optimizer.lr() == 0.0025);
}

TEST_CASE("Checkpoint: the last ones and the best stay") {
  const Folder folder;
  const std::string at = folder / "deep/er/";  // made, with what leads to it
  Trained one(at);
  CHECK(!one.checkpoint.load());
  CHECK(one.checkpoint.files().empty());
  CHECK(one.checkpoint.lowest() == kInf);
  for (const int64_t step : {5, 10, 123456789}) one.checkpoint.save(step);
  CHECK(names_in(at) == Texts{"step-00000010.safetensors", "step-123456789.safetensors"});
  CHECK(one.checkpoint.save_best(11, 0.5));
  CHECK(!one.checkpoint.save_best(12, 0.5));
  CHECK(!one.checkpoint.save_best(12, kNaN));
  folder.write("deep/er/step-x.safetensors", "not ours");
  folder.write("deep/er/step-00000999.safetensors.txt", "not ours");
  CHECK(one.checkpoint.files() ==
        Texts{folder / "deep/er/step-00000010.safetensors", folder / "deep/er/step-123456789.safetensors"});
  one.checkpoint.save(123456790);

  Trained two(at);
  two.checkpoint.load();
  CHECK(two.checkpoint.lowest() == 0.5);
  CHECK(two.checkpoint.step() == 123456790);
  CHECK(!two.checkpoint.save_best(123456791, 0.6));
  two.checkpoint.load(folder / "deep/er/best.safetensors");
  CHECK(two.checkpoint.step() == 11);
}

TEST_CASE("Checkpoint: a training that begins anew moves the checkpoints of the one before aside") {
  const Folder folder;
  const std::string at = folder / "a";
  Trained(at).checkpoint.save(100);
  Trained again(at);
  again.checkpoint.save(3);
  again.checkpoint.save(4);
  CHECK(names_in(at) == Texts{"step-00000003.safetensors", "step-00000004.safetensors"});
  CHECK(names_in(at + ".before") == Texts{"step-00000100.safetensors"});
  Trained(at).checkpoint.save(1);
  CHECK(names_in(at + ".before").size() == 2);
}

TEST_CASE("Checkpoint: one that does not fit says what differs and changes nothing") {
  const Folder folder;
  Trained one(folder / "a");
  one.checkpoint.expect("--lr", "0.01");
  one.checkpoint.expect("data", "7, 39fe");
  one.steps(3);
  const std::string path = one.checkpoint.save(3);
  const auto refused = [&](Trained& other) {
    other.steps(1);
    const std::string before = read_file(other.checkpoint.save(1));
    const std::string said = message([&] { other.checkpoint.load(path); });
    CHECK(read_file(other.checkpoint.save(1)) == before);
    return said;
  };
  {
    Trained other(folder / "b");
    other.checkpoint.expect("--lr", "0.02");
    other.checkpoint.expect("--seed", "1");
    int64_t more = 0;
    other.checkpoint.add("more", more);
    CHECK(refused(other) == "Checkpoint: " + path +
                                ": does not fit this training; nothing was changed\n"
                                "          in the file  now\n"
                                "  --lr    0.01         0.02\n"
                                "  --seed  -            1\n"
                                "  data    7, 39fe      -\n"
                                "  more    -            a part");
  }
  {
    Trained other(folder / "c", 6);
    other.checkpoint.expect("--lr", "0.01");
    other.checkpoint.expect("data", "7, 39fe");
    CHECK(contains(refused(other), path + ": model: load_state_dict: 3 names do not fit Sequential"));
  }
  Linear model(2, 1);
  SGD sgd(model.parameters());
  Checkpoint other(folder / "d");
  other.add("optimizer", sgd);
  CHECK(contains(message([&] { other.load(path); }), "optimizer  AdamW  "));
}

TEST_CASE("Checkpoint: one bit of it that changes is noticed") {
  const Folder folder;
  Trained one(folder / "a");
  one.steps(1);
  const std::string path = one.checkpoint.save(1), file = read_file(path);
  size_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  one.steps(1);
  const std::string last = one.checkpoint.save(2), before = read_file(last);
  for (size_t place = 8 + header; place < file.size(); place += 7) {
    std::string damaged = file;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << place % 8));
    write_file(path, damaged);
    CHECK_ERROR_HAS(one.checkpoint.load(path), "is damaged: its numbers are not those that were written");
  }
  write_file(last, before.substr(0, before.size() - 1));
  CHECK_ERROR_HAS(one.checkpoint.load(), "without it, the one before is the newest");
  CHECK(read_file(one.checkpoint.save(2)) == before);
}

TEST_CASE("Checkpoint: what is no checkpoint is refused") {
  const Folder folder;
  Trained one(folder / "a");
  save_safetensors(folder / "weights.safetensors", one.model.state_dict());
  CHECK_ERROR_HAS(one.checkpoint.load(folder / "weights.safetensors"), "is no checkpoint; weights alone");
  const std::string path = one.checkpoint.save(1);
  CHECK_ERROR_HAS(one.checkpoint.save(-1), "must not be negative");
  CHECK_ERROR_HAS(one.checkpoint.add("a.b", one.count), "a name without a point");
  CHECK_ERROR_HAS(one.checkpoint.add("", one.count), "a name without a point");
  CHECK_ERROR_HAS(one.checkpoint.add("sum", one.count), "two parts are called sum");
  CHECK_ERROR_HAS(Checkpoint(folder / "x", 0), "at least the last one must stay");
  CHECK_ERROR_HAS(Checkpoint(folder.write("file", "") + "/a").save(1), "cannot be made");

  // A number with the wrong type or count is named with its part; what was taken over before is given back.
  Safetensors file = load_safetensors(path);
  file.metadata.erase("heed.checksum");
  const auto wrong = [&](const std::string& name, const Tensor& value) {
    StateDict tensors = file.tensors;
    tensors[name] = value;
    save_safetensors(folder / "wrong.safetensors", tensors, file.metadata);
    one.steps(1);
    const std::string before = read_file(one.checkpoint.save(2));
    const std::string said = message([&] { one.checkpoint.load(folder / "wrong.safetensors"); });
    CHECK(read_file(one.checkpoint.save(2)) == before);
    return said;
  };
  CHECK(contains(wrong("count", zeros({1})), "count: a list of int64 is needed, and it is float32 [1]"));
  CHECK(contains(wrong("count", zeros({2}, int64)), "count: one number is needed, and there are 2"));
  CHECK(contains(wrong("random", zeros({2}, int64)), "random: three numbers are needed, and there are 2"));
  CHECK(contains(wrong("batches.place", zeros({2}, int64)),
                 "batches: BatchStream: load_state_dict: a place is"));
  CHECK(contains(wrong("schedule", full({1}, -1, int64)), "schedule: "));
}
