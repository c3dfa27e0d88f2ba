#pragma once

#include <cmath>

#include "nn/files/safetensors.h"
#include "nn/optim/schedule.h"
#include "tensor/random.h"

/// Saving a training, and resuming it as if it had never stopped.
namespace heed {

/// The complete state of a training: all parts that are added to it, each under its own name. It is saved to
/// one .safetensors file, which is never seen incomplete, in a folder that keeps the newest few and the best.
///
///   Checkpoint checkpoint("out/checkpoints");
///   checkpoint.add("model", model);
///   checkpoint.add("optimizer", optimizer);
///   checkpoint.add("schedule", schedule);
///   checkpoint.add("dropout", default_generator());
///   checkpoint.expect("--lr", "0.003");  // must be the same when the training is resumed
///   checkpoint.load();                   // resumes from the newest, if there is one
///   for (int64_t step = checkpoint.step(); step < steps; ++step) {
///     ...
///     if ((step + 1) % 100 == 0) checkpoint.save(step + 1);
///   }
///
/// It refers to its parts, which must outlive it. 50 steps, a load in another process and 50 more steps give
/// the same bits as 100 steps, if everything that changes is added.
///
/// A folder belongs to one training at a time: it is locked while that runs. Only checkpoints are ever
/// replaced or deleted, and only by the training that wrote them or resumed from them.
class Checkpoint {
 public:
  /// A training in this folder, which the first save creates. `keep` checkpoints are kept in addition to the
  /// best. Throws if keep is below 1.
  explicit Checkpoint(std::string folder, int64_t keep = 3);

  /// Adds a model (parameters and buffers), an optimizer, batches: anything that has a state dict, and either
  /// prepare_load or a copy constructor. Throws if the name contains a "." or is already used.
  template <class Part>
    requires requires(Part& part) { part.load_state_dict(part.state_dict()); }
  void add(const std::string& name, Part& part) {
    add({name, [&part] { return part.state_dict(); },
         [&part](const StateDict& state) {
           if constexpr (requires { part.prepare_load(state); }) {
             return part.prepare_load(state);
           } else {
             Part loaded = part;
             loaded.load_state_dict(state);
             return PreparedLoad([&part, loaded = std::move(loaded)]() mutable { part = std::move(loaded); });
           }
         }});
    if constexpr (std::is_base_of_v<Optimizer, Part>) expect(name, part.name());
  }
  /// Adds the epoch of a schedule.
  void add(const std::string& name, Schedule& schedule);
  /// Adds seed, stream and position.
  void add(const std::string& name, Generator& generator);
  void add(const std::string& name, int64_t& number);
  void add(const std::string& name, double& number);
  void add(const std::string& name, std::vector<double>& numbers);
  /// Adds a condition for loading: the value must be the same as when the file was written. For options and
  /// the size of the data.
  void expect(const std::string& name, const std::string& value);

  /// Locks the folder for this training, as the first save() does; creates it if needed. Checkpoints that
  /// this training did not load move to `folder`.before, those there to `folder`.before-2, and so on: nothing
  /// is deleted. Returns the path of `folder`.before, or "" if nothing moved. Throws if another training, in
  /// this process or another, uses the folder.
  std::string claim();
  /// Writes `folder`/step-00000100.safetensors after 100 steps and returns the path. Deletes the oldest
  /// checkpoints beyond `keep`, by the order of writing. Throws if a file or folder cannot be written, or the
  /// file exists and is not a checkpoint.
  std::string save(int64_t step);
  /// Writes `folder`/best.safetensors if this loss is lower than all before. Returns whether it was.
  bool save_best(int64_t step, double loss);
  /// Resumes from the checkpoint that was written last; returns false if there is none. Locks the folder.
  /// Throws if the file is damaged or does not fit this training; a table then shows the differences, and
  /// nothing has changed.
  bool load();
  /// Resumes from this file, without a lock: to evaluate a model while its training runs.
  void load(const std::string& path);

  /// The paths of all checkpoints in the folder in the order of writing, without the best.
  std::vector<std::string> files() const;
  /// The number of steps at the last save or load; 0 before.
  int64_t step() const { return step_; }
  /// The lowest loss passed to save_best(), also before the training was resumed; infinity before.
  double lowest() const { return lowest_; }

 private:
  struct Part {
    std::string name;
    std::function<StateDict()> state;
    std::function<PreparedLoad(const StateDict&)> prepare_load;
  };
  void add(Part part);
  template <class T>
  void add_numbers(const std::string& name, auto get, auto set, bool any_count = false);
  void write(const std::string& path, int64_t step, double lowest, int64_t branch);
  void load(const std::string& path, const char* hint);
  std::vector<StateDict> matched(const std::string& path, const Safetensors& file) const;

  std::string folder_;
  int64_t keep_;
  std::vector<Part> parts_;
  Metadata expected_;
  int64_t step_ = 0;
  double lowest_ = INFINITY;
  std::shared_ptr<const int> lock_;
  bool owner_ = false;  // the checkpoints in the folder are of this training
};

}  // namespace heed
