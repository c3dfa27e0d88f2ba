#pragma once

#include "nn/files/safetensors.h"
#include "nn/optim/schedule.h"
#include "tensor/create.h"

/// Saving a training, and resuming it as if it had never stopped.
namespace heed {

/// The complete state of a training: all parts that are added to it, each under its own name. Each save
/// writes one .safetensors file atomically. The folder keeps the newest few checkpoints and the best.
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
/// A checkpoint refers to its parts, which must outlive it. 50 steps, a load in another process and 50 more
/// steps give the same bits as 100 steps, if everything that changes is added.
///
/// A folder belongs to one training at a time: the first save() or load() locks it until the checkpoint is
/// destroyed. Only checkpoints are replaced or deleted, and only by the training that wrote them or resumed
/// from them.
class Checkpoint {
 public:
  /// `keep` checkpoints are kept in addition to the best. Throws if keep is below 1. The first save creates
  /// the folder.
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
  /// Adds a number, an int64_t or a double.
  template <class Number>
    requires(std::is_same_v<Number, int64_t> || std::is_same_v<Number, double>)
  void add(const std::string& name, Number& number) {
    const auto get = [&] { return from_vector<Number>({number}, {1}); };
    add(name, get, [&](const Tensor& x) { return PreparedLoad([&, n = x.item<Number>()] { number = n; }); });
  }
  void add(const std::string& name, std::vector<double>& numbers);
  /// Adds a condition for loading: the value must be the same as when the file was written. For options and
  /// the size of the data.
  void expect(const std::string& name, const std::string& value) { expected_[name] = value; }

  /// Creates and locks the folder, as the first save() does. Checkpoints of another training, from which this
  /// one was not resumed, move to `folder`.before, those in there to `folder`.before-2, and so on: nothing is
  /// deleted. Returns the path of `folder`.before, or "" if nothing moved. Throws if another training, in
  /// this process or another, uses the folder.
  std::string claim();
  /// Writes `folder`/step-00000100.safetensors after 100 steps and returns the path. Deletes the checkpoints
  /// that were written first, until `keep` are left. Throws if a file or folder cannot be written, or the
  /// file exists and is not a checkpoint.
  std::string save(int64_t step);
  /// Writes `folder`/best.safetensors if this loss is lower than all before. Returns whether it was.
  bool save_best(int64_t step, double loss);
  /// Locks the folder and resumes from the checkpoint that was written last. Returns false if there is none.
  /// If the file is damaged or does not fit this training, throws and changes nothing; a table in the message
  /// shows the differences.
  bool load();
  /// Resumes from this file, without a lock: to evaluate a model while its training runs.
  void load(const std::string& path);

  /// The paths of all checkpoints in the folder except the best, in the order of writing.
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
  void add(const std::string& name, const std::function<Tensor()>& get,
           const std::function<PreparedLoad(const Tensor&)>& prepare_set, bool any_size = false);
  void write(const std::string& path, int64_t step, double lowest, int64_t branch);
  void load(const std::string& path, const Safetensors& file);
  std::vector<StateDict> states_in(const std::string& path, const Safetensors& file) const;

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
