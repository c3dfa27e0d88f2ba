#include "nn/files/checkpoint.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

#include <cstring>
#include <filesystem>

#include "nn/files/file.h"
#include "tensor/table.h"

// The file: tensors called "part" or "part.name". The metadata contains the expected values under their
// names, and under names that begin with "heed." the format, the checksum and the branch.
//
// Note [Branch]: (branch, step) orders checkpoints by the time of writing. A training that never goes back
// writes growing steps in branch 0. When it resumes from an older checkpoint, its next step is not beyond the
// newest one, and a new branch begins. The order needs no clock, so the same state is saved as the same
// bytes.
namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char *kFormat = "heed.format", *kChecksum = "heed.checksum", *kBranch = "heed.branch";
// Files of version 1 are loaded without a check, since their checksum covered the values only.
constexpr const char *kVersion1 = "checkpoint 1", *kVersion2 = "checkpoint 2";
constexpr std::string_view kStep = "step-", kBest = "best.safetensors";
constexpr int64_t kNone = -1, kUnreadable = INT64_MAX;

// The file name after a number of steps, and the number in such a name: kNone for other names.
std::string name_of(int64_t step) { return detail::formatted("step-%08jd.safetensors", intmax_t{step}); }
int64_t step_of(const std::string& name) {
  const int64_t step = name.starts_with(kStep) ? std::strtoll(&name[kStep.size()], nullptr, 10) : kNone;
  return step >= 0 && name == name_of(step) ? step : kNone;
}

// The branch of a checkpoint, and kNone for other files. A file that cannot be read counts as the newest, so
// that load() reports it.
int64_t branch_of(const std::string& path) try {
  const Metadata metadata = load_metadata(path);
  const auto branch = metadata.find(kBranch);
  if (branch != metadata.end()) return std::strtoll(branch->second.c_str(), nullptr, 10);
  return metadata.contains(kFormat) ? 0 : kNone;
} catch (const Error&) {
  return kUnreadable;
}

// A file with the name of a checkpoint.
struct Found {
  int64_t branch, step;  // kNone for the best
  std::string path;
  auto operator<=>(const Found&) const = default;
};

// All such files in a folder, in the order of writing.
std::vector<Found> files_in(const std::string& folder) {
  // The iterators of std::filesystem terminate the program when memory runs out.
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  std::vector<Found> all;
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
    const std::string name = entry->d_name, path = detail::text(folder, "/", name);
    const int64_t step = step_of(name);
    if (step != kNone || name == kBest) all.push_back({step == kNone ? kNone : branch_of(path), step, path});
  }
  std::ranges::sort(all);
  return all;
}

// Moves these files from a folder to `base`.before, those there to `base`.before-2, and so on. Returns the
// path of `base`.before, or "" if there were none.
std::string move_aside(const std::string& from, const std::string& base, int64_t count = 1) {
  const std::vector<Found> files = files_in(from);
  if (files.empty()) return "";
  std::string to = base + ".before" + (count > 1 ? "-" + std::to_string(count) : "");
  move_aside(to, base, count + 1);
  std::error_code wrong;
  fs::create_directory(to, wrong);
  for (const Found& file : files)
    if (!wrong) fs::rename(file.path, to / fs::path(file.path).filename(), wrong);
  check(!wrong, "Checkpoint: ", from, ": checkpoints cannot be moved to ", to, ": ", wrong.message());
  return to;
}

// Locks a folder until the last copy of the result is destroyed or the process exits. Has no effect on file
// systems without locks.
std::shared_ptr<const int> lock(const std::string& folder) {
  std::shared_ptr<const int> fd = open_shared(folder, O_RDONLY | O_DIRECTORY);
  check(*fd < 0 || flock(*fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK, "Checkpoint: ", folder,
        ": another training is using this folder; give each training its own");
  return fd;
}

// Depends on every bit of the names, dtypes, shapes, values and texts. This is FNV-1a over numbers instead of
// bytes, with a shift after each multiplication, which alone would never carry high bits down.
std::string checksum(const StateDict& tensors, const Metadata& metadata) {
  uint64_t sum = 14695981039346656037U;
  const auto add = [&](auto value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    sum = (sum ^ bits) * 1099511628211U;
    sum ^= sum >> 32;
  };
  for (const auto& [name, x] : tensors) {
    std::ranges::for_each(detail::text(name, "\n", x.dtype(), x.shape()), add);
    x.for_each(add);
  }
  for (const auto& [name, text] : metadata)
    if (name != kChecksum) std::ranges::for_each(detail::text(name, "\n", text, "\n"), add);
  return std::to_string(sum);
}

// Throws unless the file is a checkpoint and undamaged.
Safetensors read_checkpoint(const std::string& path) {
  Safetensors file = load_safetensors(path);
  const std::string format = file.metadata[kFormat], sum = file.metadata[kChecksum];  // "" if missing
  check(format == kVersion1 || format == kVersion2, "Checkpoint: ", path,
        ": is not a checkpoint; weights alone are for load_safetensors and load_state_dict");
  check(format == kVersion1 || sum == checksum(file.tensors, file.metadata), "Checkpoint: ", path,
        ": is damaged: its contents are not those that were written");
  return file;
}

}  // namespace

Checkpoint::Checkpoint(std::string folder, int64_t keep) : folder_(std::move(folder)), keep_(keep) {
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  check(keep >= 1, "Checkpoint: keep is ", keep, "; at least one must be kept");
  add("step", step_);
  add("lowest", lowest_);
}

void Checkpoint::add(Part part) {
  check(part.name.find('.') == std::string::npos && !part.name.empty(), "Checkpoint: a part is called \"",
        part.name, "\"; give it a name without a point");
  check(std::ranges::count(parts_, part.name, &Part::name) == 0, "Checkpoint: two parts are called ",
        part.name, "; give each its own name");
  parts_.push_back(std::move(part));
}

// Adds a part that is one tensor of numbers, of the size that get() returns or of any size.
void Checkpoint::add(const std::string& name, const std::function<Tensor()>& get,
                     const std::function<PreparedLoad(const Tensor&)>& prepare_set, bool any_size) {
  const auto prepare_load = [=](const StateDict& given) {
    check(given.contains(""), "one tensor is needed, and there are ", given.size(),
          " with names of their own");
    const Tensor now = get(), &x = given.at("");
    check(x.dtype() == now.dtype() && x.dim() == 1 && (any_size || x.numel() == now.numel()), now.dtype(),
          any_size ? " [...]" : " " + to_string(now.shape()), " is needed, and it is ", x.dtype(), " ",
          x.shape());
    return prepare_set(x);
  };
  add({name, [get] { return StateDict{{"", get()}}; }, prepare_load});
}

void Checkpoint::add(const std::string& name, std::vector<double>& numbers) {
  const auto get = [&] { return from_vector(numbers, {std::ssize(numbers)}); };
  const auto prepare_set = [&](const Tensor& x) {
    return PreparedLoad([&, loaded = x.to_vector<double>()]() mutable { numbers.swap(loaded); });
  };
  add(name, get, prepare_set, true);
}

void Checkpoint::add(const std::string& name, Generator& generator) {
  const auto get = [&] {
    const uint64_t state[] = {generator.seed(), generator.stream(), generator.position()};
    return from_vector(std::vector<int64_t>(std::begin(state), std::end(state)), {3});
  };
  add(name, get, [&](const Tensor& x) {
    const auto* state = reinterpret_cast<const uint64_t*>(x.data<int64_t>());
    Generator next(state[0], state[1]);
    next.set_position(state[2]);
    return PreparedLoad([&, next] { generator = next; });
  });
}

// Loaded before the other parts: setting the epoch sets the learning rates, which the optimizer then loads.
void Checkpoint::add(const std::string& name, Schedule& schedule) {
  const auto get = [&] { return from_vector<int64_t>({schedule.epoch()}, {1}); };
  add(name, get, [&](const Tensor& x) { return schedule.prepare_epoch(x.item<int64_t>()); });
  std::rotate(parts_.begin(), parts_.end() - 1, parts_.end());
}

std::vector<std::string> Checkpoint::files() const {
  std::vector<Found> found = files_in(folder_);
  std::erase_if(found, [](const Found& file) { return file.branch == kNone; });
  return detail::mapped(found, &Found::path);
}

std::string Checkpoint::claim() {
  std::error_code wrong, none;
  fs::create_directories(folder_, wrong);
  check(fs::is_directory(folder_, none), "Checkpoint: ", folder_, ": cannot be created: ", wrong.message());
  if (!lock_) lock_ = lock(folder_);
  if (owner_) return "";
  std::string moved = move_aside(folder_, fs::canonical(folder_, none));
  owner_ = true;
  return moved;
}

void Checkpoint::write(const std::string& path, int64_t step, double lowest, int64_t branch) {
  std::error_code none;
  const int64_t replaced = fs::exists(path, none) ? branch_of(path) : 0;
  check(replaced != kNone && replaced != kUnreadable, "Checkpoint: ", path,
        ": exists and is not a checkpoint; move it to another folder");
  StateDict all;
  for (const Part& part : parts_)
    for (auto& [name, x] : part.state()) all[name.empty() ? part.name : part.name + "." + name] = x;
  all["step"] = from_vector<int64_t>({step}, {1});
  all["lowest"] = from_vector<double>({lowest}, {1});
  Metadata metadata = expected_;
  metadata[kFormat] = kVersion2;
  if (branch > 0) metadata[kBranch] = std::to_string(branch);
  metadata[kChecksum] = checksum(all, metadata);
  save_safetensors(path, all, metadata);
  step_ = step;
  lowest_ = lowest;
}

std::string Checkpoint::save(int64_t step) {
  check(step >= 0, "Checkpoint: step ", step, "; it must not be negative");
  claim();
  std::vector<Found> old = files_in(folder_);
  std::erase_if(old, [](const Found& file) { return file.branch == kNone || file.branch == kUnreadable; });
  const int64_t branch = old.empty() ? 0 : old.back().branch + (step < old.back().step ? 1 : 0);
  std::string path = folder_ + "/" + name_of(step);
  write(path, step, lowest_, branch);
  std::erase_if(old, [&](const Found& file) { return file.path == path; });
  for (size_t i = 0; i + static_cast<size_t>(keep_) <= old.size(); ++i) std::remove(old[i].path.c_str());
  return path;
}

bool Checkpoint::save_best(int64_t step, double loss) {
  if (!(loss < lowest_)) return false;
  claim();
  write(detail::text(folder_, "/", kBest), step, loss, 0);
  return true;
}

bool Checkpoint::load() {
  const std::vector<std::string> found = files();
  if (found.empty()) return false;
  if (!lock_) lock_ = lock(folder_);
  Safetensors file;
  try {
    file = read_checkpoint(found.back());
  } catch (const Error& error) {
    fail(error.what(), found.size() > 1 ? "; without it, the one before is the newest" : "");
  }
  load(found.back(), file);
  return true;
}

void Checkpoint::load(const std::string& path) { load(path, read_checkpoint(path)); }

void Checkpoint::load(const std::string& path, const Safetensors& file) {
  const std::vector<StateDict> states = states_in(path, file);
  std::vector<PreparedLoad> loads;
  for (size_t i = 0; i < parts_.size(); ++i) try {
      loads.push_back(parts_[i].prepare_load(states[i]));
    } catch (const Error& error) {
      fail("Checkpoint: ", path, ": ", parts_[i].name, ": ", error.what());
    }
  for (PreparedLoad& load : loads) load.commit();  // does not throw: all parts are loaded, or none
  std::error_code none;
  owner_ = owner_ || fs::equivalent(fs::absolute(path).parent_path(), folder_, none);
}

// Returns the state of each part. Throws a table of the differences between the file and this training.
std::vector<StateDict> Checkpoint::states_in(const std::string& path, const Safetensors& file) const {
  struct Row {
    std::optional<std::string> in_file, now;
  };
  constexpr const char* kPart = "a part";
  std::map<std::pair<bool, std::string>, Row> rows;  // whether it is a part, and its name
  for (const auto& [name, value] : file.metadata)
    if (!name.starts_with("heed.")) rows[{false, name}].in_file = value;
  for (const auto& [name, value] : expected_) rows[{false, name}].now = value;
  std::map<std::string, StateDict> states;
  for (const auto& [name, x] : file.tensors) {
    const size_t point = name.find('.');
    states[name.substr(0, point)][point == std::string::npos ? "" : name.substr(point + 1)] = x;
    rows[{true, name.substr(0, point)}].in_file = kPart;
  }
  std::vector<StateDict> result;
  for (const Part& part : parts_) {
    if (states.contains(part.name) || !part.state().empty()) rows[{true, part.name}].now = kPart;
    result.push_back(states[part.name]);
  }
  Table misfits({"", "in the file", "now"});
  for (const auto& entry : rows)
    if (const Row& row = entry.second; row.in_file != row.now)
      misfits.add({entry.first.second, row.in_file.value_or("-"), row.now.value_or("-")});
  check(misfits.rows() == 0, "Checkpoint: ", path, ": does not fit this training; nothing was changed",
        misfits);
  return result;
}

}  // namespace heed
