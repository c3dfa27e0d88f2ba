#include "examples/shared/training.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "examples/shared/loss_picture.h"
#include "tensor/random.h"

namespace program {

Trainings::Trainings(Program& self, int64_t checkpoint_every, bool shared)
    : self_(self), every_(checkpoint_every) {
  self.option("--checkpoint-every", every_,
              "Steps between checkpoints in --out, from which --resume continues; 0: only when stopped");
  self.flag("--resume", resume_, "Continue from the newest checkpoint in --out");
  self.option("--stop-after", stop_after_,
              "Stop after this step with a checkpoint, as if by Ctrl-C; 0: do not stop");
  self.option("--log", log_, "File for one JSON line per step (default: log.jsonl in --out)");
  if (shared)
    self.option(
        "--shards", shards_,
        "Parts of a batch, which the processes of mpirun share; the same number gives the same result on "
        "any number of processes; 0: one for each process");
  self.require([this] {
    check_range("--shards", shards_, 0, 65536);
    heed::check(every_ >= 0 && stop_after_ >= 0,
                "--checkpoint-every and --stop-after are numbers of steps, from 0");
    heed::check(log_ != "-", "--log -: standard output is for the results; name a file");
    heed::check(self_.draws() || (!self_.given("--checkpoint-every") && !resume_ && stop_after_ == 0),
                "--checkpoint-every, --resume and --stop-after need a folder for checkpoints: give --out");
  });
}

void Trainings::connect() {
  if (processes_) return;
  processes_.emplace(heed::ProcessesOptions{.shards = shards_});
  if (!processes_->first()) self_.silence();
}

std::string Trainings::log_file() const {
  if (!log_.empty()) return log_;
  return self_.draws() ? self_.out + "/log.jsonl" : "";
}

heed::TrainingOptions Trainings::with(heed::TrainingOptions options, bool keep_best) {
  options.folder = self_.out;
  options.resume = resume_;
  options.checkpoint_every = every_;
  options.keep_best = keep_best || every_ > 0;
  options.log = log_;
  options.append_log = last_log_ == log_file();
  options.progress = shared_.get();
  options.on_message = [this](const std::string& text) { self_.text() << text << "\n" << std::flush; };
  options.on_step = [this](heed::Training& training) { after_step(training); };
  options.on_signal = [this](int signal) { signal_ = signal; };
  options.processes = processes();
  last_log_ = log_file();
  return options;
}

void Trainings::expect(heed::Training& training, const std::vector<std::string>& options) const {
  for (const std::string& name : options) training.checkpoint().expect(name, self_.value(name));
  if (processes_ && processes_->shards() > 1)
    training.checkpoint().expect("--shards", std::to_string(processes_->shards()));
}

void Trainings::share_progress(int64_t steps) { shared_ = std::make_unique<Progress>("training", steps); }

void Trainings::draw() const {
  if (self_.draws()) draw_losses(self_, "loss", heed::read_log(log_file()));
}

void Trainings::after_step(heed::Training& training) {
  if (training.step() == stop_after_) training.stop();
  const auto begin = Clock::now();
  if (begin - drawn_ < pause_) return;
  try {
    draw();
  } catch (const heed::Error&) {  // Ctrl-C reaches gnuplot as well; the picture is drawn at the end
  }
  drawn_ = Clock::now();
  pause_ = std::max(pause_, 50 * (drawn_ - begin));  // drawing takes longer as the log grows
}

void Trainings::run(heed::Training& training, int64_t steps, const Step& step, const Validation& validation) {
  training.resume();
  const int64_t done = training.step();
  heed::check(done == steps || stop_after_ == 0 || done < stop_after_, "--stop-after ", stop_after_,
              ": the checkpoint is after step ", done, "; give a later step, or none");
  const std::vector<std::string> files = training.checkpoint().files();
  completed_ = done == steps && !files.empty() ? std::filesystem::last_write_time(files.back())
                                               : std::filesystem::file_time_type::max();
  drawn_ = Clock::now();
  signal_ = 0;
  const bool complete = training.run(steps, step, validation), first = !processes_ || processes_->first();
  if (processes_) processes_->end();
  if (!complete) {
    const std::vector<std::string> saved = training.checkpoint().files();
    throw Stopped{signal_, training.step(), saved.empty() ? "" : saved.back()};
  }
  if (!first) throw Finished{};
  if (!shared_ || shared_->done()) draw();
}

void Trainings::keep_earlier(const std::string& path) {
  if (!std::filesystem::exists(path) || std::filesystem::last_write_time(path) >= completed_) return;
  const std::string before = path + ".before";
  std::error_code wrong;
  std::filesystem::rename(path, before, wrong);
  heed::check(!wrong, path, ": cannot be moved to ", before, ": ", wrong.message());
  self_.text() << "the model of an earlier training is now " << before << "\n";
}

int64_t steps_in(double seconds, const std::function<void()>& trial, heed::Processes* processes) {
  using Clock = std::chrono::steady_clock;
  const heed::Generator random = heed::default_generator();
  trial();  // the first step allocates memory
  const auto start = Clock::now();
  double spent = 0;
  int64_t count = 0;
  for (; spent < seconds / 50; ++count) {
    trial();
    spent = std::chrono::duration<double>(Clock::now() - start).count();
    if (processes) spent = processes->broadcast(spent);
  }
  heed::default_generator() = random;
  return std::max<int64_t>(
      1, static_cast<int64_t>((0.9 * seconds - spent) * static_cast<double>(count) / spent));
}

double warm_and_fall(int64_t t, int64_t steps, double warm_up) {
  const auto now = static_cast<double>(t), all = static_cast<double>(std::max<int64_t>(1, steps));
  return std::max(0.0, std::min((now + 1) / warm_up, 1 - now / all));
}

Plan::Plan(heed::Training& training, heed::Optimizer& optimizer, double warm_up)
    : schedule(optimizer,
               [this, warm_up](int64_t t) {
                 return warm_and_fall(t, steps, std::min(warm_up, 0.1 * static_cast<double>(steps) + 1));
               }),
      training_(training) {
  training.checkpoint().add("schedule", schedule);
  training.checkpoint().add("steps", steps);
}

void Plan::check(double lr, double minutes, const std::string& option, int64_t count) {
  heed::check(lr > 0 && lr <= 1, "--lr is ", lr, "; it must be above 0, and at most 1");
  check_range("--minutes", minutes, 0, 100000);
  check_range(option, count, 0, 1000000000);
  heed::check(minutes == 0 || count == 0, option, " and --minutes plan the same; give one of them");
}

void Plan::begin(const std::function<int64_t()>& count) {
  if (training_.resume()) return;
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
