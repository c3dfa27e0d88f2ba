#include "nn/files/checkpoint.h"

#include <cstring>

#include "nn/files/file.h"
#include "nn/layers/dropout.h"
#include "nn/layers/linear.h"
#include "nn/layers/sequential.h"
#include "nn/optim/adaptive.h"
#include "nn/optim/sgd.h"
#include "nn/text/batch.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

// A training with dropout, batches, a schedule and its own random generator.
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
    Values numbers;
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
  Values losses;
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

TEST_CASE("Checkpoint: 7 steps, and 7 more after a load, are 14 steps bit for bit") {
  const Folder folder;
  const std::string at = folder / "a";
  manual_seed(1);
  Trained whole(folder / "whole");
  whole.steps(14);
  const std::string want = read_file(whole.checkpoint.save(14));
  {
    manual_seed(1);
    Trained first(at);
    CHECK(first.checkpoint.lowest() == kInf);
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

TEST_CASE("Checkpoint: keeps a manually set learning rate despite a schedule") {
  const Folder folder;
  {
    Trained first(folder / "a");
    first.steps(4);
    first.optimizer.set_lr(0.123);
    first.checkpoint.save(4);
  }
  Trained second(folder / "a");
  second.checkpoint.load();
  CHECK(second.optimizer.lr() == 0.123);
  second.steps(2);
  CHECK(second.optimizer.lr() == 0.0025);
}

TEST_CASE("Checkpoint: keeps the newest and the best") {
  const Folder folder;
  const std::string at = folder / "deep/er/";  // created with its parents
  {
    Trained one(at);
    CHECK(!one.checkpoint.load());
    CHECK(one.checkpoint.files().empty());
    for (const int64_t step : {5, 10, 123456789}) one.checkpoint.save(step);
    CHECK(names_in(at) == Texts{"step-00000010.safetensors", "step-123456789.safetensors"});
    CHECK(one.checkpoint.save_best(11, 0.5));
    CHECK(!one.checkpoint.save_best(12, 0.5));
    CHECK(!one.checkpoint.save_best(12, kNaN));
    for (const char* other : {"step-x.safetensors", "step-1.safetensors", "step-00000999.safetensors.txt"})
      folder.write(std::string("deep/er/") + other, "not a checkpoint");
    CHECK(one.checkpoint.files() ==
          Texts{folder / "deep/er/step-00000010.safetensors", folder / "deep/er/step-123456789.safetensors"});
    one.checkpoint.save(123456790);
  }
  Trained two(at);
  two.checkpoint.load();
  CHECK(two.checkpoint.lowest() == 0.5);
  CHECK(two.checkpoint.step() == 123456790);
  CHECK(!two.checkpoint.save_best(123456791, 0.6));
  two.checkpoint.load(folder / "deep/er/best.safetensors");
  CHECK(two.checkpoint.step() == 11);
}

TEST_CASE("Checkpoint: newest and oldest mean the order of writing, not the step") {
  const Folder folder;
  const std::string at = folder / "a";
  const auto steps = [&] {
    std::vector<int64_t> found;
    Trained reader(folder / "none");
    for (const std::string& file : Trained(at).checkpoint.files()) {
      reader.checkpoint.load(file);
      found.push_back(reader.checkpoint.step());
    }
    return found;
  };
  using Steps = std::vector<int64_t>;
  {
    Trained first(at);
    first.checkpoint.save(100);
    first.checkpoint.save(300);
    first.checkpoint.load(at + "/step-00000100.safetensors");
    first.checkpoint.save(150);
  }
  CHECK(steps() == Steps{300, 150});
  Trained second(at);
  second.checkpoint.load();
  CHECK(second.checkpoint.step() == 150);
  second.checkpoint.save(200);
  CHECK(steps() == Steps{150, 200});
  second.checkpoint.save(200);  // replaces it
  CHECK(steps() == Steps{150, 200});
  second.checkpoint.save(150);  // the same, and it becomes the newest
  CHECK(steps() == Steps{200, 150});
}

TEST_CASE("Checkpoint: a new training moves the checkpoints of another one aside") {
  const Folder folder;
  const std::string at = folder / "a", before = at + ".before", last = "step-00000100.safetensors";
  CHECK(Trained(at).checkpoint.save_best(90, 0.25));
  const std::string best = read_file(at + "/best.safetensors");
  folder.write("a/mine", "");
  std::filesystem::create_directory(before);
  folder.write("a.before/mine", "");
  CHECK(Trained(at).checkpoint.claim() == before);
  CHECK(names_in(at) == Texts{"mine"});
  CHECK(read_file(before + "/best.safetensors") == best);
  {
    Trained second(at);
    CHECK(second.checkpoint.save_best(1, 0.5));
    CHECK(second.checkpoint.claim() == "");
    second.checkpoint.save(100);
  }
  {
    Trained third(at);
    third.checkpoint.load(before + "/best.safetensors");  // in another folder
    third.checkpoint.save(101);
  }
  CHECK(names_in(at) == Texts{"mine", "step-00000101.safetensors"});
  CHECK(names_in(before) == Texts{"best.safetensors", "mine", last});
  CHECK(names_in(before + "-2") == Texts{"best.safetensors"});
  CHECK(read_file(before + "-2/best.safetensors") == best);
  Trained(at).checkpoint.save(1);
  CHECK(names_in(before) == Texts{"mine", "step-00000101.safetensors"});
  CHECK(names_in(before + "-2") == Texts{"best.safetensors", last});
  CHECK(names_in(before + "-3") == Texts{"best.safetensors"});
}

TEST_CASE("Checkpoint: replaces and deletes only checkpoints") {
  const Folder folder;
  const std::string at = folder / "a";
  Trained one(at);
  one.checkpoint.save(1);
  for (const char* name : {"step-00000000", "step-00000004", "best"})
    save_safetensors(at + "/" + name + ".safetensors", {{"weights", ones({2})}});
  folder.write("a/step-00000003.safetensors", "cannot be read");
  one.checkpoint.save(2);
  for (const int64_t step : {3, 4})
    CHECK_ERROR_HAS(one.checkpoint.save(step), "exists and is not a checkpoint; move it to another folder");
  CHECK_ERROR_HAS(one.checkpoint.save_best(1, 0.5), "best.safetensors: exists and is not a checkpoint");
  one.checkpoint.save(5);
  CHECK(names_in(at) == Texts{"best.safetensors", "step-00000000.safetensors", "step-00000002.safetensors",
                              "step-00000003.safetensors", "step-00000004.safetensors",
                              "step-00000005.safetensors"});
  CHECK_ERROR_HAS(one.checkpoint.load(),
                  "step-00000003.safetensors: is not a safetensors file; it looks like "
                  "text; without it, the one before is the newest");
}

TEST_CASE("Checkpoint: follows a link to its folder, and the folder may be \".\"") {
  const Folder folder;
  const std::string at = folder / "real", link = folder / "link";
  std::filesystem::create_directory(at);
  std::filesystem::create_directory_symlink("real", link);
  const std::filesystem::path here = std::filesystem::current_path();
  for (const int64_t step : {1, 2}) Trained(link).checkpoint.save(step);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(names_in(at) == Texts{"step-00000002.safetensors"});
  CHECK(names_in(at + ".before") == Texts{"step-00000001.safetensors"});
  std::filesystem::current_path(at);
  Trained dot(".");
  CHECK(dot.checkpoint.load());
  dot.checkpoint.save(3);
  std::filesystem::current_path(here);
  CHECK(names_in(at) == Texts{"step-00000002.safetensors", "step-00000003.safetensors"});
}

TEST_CASE("Checkpoint: a folder is for one training at a time") {
  const Folder folder;
  const std::string at = folder / "a";
  const std::string said = "Checkpoint: " + at + ": another training is using this folder";
  {
    Trained one(at);
    const std::string path = one.checkpoint.save(1);
    Trained two(at);
    CHECK_ERROR_HAS(two.checkpoint.load(), said);
    CHECK_ERROR_HAS(two.checkpoint.save(2), said);
    CHECK_ERROR_HAS(two.checkpoint.claim(), said);
    CHECK(in_child([&] {
      const Trained copied(at);
      return contains(message([&] { Trained(at).checkpoint.load(); }), said);
    }));
    two.checkpoint.load(path);  // reads only
    CHECK_ERROR_HAS(two.checkpoint.save(2), said);
    one.checkpoint.save(2);
  }
  CHECK(Trained(at).checkpoint.load());
}

TEST_CASE("Checkpoint: a file that does not fit throws a table and changes nothing") {
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
    other.checkpoint.expect("--tag", "-");
    int64_t more = 0;
    other.checkpoint.add("more", more);
    CHECK(refused(other) == "Checkpoint: " + path +
                                ": does not fit this training; nothing was changed\n"
                                "          in the file  now\n"
                                "  --lr    0.01         0.02\n"
                                "  --seed  -            1\n"
                                "  --tag   -            -\n"
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
  CHECK_ERROR_HAS(other.load(path), "optimizer  AdamW  ");
}

TEST_CASE("Checkpoint: detects every changed bit, dtype, shape, name or text") {
  const Folder folder;
  Trained one(folder / "a");
  one.steps(1);
  const std::string path = one.checkpoint.save(1), file = read_file(path);
  size_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  one.steps(1);
  const std::string last = one.checkpoint.save(2), before = read_file(last);
  const std::string damage = "is damaged: its contents are not those that were written";
  const auto refused = [&](const std::string& damaged) {
    write_file(path, damaged);
    return contains(message([&] { one.checkpoint.load(path); }), damage);
  };
  const auto changed = [&](const std::vector<size_t>& places, int bits) {
    CAPTURE(places.front());
    std::string damaged = file;
    for (const size_t at : places) damaged[at] = static_cast<char>(damaged[at] ^ bits);
    CHECK(refused(damaged));
  };
  const size_t data = 8 + header;
  for (size_t place = data; place < file.size(); place += 7) changed({place}, 1 << place % 8);
  for (size_t place = data + 7; place + 8 < file.size(); place += 8)
    changed({place, place + 8}, 0x80);  // the highest bits of two numbers
  for (const auto& [part, by] : {std::pair("F32", "I32"),
                                 {"F32", "U32"},
                                 {"\"shape\":[5,2]", "\"shape\":[2,5]"},
                                 {"model.0.bias", "model.0.bios"},
                                 {"\"AdamW\"", "\"AdamX\""}}) {
    CAPTURE(by);
    const size_t at = file.find(part);
    REQUIRE(at != std::string::npos);
    CHECK(refused(std::string(file).replace(at, std::strlen(part), by)));
  }
  write_file(last, before.substr(0, before.size() - 1));
  CHECK_ERROR_HAS(one.checkpoint.load(), "without it, the one before is the newest");
  CHECK(read_file(one.checkpoint.save(2)) == before);
}

TEST_CASE("Checkpoint: wrong files, names and numbers throw") {
  const Folder folder;
  Trained one(folder / "a");
  save_safetensors(folder / "weights.safetensors", one.model.state_dict());
  CHECK_ERROR_HAS(one.checkpoint.load(folder / "weights.safetensors"), "is not a checkpoint; weights alone");
  const std::string path = one.checkpoint.save(1);
  CHECK_ERROR_HAS(one.checkpoint.save(-1), "must not be negative");
  CHECK_ERROR_HAS(one.checkpoint.add("a.b", one.count), "a name without a point");
  CHECK_ERROR_HAS(one.checkpoint.add("", one.count), "a name without a point");
  CHECK_ERROR_HAS(one.checkpoint.add("sum", one.count), "two parts are called sum");
  CHECK_ERROR_HAS(Checkpoint(folder / "x", 0), "at least one must be kept");
  CHECK_ERROR_HAS(Checkpoint(folder.write("file", "") + "/a").save(1), "cannot be created");

  // A file of version 1 is loaded without a check of its checksum.
  Safetensors file = load_safetensors(path);
  file.metadata["heed.format"] = "checkpoint 1";
  save_safetensors(folder / "old.safetensors", file.tensors, file.metadata);
  one.steps(1);
  one.checkpoint.load(folder / "old.safetensors");
  CHECK(one.count == 0);

  // The error names the part, and nothing changes.
  const auto wrong = [&](const std::string& name, const Tensor& value, const std::string& said) {
    StateDict tensors = file.tensors;
    tensors[name] = value;
    save_safetensors(folder / "wrong.safetensors", tensors, file.metadata);
    one.steps(1);
    const std::string before = read_file(one.checkpoint.save(2));
    CHECK_ERROR_HAS(one.checkpoint.load(folder / "wrong.safetensors"), said);
    CHECK(read_file(one.checkpoint.save(2)) == before);
  };
  wrong("count", zeros({1}), "count: int64 [1] is needed, and it is float32 [1]");
  wrong("count", zeros({2}, int64), "count: int64 [1] is needed, and it is int64 [2]");
  wrong("random", zeros({2}, int64), "random: int64 [3] is needed, and it is int64 [2]");
  wrong("losses", zeros({}, float64), "losses: float64 [...] is needed, and it is float64 []");
  file.tensors.erase("count");
  wrong("count.part", zeros({1}, int64), "count: one tensor is needed, and there are 1 with");
  file.tensors["count"] = zeros({1}, int64);
  wrong("batches.place", zeros({2}, int64), "batches: BatchStream: load_state_dict: the state must be");
  wrong("schedule", full({1}, -1, int64), "schedule: ");
}
