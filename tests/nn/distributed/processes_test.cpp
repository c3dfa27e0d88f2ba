#include "nn/distributed/processes.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "nn/functional.h"
#include "nn/layers/dropout.h"
#include "nn/layers/linear.h"
#include "nn/layers/sequential.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

struct Regression {
  Regression() : model((manual_seed(3), Linear(3, 2))) {}
  double backward(Processes& all, double dropout = 0) {
    return all.backward(rows, model.parameters(), [&, dropout](int64_t from, int64_t to) {
      const Tensor part = narrow(x, 0, from, to - from);
      ranges += std::to_string(from) + "-" + std::to_string(to) + " ";
      return ShardLoss{F::mse_loss(F::dropout(model(part), dropout), narrow(y, 0, from, to - from)),
                       to - from};
    });
  }
  int64_t rows = 10;
  Linear model;
  Tensor x = counted({10, 3}) / 30, y = counted({10, 2}) / 7;
  std::string ranges;
};

Tensor loss_of(const Regression& task) { return F::mse_loss(task.model(task.x), task.y); }

std::string bytes_of_gradients(const Module& model) {
  std::string all;
  for (const Tensor& p : model.parameters()) all += p.grad().defined() ? bytes_of(p.grad()) : "none";
  return all;
}

// Runs heed_trainer in a folder, on so many processes or, if it is 0, without mpirun, for at most 60 s. MPI
// itself leaks.
Run train(const Folder& folder, int processes, const std::string& arguments) {
  const std::string mpirun =
      "LSAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "
      "mpirun --oversubscribe --bind-to none --mca btl self,vader --mca btl_vader_single_copy_mechanism none "
      "-np ";
  return run_shell("cd '" + folder.path.string() + "' && export OMP_NUM_THREADS=1 && " +
                   (processes == 0 ? "timeout 60" : mpirun + std::to_string(processes)) +
                   " " HEED_BINARY_DIR "/tests/heed_trainer " + arguments);
}

// A training whose process 1 fails at step 25: it ends within 10 s of that, the checkpoint of step 20 is
// whole, and the training resumes from it to the bits of one without a failure. Returns its messages.
std::string messages_of_failure(const std::string& fault) {
  const Folder folder;
  const auto start = std::chrono::steady_clock::now();
  const Run failed = train(folder, 2, "broken 4 50 " + fault + " 1 25");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(seconds.count() < 20);  // with the start
  CHECK(failed.code != 0);
  CHECK(failed.code != 124);
  CHECK_FALSE(std::filesystem::exists(folder / "broken/checkpoints/step-00000030.safetensors"));
  const Run resumed = train(folder, 4, "broken 4 50 resume"), whole = train(folder, 0, "whole 4 50");
  CHECK_MESSAGE(resumed.code == 0, resumed.err);
  CHECK(contains(resumed.err, "resuming after step 20"));
  CHECK_MESSAGE(whole.code == 0, whole.err);
  CHECK(read_file(folder / "broken/weights") == read_file(folder / "whole/weights"));
  return failed.err + failed.out;
}

}  // namespace

TEST_CASE("Processes: a program that was started alone is a world of one") {
  Processes all;
  CHECK(all.rank() == 0);
  CHECK(all.size() == 1);
  CHECK(all.shards() == 1);
  CHECK(all.first());
  CHECK(all.sum(2.5) == 2.5);
  CHECK(all.any(true));
  CHECK_FALSE(all.any(false));
  CHECK(all.gather(3) == std::vector<double>{3});
  CHECK(all.broadcast("text") == "text");
  all.barrier();
  const auto [from, to] = all.part(7);
  CHECK(from == 0);
  CHECK(to == 7);
  Linear model(2, 2);
  const std::string before = bytes_of(model.weight);
  all.share(model);
  all.check_same(model.parameters());
  CHECK(bytes_of(model.weight) == before);
}

TEST_CASE("Processes: with one shard, backward has the bits of loss.backward()") {
  Regression with, without;
  Processes all;
  manual_seed(5);
  const double mean = with.backward(all, 0.5);
  CHECK(with.ranges == "0-10 ");
  manual_seed(5);
  const Tensor loss = F::mse_loss(F::dropout(without.model(without.x), 0.5), without.y);
  loss.backward();
  CHECK(mean == loss.item());
  CHECK(bytes_of_gradients(with.model) == bytes_of_gradients(without.model));
  CHECK(all.backward(loss_of(without), without.model.parameters(), 10) > 0);
}

TEST_CASE("Processes: shards of uneven sizes have the gradient of the mean over all rows") {
  Regression whole, parts;
  const Tensor loss = loss_of(whole);
  loss.backward();
  for (const int64_t shards : {2, 3, 4, 7, 10, 16}) {
    CAPTURE(shards);
    Processes all({.shards = shards});
    parts.model.weight.set_grad(full({2, 3}, 100.0));  // is replaced
    CHECK(parts.backward(all) == doctest::Approx(loss.item()));
    CHECK(largest_difference(parts.model.weight.grad(), whole.model.weight.grad()) < 1e-6);
    CHECK(largest_difference(parts.model.bias.grad(), whole.model.bias.grad()) < 1e-6);
  }
  Processes three({.shards = 3});
  parts.ranges = "";
  parts.backward(three);
  CHECK(parts.ranges == "0-3 3-6 6-10 ");
}

TEST_CASE("Processes: fewer shards than rows, options out of range") {
  Regression task;
  Processes all({.shards = 4});
  task.rows = 3;
  task.backward(all);
  CHECK(task.ranges == "0-1 1-2 2-3 ");
  task.rows = 0;
  CHECK_ERROR_HAS(task.backward(all), "there are no rows");
  CHECK_ERROR_HAS(all.backward(Tensor(), {}, 1), "give a function");
  const auto weightless = [](int64_t, int64_t) { return ShardLoss{Tensor(), 0}; };
  CHECK_ERROR_HAS(all.backward(1, {}, weightless), "the weight of rows 0 to 1 is 0");
  CHECK_ERROR_HAS(Processes(ProcessesOptions{.silence = 0}), "must be above 0");
  CHECK_ERROR_HAS(Processes(ProcessesOptions{.shards = -1}), "-1 shards for 1 processes");
}

#ifdef HEED_MPI

TEST_CASE("Processes: the same bytes of weights for 1, 2, 3 and 4 processes") {
  const Folder folder;
  for (const int processes : {0, 1, 2, 3, 4}) {
    const Run run = train(folder, processes, "out-" + std::to_string(processes) + " 4 50");
    REQUIRE_MESSAGE(run.code == 0, run.err);
  }
  const std::string alone = read_file(folder / "out-0/weights");
  CHECK(alone.size() > 500);
  for (const char* file : {"1", "2", "3", "4"})
    CHECK_MESSAGE(read_file(folder / ("out-" + std::string(file) + "/weights")) == alone, file);
  CHECK(read_file(folder / "out-4/checkpoints/step-00000050.safetensors") ==
        read_file(folder / "out-0/checkpoints/step-00000050.safetensors"));
}

TEST_CASE("Processes: a training resumes with another number of processes to the same bytes") {
  const Folder folder;
  for (const auto& [processes, arguments] :
       std::vector<std::pair<int, std::string>>{{1, "whole 8 50"},
                                                {2, "parts 8 50 stop 23"},
                                                {4, "parts 8 37 resume"},
                                                {0, "parts 8 50 resume"}}) {
    const Run run = train(folder, processes, arguments);
    CHECK_MESSAGE(run.code == 0, arguments, run.err);
  }
  CHECK(read_file(folder / "parts/weights") == read_file(folder / "whole/weights"));
}

TEST_CASE("Processes: fewer shards than processes") {
  const Folder folder;
  const Run run = train(folder, 2, "out 1 50");
  CHECK(run.code != 0);
  CHECK(contains(run.err, "1 shards for 2 processes are too few"));
}

TEST_CASE("Processes: an exception ends all, and the message names the process" *
          doctest::test_suite("slow")) {
  const std::string messages = messages_of_failure("throw");
  CHECK(contains(messages, "heed: process 1 of 2 ("));
  CHECK(contains(messages, "ends because of an error"));
  CHECK(contains(messages, "trainer: this process throws"));
}

TEST_CASE("Processes: a process that is killed ends all" * doctest::test_suite("slow")) {
  CHECK(contains(messages_of_failure("kill"), "process rank 1"));
}

TEST_CASE("Processes: a process that is stopped ends all" * doctest::test_suite("slow")) {
  CHECK(contains(messages_of_failure("hang"), "has been silent for 5 s"));
}

TEST_CASE("Processes: a process whose bits differ ends all" * doctest::test_suite("slow")) {
  const std::string messages = messages_of_failure("drift");
  CHECK(contains(messages, "the parameters or random numbers of process 1 of 2 ("));
  CHECK(contains(messages, "have different bits"));
}

TEST_CASE("Processes: a full disk ends all" * doctest::test_suite("slow")) {
  const Folder folder;
  const Run failed = train(folder, 2, "broken 4 50 full 0 25");
  CHECK(failed.code != 0);
  CHECK(contains(failed.err, "trainer: "));
  CHECK(contains(failed.err, "heed: process 0 of 2 ("));
  CHECK(train(folder, 4, "broken 4 50 resume").code == 0);
  CHECK(train(folder, 1, "whole 4 50").code == 0);
  CHECK(read_file(folder / "broken/weights") == read_file(folder / "whole/weights"));
}

TEST_CASE("Processes: a signal to one process stops all with a checkpoint" * doctest::test_suite("slow")) {
  const Folder folder;
  for (const char* signal : {"term", "usr1"}) {
    const Run stopped = train(folder, 2, "stopped 4 50 " + std::string(signal) + " 1 25");
    CHECK(stopped.code != 0);
    CHECK(contains(stopped.err, "stopped after step 25"));
    CHECK(train(folder, 2, "stopped 4 50 resume").code == 0);
    CHECK(train(folder, 0, "whole 4 50").code == 0);
    CHECK(read_file(folder / "stopped/weights") == read_file(folder / "whole/weights"));
    std::filesystem::remove_all(folder.path / "stopped");
  }
}

#endif
