#pragma once

#include <cmath>

#include "nn/files/safetensors.h"
#include "nn/optim/schedule.h"
#include "tensor/random.h"

/// A training in a file, to go on from it as if it had never stopped.
namespace heed {

/// All that a training needs to go on: whatever is added to it, each part under a name of its own. One
/// .safetensors file a checkpoint, whole or not there at all, in a folder that keeps the last few and the
/// best.
///
///   Checkpoint checkpoint("out/checkpoints");
///   checkpoint.add("model", model);
///   checkpoint.add("optimizer", optimizer);
///   checkpoint.add("schedule", schedule);
///   checkpoint.add("dropout", default_generator());
///   checkpoint.expect("--lr", "0.003");  // what must be as it was
///   checkpoint.load();                   // the newest, if there is one
///   for (int64_t step = checkpoint.step(); step < steps; ++step) {
///     ...
///     if ((step + 1) % 100 == 0) checkpoint.save(step + 1);
///   }
///
/// It refers to its parts, which must outlive it. 50 steps, a load in another process and 50 steps more are
/// 100 steps, bit for bit, if everything that changes is added.
class Checkpoint {
 public:
  /// In this folder, made at the first save; `keep` is how many are kept beside the best, at least 1.
  explicit Checkpoint(std::string folder, int64_t keep = 3);

  /// A model (parameters and buffers), an optimiser, batches: whatever has a state dict, and is copied or has
  /// a prepare_load.
  template <class Part>
    requires requires(Part& part) { part.load_state_dict(part.state_dict()); }
  void add(const std::string& name, Part& part) {
    add({name, [&part] { return part.state_dict(); },
         [&part](const StateDict& state) {
           if constexpr (requires { part.prepare_load(state); }) {
             return part.prepare_load(state);
           } else {
             Part there = part;
             there.load_state_dict(state);
             return PreparedLoad([&part, there = std::move(there)]() mutable { part = std::move(there); });
           }
         }});
    if constexpr (std::is_base_of_v<Optimizer, Part>) expect(name, part.name());
  }
  /// The epoch of a schedule.
  void add(const std::string& name, Schedule& schedule);
  /// Seed, stream and position.
  void add(const std::string& name, Generator& generator);
  /// A number of the caller's own.
  void add(const std::string& name, int64_t& number);
  /// Another.
  void add(const std::string& name, double& number);
  /// Several.
  void add(const std::string& name, std::vector<double>& numbers);
  /// Something that must be as it was when the file was written, such as an option or the length of the data.
  void expect(const std::string& name, const std::string& value);

  /// Writes `folder`/step-00000100.safetensors after that many steps and returns the path. What was written
  /// longest ago goes, once there are more than are kept. Where another training left its checkpoints in the
  /// folder, and this one did not load any, they go to `folder`.before first. Errors: a file or folder cannot
  /// be written.
  std::string save(int64_t step);
  /// Writes `folder`/best.safetensors if this loss is lower than all before, and returns whether it is.
  bool save_best(int64_t step, double loss);
  /// Goes on from the newest; false where there is none. Errors: the file is damaged, or does not fit: then a
  /// table says what differs, and nothing has changed.
  bool load();
  /// Goes on from this file.
  void load(const std::string& path);

  /// The checkpoints of the folder, oldest first, without the best.
  std::vector<std::string> files() const;
  /// How many steps there were at the last save or load; 0 at first.
  int64_t step() const { return step_; }
  /// The lowest loss that save_best() was given, before the training was resumed or after; infinity at first.
  double lowest() const { return lowest_; }

 private:
  struct Part {
    std::string name;
    std::function<StateDict()> state;
    std::function<PreparedLoad(const StateDict&)> load;
  };
  void add(Part part);
  void write(const std::string& file, int64_t step, double lowest);

  std::string folder_;
  int64_t keep_;
  std::vector<Part> parts_;
  Metadata expected_;
  int64_t step_ = 0;
  double lowest_ = INFINITY;
  bool ours_ = false;  // what is in the folder belongs to this training
};

}  // namespace heed
