// Any file is a checkpoint of a small training or refused; then nothing has changed. One that is gives the
// same again.

#include "nn/files/checkpoint.h"

#include <filesystem>

#include "nn/layers/linear.h"
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
  // The bytes of the checkpoint that it would be.
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
  Checkpoint checkpoint{scratch() + ".folder"};
};

}  // namespace

void seeds(const std::function<void(std::string_view)>& add) {
  manual_seed(1);
  const std::string whole = Training().state();
  add(whole);
  // One without the sum over its numbers, which would refuse most changes before they are looked at.
  auto [tensors, about] = load_safetensors(MemoryFile(whole).path());
  about.erase("heed.checksum");
  save_safetensors(scratch(), tensors, about);
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
  if (!fits) return expect(now == before, "refused, and yet something has changed");
  Training other;
  const MemoryFile again(now);
  other.checkpoint.load(again.path());
  expect(other.state() == now, "loaded again it is another");
}
