// Loads any file as a checkpoint of a small training. If that throws, nothing may have changed; otherwise a
// saved checkpoint must load with the same bits.

#include "nn/files/checkpoint.h"

#include <filesystem>

#include "nn/layers/linear.h"
#include "nn/optim/sgd.h"
#include "nn/text/batch.h"
#include "tensor/create.h"
#include "tests/faults/fuzz/fuzz.h"

using namespace heed;

namespace {

struct Training {
  Training() {
    const std::vector<Tensor> parameters = model.parameters();
    for (const Tensor& p : parameters) p.set_grad(ones(p.shape()));
    optimizer.step();
    checkpoint.add("model", model);
    checkpoint.add("optimizer", optimizer);
    checkpoint.add("schedule", schedule);
    checkpoint.add("random", random);
    checkpoint.add("batches", batches);
    checkpoint.add("count", count);
    checkpoint.add("rate", rate);
    checkpoint.add("losses", losses);
    checkpoint.expect("--lr", "0.1");
  }
  // The bytes of its checkpoint.
  std::string state() {
    const std::string path = checkpoint.save(checkpoint.step());
    std::string bytes = contents(path);
    std::filesystem::remove(path);
    return bytes;
  }

  Linear model{2, 2, {}};
  SGD optimizer{model.parameters(), {.lr = 0.1, .momentum = 0.5}};
  StepLR schedule{optimizer, 2};
  Generator random{3};
  BatchStream batches{{3, 1, 2, 3}, 2, Generator(4)};
  int64_t count = 5;
  double rate = 0.5;
  std::vector<double> losses = {1, 2};
  // At most two trainings exist at a time.
  static inline int64_t count_of_all = 0;
  Checkpoint checkpoint{scratch() + ".folder" + std::to_string(count_of_all++ % 2)};
};

}  // namespace

void seeds(const std::function<void(std::string_view)>& add) {
  manual_seed(1);
  const std::string whole = Training().state();
  add(whole);
  // A file of version 1, whose checksum is not read: otherwise later checks would see few inputs.
  auto [tensors, metadata] = load_safetensors(MemoryFile(whole).path());
  metadata["heed.format"] = "checkpoint 1";
  save_safetensors(scratch(), tensors, metadata);
  add(contents(scratch()));
}

void run(std::string_view bytes) {
  manual_seed(1);
  Training training;
  const std::string before = training.state();
  const MemoryFile file(bytes);
  bool fits = true;
  try {
    training.checkpoint.load(file.path());
  } catch (const Error&) {
    fits = false;
  }
  const std::string now = training.state();
  if (!fits) return expect(now == before, "load threw after changing something");
  Training other;
  const MemoryFile again(now);
  other.checkpoint.load(again.path());
  expect(other.state() == now, "saved and loaded, it differs");
}
