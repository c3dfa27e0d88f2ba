// A training for tests of several processes: trainer OUT SHARDS STEPS [fault...]. Process 0 writes the
// weights to OUT/weights and checkpoints to OUT/checkpoints. It has dropout, clipping, batches that shards
// divide unevenly, and a parameter that some shards do not use.
//
//   resume                         continues from the newest checkpoint
//   stop STEP                      stops after this step
//   throw, hang, full RANK STEP    process RANK throws, stops by SIGSTOP, or finds the disk full, at this
//   step term, usr1 RANK STEP           sends itself this signal drift RANK STEP                changes one
//   bit of a parameter

#include <heed.h>
#include <heed/distributed.h>
#include <heed/training.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "nn/files/file.h"

using namespace heed;

namespace {

struct Net : Layer<Net> {
  Tensor forward(const Tensor& x, bool uses_extra) const {
    const Tensor h = drop(tanh(in(x)));
    return uses_extra ? out(h) + extra * mean(h) : out(h);
  }
  void visit(Visitor& v) override { v("in", in, "drop", drop, "out", out, "extra", extra, "unused", unused); }
  Linear in{5, 33};
  Dropout drop{0.3};
  Linear out{33, 2};
  Parameter extra{init::ones({1})}, unused{init::ones({3})};
};

int run(int count, char** arguments) {
  const std::string out = arguments[1], fault = count > 4 ? arguments[4] : "";
  const int64_t steps = std::atoll(arguments[3]), rank = count > 6 ? std::atoll(arguments[5]) : 0,
                at = count > 5 ? std::atoll(arguments[count - 1]) : 0;
  Processes all({.shards = std::atoll(arguments[2])});
  manual_seed(all.first() ? 7 : 8);  // share() makes the models equal
  Net net;
  manual_seed(7);
  const Tensor x = randn({61, 5}), y = narrow(x * x, 1, 0, 2);
  Adam adam(net.parameters(), {.lr = 0.01});
  Batches batches(61, 13);
  Training training(net, adam,
                    {.folder = out,
                     .max_norm = 0.5,
                     .resume = fault == "resume",
                     .checkpoint_every = 10,
                     .processes = &all});
  training.checkpoint().add("batches", batches);
  const auto faulty = [&](const char* name) {
    return fault == name && all.rank() == rank && training.step() + 1 == at;
  };
  training.run(steps, [&] {
    if (fault == "stop" && training.step() + 1 == at) training.stop();
    if (faulty("throw")) fail("this process throws");
    if (faulty("hang")) std::raise(SIGSTOP);
    if (faulty("kill")) std::raise(SIGKILL);
    if (faulty("term")) std::raise(SIGTERM);
    if (faulty("usr1")) std::raise(SIGUSR1);
    if (faulty("full")) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit none{100, 100};
      setrlimit(RLIMIT_FSIZE, &none);
    }
    if (faulty("drift")) *net.unused.mutable_data<float>() += 1;
    const Tensor rows = batches.next();
    return training.descend(rows.numel(), [&](int64_t from, int64_t to) {
      const Tensor part = narrow(rows, 0, from, to - from);
      return ShardLoss{F::mse_loss(net(x[part], from % 2 == 0), y[part]), to - from};
    });
  });
  if (!all.first()) return 0;
  std::string bytes;
  for (const Tensor& p : net.parameters())
    bytes.append(reinterpret_cast<const char*>(p.data<float>()), static_cast<size_t>(p.numel()) * 4);
  write_file(out + "/weights", bytes);
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  return run(count, arguments);
} catch (const std::exception& error) {
  std::fprintf(stderr, "trainer: %s\n", error.what());
  return 2;
}
