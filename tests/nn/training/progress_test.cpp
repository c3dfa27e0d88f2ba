#include "nn/training/progress.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "nn/layers/linear.h"
#include "nn/optim/sgd.h"
#include "nn/training/training.h"
#include "tensor/utf8.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

namespace {

// What f prints to standard error, which is a file, or with `terminal` a terminal.
std::string errors_of(bool terminal, const std::function<void()>& f) {
  const Folder folder;
  const int out = terminal ? posix_openpt(O_RDWR | O_NOCTTY)
                           : open((folder / "err").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(out >= 0);
  int written_to = out;
  if (terminal) {
    REQUIRE(grantpt(out) == 0);
    REQUIRE(unlockpt(out) == 0);
    written_to = open(ptsname(out), O_RDWR | O_NOCTTY);
    REQUIRE(written_to >= 0);
  }
  const int before = dup(STDERR_FILENO);
  dup2(written_to, STDERR_FILENO);
  f();
  dup2(before, STDERR_FILENO);
  close(before);
  if (!terminal) {
    close(out);
    return read_file(folder / "err");
  }
  fcntl(out, F_SETFL, O_NONBLOCK);
  std::string text;
  char block[4096];
  for (ssize_t n = 0; (n = read(out, block, sizeof block)) > 0;) text.append(block, static_cast<size_t>(n));
  close(written_to);
  close(out);
  return text;
}

void wait_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Sets a variable of the environment until the end of the scope.
struct ScopedVariable {
  ScopedVariable(const char* name, const char* value) : name(name) {
    if (const char* old = getenv(name)) before = old, was_set = true;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~ScopedVariable() { was_set ? setenv(name, before.c_str(), 1) : unsetenv(name); }
  ScopedVariable(const ScopedVariable&) = delete;
  const char* name;
  std::string before;
  bool was_set = false;
};

}  // namespace

TEST_CASE("Progress: nothing is printed for a computation that ends soon") {
  for (const bool terminal : {false, true})
    CHECK(errors_of(terminal, [] {
            Progress progress("training", 3);
            for (int i = 0; i < 3; ++i) progress.step("loss 1");
            CHECK(progress.done());
          }).empty());
}

TEST_CASE("Progress: one line on a terminal, which is rewritten and cleared at the end") {
  const ScopedVariable color("NO_COLOR", nullptr), kind("TERM", "xterm");
  const std::string text = errors_of(true, [] {
    Progress progress("training", 100);
    progress.skip(20);
    wait_for(1.1);
    progress.step("loss 0.5", 40);
    progress.step("loss 0.4");  // too soon after the first
    wait_for(0.15);
    progress.step("", 1);
  });
  CHECK(text ==
        "\r\033[Ktraining: 60 %, loss 0.5, about 2 s left"
        "\r\033[Ktraining: 62 %, about 2 s left"
        "\r\033[K");
}

TEST_CASE("Progress: counted steps without an estimate of the time") {
  const ScopedVariable color("NO_COLOR", nullptr), kind("TERM", "xterm");
  const std::string text = errors_of(true, [] {
    Progress progress("running", 37, Progress::Remaining::counted);
    wait_for(1.1);
    progress.step();
    wait_for(0.15);
    progress.step("a note", 2);
  });
  CHECK(text == "\r\033[Krunning: 1 of 37 done\r\033[Krunning: 3 of 37 done, a note\r\033[K");
}

TEST_CASE("Progress: clear() makes room for other text") {
  const ScopedVariable color("NO_COLOR", nullptr), kind("TERM", "xterm");
  const std::string text = errors_of(true, [] {
    Progress progress("a", 10);
    progress.clear();  // nothing is visible yet
    wait_for(1.1);
    progress.step("", 0);  // nothing to estimate the time from
    progress.step();
    progress.clear();
  });
  CHECK(text.starts_with("\r\033[Ka: 10 %"));
  CHECK(text.ends_with(" s left\r\033[K\r\033[K"));
}

TEST_CASE("Progress: a training clears a shared line at its end, also if an exception passes") {
  const ScopedVariable color("NO_COLOR", nullptr), kind("TERM", "xterm");
  for (const int64_t failing : {9, 1}) {
    const std::string text = errors_of(true, [&] {
      Progress progress("both", 10);
      wait_for(1.1);
      Linear model(1, 1);
      SGD sgd(model.parameters());
      Training training(model, sgd, {.progress = &progress});
      try {
        training.run(2, [&] {
          if (training.step() == failing) fail("wrong");
          return sum(model(ones({1, 1})));
        });
        std::cerr << "done";
      } catch (const Error& error) {
        std::cerr << error.what();
      }
    });
    CHECK(contains(text, failing == 1 ? " s left\r\033[Kwrong" : " s left\r\033[Kdone"));
  }
}

TEST_CASE("accepts_control_sequences: a terminal without NO_COLOR that is not dumb") {
  const auto accepts = [](bool terminal) {
    return errors_of(terminal,
                     [] { std::cerr << (accepts_control_sequences(STDERR_FILENO) ? "yes" : "no"); });
  };
  const ScopedVariable color("NO_COLOR", nullptr), kind("TERM", "xterm");
  CHECK(accepts(true) == "yes");
  CHECK(accepts(false) == "no");
  {
    const ScopedVariable none("NO_COLOR", "1");
    CHECK(accepts(true) == "no");
  }
  const ScopedVariable dumb("TERM", "dumb");
  CHECK(accepts(true) == "no");
}

TEST_CASE("Progress: plain lines without a terminal, with NO_COLOR, and on a dumb terminal" *
          doctest::test_suite("slow")) {
  const auto run = [](bool terminal) {
    return errors_of(terminal, [] {
      Progress progress("training", 10);
      progress.step();
      wait_for(10.05);
      progress.step("loss 1");
      progress.step("loss 1");
    });
  };
  const std::string line = "training: 20 %, loss 1, about 41 s left\n";
  CHECK(run(false) == line);
  {
    const ScopedVariable color("NO_COLOR", "1");
    CHECK(replaced(run(true), "\r\n", "\n") == line);
  }
  const ScopedVariable color("NO_COLOR", nullptr), kind("TERM", "dumb");
  CHECK(replaced(run(true), "\r\n", "\n") == line);
}
