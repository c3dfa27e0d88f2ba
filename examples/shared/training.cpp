#include "examples/shared/training.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "nn/optim/clip.h"
#include "tensor/random.h"

namespace program {
namespace {

volatile std::sig_atomic_t received = 0;

// While it lives the first SIGINT or SIGTERM is only noted; a second one ends the program at once.
class Signals {
 public:
  Signals() {
    received = 0;
    struct sigaction noted {};
    noted.sa_handler = [](int signal) { received = signal; };
    noted.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &noted, &interrupt_);
    sigaction(SIGTERM, &noted, &terminate_);
  }
  ~Signals() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  Signals(const Signals&) = delete;

 private:
  struct sigaction interrupt_ {
  }, terminate_{};
};

std::string note(const StepRecord& record) {
  std::string text = "loss " + short_number(record.loss);
  if (!std::isnan(record.rate)) text += ", rate " + short_number(record.rate);
  return text;
}

}  // namespace

Training::Training(Program& self, int64_t every) : self_(self), every_(every) {
  self.option(
      "--checkpoint-every", every_,
      "Steps between checkpoints in --out, from which --resume goes on; 0: none, but when it is stopped");
  self.flag("--resume", resume_, "Go on from the newest checkpoint in --out");
  self.option("--stop-after", stop_after_,
              "Stop after this step, with a checkpoint, as if by Ctrl-C; 0: do not");
  self.option("--log", log_, "File for one JSON line a step (default: log.jsonl in --out)");
  self.require([this] {
    heed::check(every_ >= 0 && stop_after_ >= 0,
                "--checkpoint-every and --stop-after are numbers of steps, from 0");
    heed::check(log_ != "-", "--log -: standard output is for what the program says; name a file");
    heed::check(self_.draws() || (!self_.given("--checkpoint-every") && !resume_ && stop_after_ == 0),
                "--checkpoint-every, --resume and --stop-after need a folder for checkpoints: give --out");
  });
}

std::string Training::folder(const std::string& name) const {
  return self_.out + "/checkpoints" + (name.empty() ? "" : "/" + name);
}

std::string Training::log_file() const {
  if (!log_.empty()) return log_;
  return self_.draws() ? self_.out + "/log.jsonl" : "";
}

void Training::share_progress(int64_t steps) { shared_ = std::make_unique<Progress>("training", steps); }

bool Training::resume(heed::Checkpoint& state) {
  resumed_ = &state;
  return resume_ && state.load();
}

int64_t Training::steps_in(double seconds, const std::function<void()>& trial) {
  using Clock = std::chrono::steady_clock;
  const heed::Generator random = heed::default_generator();
  trial();  // the first one fetches memory
  const auto start = Clock::now();
  double spent = 0;
  int64_t count = 0;
  for (; spent < seconds / 50; ++count) {
    trial();
    spent = std::chrono::duration<double>(Clock::now() - start).count();
  }
  heed::default_generator() = random;
  return std::max<int64_t>(
      1, static_cast<int64_t>((0.9 * seconds - spent) * static_cast<double>(count) / spent));
}

void Training::say(const std::string& text) {
  if (shown_) shown_->clear();
  self_.text() << text << std::flush;
}

void Training::expect(heed::Checkpoint& state, const std::vector<std::string>& options) const {
  for (const std::string& name : options) state.expect(name, self_.value(name));
}

void Training::renew(const std::string& path) {
  if (!std::filesystem::exists(path) || std::filesystem::last_write_time(path) >= ended_) return;
  const std::string before = path + ".before";
  std::error_code wrong;
  std::filesystem::rename(path, before, wrong);
  heed::check(!wrong, path, ": cannot be moved to ", before, ": ", wrong.message());
  self_.text() << "the model of the training before is now " << before << "\n";
}

void Training::run(heed::Checkpoint& state, int64_t steps, const Step& step, const std::string& name) {
  if (resumed_ != &state) resume(state);
  resumed_ = nullptr;  // another state may come to stand where this one stands
  if (resume_) {
    const bool found = state.step() > 0;
    if (found && state.step() < steps)
      self_.text() << (name.empty() ? "" : name + ": ") << "going on after step " << state.step() << "\n";
    else if (!found && name.empty())
      self_.text() << "there is no checkpoint yet; beginning at the first step\n";
    self_.text() << std::flush;
  }
  if (self_.draws())
    if (const std::string moved = state.claim(); !moved.empty())
      self_.text() << "the checkpoints of the training before are now in " << moved << "\n" << std::flush;
  int64_t done = state.step();
  ended_ = std::filesystem::file_time_type::max();
  if (const auto files = state.files(); done == steps && !files.empty())
    ended_ = std::filesystem::last_write_time(files.back());
  heed::check(done == steps || stop_after_ == 0 || done < stop_after_, "--stop-after ", stop_after_,
              ": the checkpoint is after step ", done, "; give a later step, or none");
  const std::string log_path = log_file();
  TrainingLog log;
  if (!log_path.empty()) log = TrainingLog(log_path, name, done, resume_ || logged_ == log_path);
  logged_ = log_path;
  const auto draw = [&] {
    if (!log_path.empty() && self_.draws()) draw_losses(self_, "loss", read_log(log_path));
  };

  Progress own("training", steps);
  Progress& progress = shared_ ? *shared_ : own;
  shown_ = &progress;
  progress.skip(done);
  const Signals signals;
  using Clock = std::chrono::steady_clock;
  auto drawn = Clock::now();
  Clock::duration pause = std::chrono::seconds(5);  // between pictures, which take longer as the log grows
  std::string path;                                 // of the checkpoint after this step, "" if there is none
  while (done < steps) {
    const auto start = Clock::now();
    const bool tenth = (done + 1) * 10 / steps > done * 10 / steps;
    const StepRecord record = step(done, tenth);
    const auto end = Clock::now();
    log.write(++done, record, std::chrono::duration<double>(end - start).count());
    progress.step(note(record));

    const bool last = done == steps, stop = received != 0 || (!last && done == stop_after_);
    if (self_.draws() && (every_ > 0 || keeps_best_) && !std::isnan(record.validation))
      state.save_best(done, record.validation);
    path.clear();
    if (self_.draws() &&
        (stop || (every_ > 0 && (last || done % every_ == 0)) || (last && (keeps_best_ || !name.empty()))))
      path = state.save(done);
    if (stop) throw Stopped{received, done, path};
    if (!last && end - drawn > pause) {
      try {
        draw();
      } catch (const heed::Error&) {  // Ctrl-C reaches gnuplot, too; the picture comes at the end
      }
      drawn = Clock::now();
      pause = std::max(pause, 50 * (drawn - end));
    }
  }
  shown_ = nullptr;
  try {
    if (!shared_ || progress.done()) draw();
  } catch (const heed::Error&) {
    if (received == 0) throw;
  }
  if (received != 0 && !path.empty()) throw Stopped{received, done, path};
}

StepRecord descend(const heed::Tensor& loss, heed::Optimizer& optimizer, const heed::Module& model,
                   int64_t tokens) {
  StepRecord record{.loss = loss.item(), .rate = optimizer.lr(), .tokens = tokens};
  heed::check(std::isfinite(record.loss), "the loss is ", record.loss, "; take a smaller --lr");
  optimizer.zero_grad();
  loss.backward();
  record.gradient_norm = heed::clip_grad_norm_(model.parameters(), 1);
  optimizer.step();
  return record;
}

double warm_and_fall(int64_t t, int64_t steps, double warm_up) {
  const auto now = static_cast<double>(t), all = static_cast<double>(std::max<int64_t>(1, steps));
  return std::max(0.0, std::min((now + 1) / warm_up, 1 - now / all));
}

Plan::Plan(const std::string& folder, heed::Module& model, heed::Optimizer& optimizer, double warm_up)
    : schedule(optimizer,
               [this, warm_up](int64_t t) {
                 return warm_and_fall(t, steps, std::min(warm_up, 0.1 * static_cast<double>(steps) + 1));
               }),
      state(folder) {
  state.add("model", model);
  state.add("optimizer", optimizer);
  state.add("schedule", schedule);
  state.add("random", heed::default_generator());
  state.add("steps", steps);
}

void Plan::check(double lr, double minutes, const std::string& option, int64_t count) {
  heed::check(lr > 0 && lr <= 1, "--lr is ", lr, "; it must be above 0, and at most 1");
  check_range("--minutes", minutes, 0, 100000);
  check_range(option, count, 0, 1000000000);
  heed::check(minutes == 0 || count == 0, option, " and --minutes plan the same; give one of them");
}

void Plan::begin(Training& training, const std::function<int64_t()>& count) {
  if (training.resume(state)) return;
  steps = count();
  schedule.set_epoch(0);  // now that the number of steps is known
}

std::string fingerprint(const std::vector<std::string>& texts) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const std::string& text : texts)
    for (const char byte : text + '\0') hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

}  // namespace program
