#include "nn/training/training.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>

#include "autograd/ops/shape.h"
#include "nn/files/file.h"
#include "nn/files/text_file.h"
#include "nn/optim/clip.h"
#include "nn/training/evaluation.h"

namespace heed {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

// During its lifetime the first SIGINT, SIGTERM or SIGUSR1 is only stored. The second one has its usual
// effect. An ignored signal stays ignored: a shell starts programs in the background so that Ctrl-C does not
// reach them.
struct StopSignals {
  StopSignals() {
    stop_signal = 0;
    struct sigaction store {};
    store.sa_handler = [](int signal) { stop_signal = signal; };
    store.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (auto& [signal, earlier] : actions) {
      sigaction(signal, nullptr, &earlier);
      if (earlier.sa_handler != SIG_IGN) sigaction(signal, &store, nullptr);
    }
  }
  ~StopSignals() {
    for (const auto& [signal, earlier] : actions) sigaction(signal, &earlier, nullptr);
  }
  std::pair<int, struct sigaction> actions[3] = {{SIGINT, {}}, {SIGTERM, {}}, {SIGUSR1, {}}};
};

std::string in_folder(const TrainingOptions& options, const std::string& file) {
  return options.folder.empty() ? "" : options.folder + "/" + file;
}

}  // namespace

Training::Training(Module& model, Optimizer& optimizer, TrainingOptions options)
    : model_(model),
      optimizer_(optimizer),
      options_(std::move(options)),
      checkpoint_(in_folder(options_, "checkpoints" + (options_.name.empty() ? "" : "/" + options_.name))) {
  check(!options_.resume || !options_.folder.empty(), "Training: resume needs a folder with checkpoints");
  check(options_.patience >= 0 && options_.validate_every >= 0 && options_.checkpoint_every >= 0 &&
            options_.max_norm >= 0,
        "Training: patience is ", options_.patience, ", validate_every ", options_.validate_every,
        ", checkpoint_every ", options_.checkpoint_every, ", max_norm ", options_.max_norm,
        "; none may be negative or NaN");
  checkpoint_.add("model", model);
  checkpoint_.add("optimizer", optimizer);
  checkpoint_.add("random", default_generator());
  checkpoint_.add("best", best_);
  checkpoint_.add("best_loss", lowest_);
  checkpoint_.add("waited", waited_);
}

void Training::print(const std::string& text) const {
  if (!writes()) return;
  if (options_.progress) options_.progress->clear();
  if (own_progress_) own_progress_->clear();
  if (options_.on_message) return options_.on_message(text);
  std::cerr << text << "\n";
}

// Process 0 reads the file, and the others get its bytes: their machines may have no such folder.
bool Training::resume() {
  if (std::exchange(tried_to_resume_, true)) return resumed_;
  Processes* all = options_.processes;
  resumed_ = options_.resume && writes() && checkpoint_.load();
  if (options_.resume && all && all->size() > 1) {
    const std::string bytes = all->broadcast(resumed_ ? read_bytes(checkpoint_.files().back()) : "");
    if (!all->first() && !bytes.empty()) {
      const std::filesystem::path file =
          std::filesystem::temp_directory_path() / detail::text("heed-", getpid(), ".safetensors");
      const std::shared_ptr<void> removed(nullptr, [&](void*) { std::remove(file.c_str()); });
      write_file(file, bytes);
      checkpoint_.load(file);
      resumed_ = true;
    }
  }
  step_ = checkpoint_.step();
  return resumed_;
}

StepRecord Training::descend(const Tensor& loss, int64_t tokens) {
  check(!options_.processes || options_.processes->shards() == 1,
        "Training: several shards share the steps; give descend() the rows and a function");
  return update(loss.item(), tokens, loss);
}

StepRecord Training::descend(int64_t rows, const std::function<ShardLoss(int64_t, int64_t)>& loss,
                             int64_t tokens) {
  if (!options_.processes) return descend(loss(0, rows).loss, tokens);
  return update(options_.processes->backward(rows, model_.parameters(), loss), tokens);
}

// The rest of a step with this mean loss. Without `loss` the parameters have their gradients already.
StepRecord Training::update(double mean, int64_t tokens, const Tensor& loss) {
  StepRecord record{.loss = mean, .rate = optimizer_.lr(), .tokens = tokens};
  check(std::isfinite(record.loss), "Training: the loss of step ", step_ + 1, " is ", record.loss,
        step_ == 0 ? "; check the data and the model" : "; take a smaller learning rate");
  if (loss.defined()) {
    optimizer_.zero_grad();
    loss.backward();
  }
  if (std::isfinite(options_.max_norm))
    record.gradient_norm = clip_grad_norm_(model_.parameters(), options_.max_norm);
  if (!validates_) note_loss(record.loss);  // before the step, since these parameters have this loss
  optimizer_.step();
  return record;
}

void Training::note_loss(double loss) {
  if (options_.patience == 0 || std::isnan(loss)) return;
  ++waited_;
  if (loss >= lowest_) return;
  waited_ = 0;
  lowest_ = loss;
  for (const auto& [name, x] : model_.state_dict()) best_.values[name] = clone(x.detach());
}

void Training::validate(int64_t steps, const std::function<double()>& validation) {
  const int64_t every = options_.validate_every;
  const bool due =
      every > 0 ? step_ % every == 0 || step_ == steps : step_ * 10 / steps > (step_ - 1) * 10 / steps;
  if (!validates_ || !due) return;
  const Evaluation evaluation;
  if (writes()) last_.validation = validation();
  if (options_.processes) last_.validation = options_.processes->broadcast(last_.validation);
  note_loss(last_.validation);
}

// Reports where the run begins, and moves checkpoints of an earlier training away.
void Training::begin(int64_t steps) {
  if (resume())
    print(detail::text(options_.name, options_.name.empty() ? "" : ": ",
                       step_ < steps ? "resuming after step " : "the training is complete: step ", step_));
  else if (options_.resume && options_.name.empty())
    print("there is no checkpoint yet; starting with the first step");
  if (options_.processes) options_.processes->share(model_);
  if (options_.folder.empty() || !writes()) return;
  if (const std::string moved = checkpoint_.claim(); !moved.empty())
    print("the checkpoints of an earlier training are now in " + moved);
}

void Training::save(bool last) {
  if (options_.folder.empty()) return;
  const int64_t every = options_.checkpoint_every;
  if (options_.keep_best && writes()) checkpoint_.save_best(step_, last_.validation);  // unless it is NaN
  const bool at_end = last && (every > 0 || options_.keep_best || !options_.name.empty());
  if (!stopped_ && !at_end && (every == 0 || step_ % every != 0)) return;
  if (options_.processes) options_.processes->check_same(model_.parameters());
  if (writes()) checkpoint_.save(step_);
}

// The signal that stops this process or another one, 0 if there is none. All processes stop if one does.
int Training::stopped_by() {
  double reason = stop_signal != 0 ? stop_signal : stopped_ ? 0.5 : 0;
  if (options_.processes) reason = std::ranges::max(options_.processes->gather(reason));
  stopped_ = reason > 0;
  return static_cast<int>(reason);
}

bool Training::run(int64_t steps, const std::function<StepRecord()>& step,
                   const std::function<double()>& validation) {
  check(steps >= 0, "Training: run: steps is ", steps, "; it must not be negative");
  stopped_ = false;
  validates_ = bool(validation);
  begin(steps);
  const std::string log_file = options_.log.empty() ? in_folder(options_, "log.jsonl") : options_.log;
  const bool append = options_.resume || options_.append_log || step_ > 0;
  TrainingLog log =
      log_file.empty() || !writes() ? TrainingLog() : TrainingLog(log_file, options_.name, step_, append);

  Progress& progress = options_.progress ? *options_.progress : own_progress_.emplace("training", steps);
  progress.skip(step_);
  int signal = 0;
  const auto enough = [&] { return options_.patience > 0 && waited_ >= options_.patience; };
  {
    // Also when an exception passes.
    const std::shared_ptr<void> clear_at_end(nullptr, [&](void*) { progress.clear(); });
    const StopSignals signals;
    while (step_ < steps && !stopped_ && !enough()) {
      const auto start = std::chrono::steady_clock::now();
      last_ = step();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      ++step_;
      validate(steps, validation);
      log.write(step_, last_, seconds.count());
      if (writes())
        progress.step("loss " + short_number(last_.loss) +
                      (std::isnan(last_.rate) ? "" : ", rate " + short_number(last_.rate)));
      if (options_.on_step) options_.on_step(*this);
      signal = stopped_by();
      stopped_ = (stopped_ && step_ < steps) || signal != 0;
      save(step_ == steps || enough());
    }
  }
  own_progress_.reset();
  if (stopped_ && options_.processes) options_.processes->barrier();  // process 0 has saved its checkpoint
  if (signal != 0) report(signal);
  if (stopped_) return false;
  if (step_ < steps)
    print(detail::text("stopped early after step ", step_, ": the loss was lowest ", waited_,
                       validates_ ? " validations" : " steps", " ago, ", short_number(lowest_)));
  if (options_.patience > 0 && !best_.values.empty()) model_.load_state_dict(best_.values);
  return true;
}

void Training::report(int signal) const {
  if (options_.on_signal) return options_.on_signal(signal);
  const char* name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGUSR1";
  print(detail::text("stopped after step ", step_, " by ", name, "; ",
                     options_.folder.empty() || !writes()
                         ? "nothing was saved, since the training has no folder"
                         : checkpoint_.files().back() +
                               " contains its complete state, from which .resume = true continues"));
  std::cout << std::flush;
  std::raise(signal);
}

}  // namespace heed
