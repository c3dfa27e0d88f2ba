#include "nn/files/checkpoint.h"

#include <dirent.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tensor/create.h"
#include "tensor/table.h"

// The file: tensors called "part" or "part.name", and in the metadata what is expected, each under its name.
namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "heed.format";
constexpr const char* kCheckpoint = "checkpoint 1";
constexpr const char* kChecksum = "heed.checksum";
constexpr std::string_view kStep = "step-", kEnding = ".safetensors";

// The step in the name of a checkpoint, -1 for other files.
int64_t step_of(std::string_view name) {
  if (!name.starts_with(kStep) || !name.ends_with(kEnding)) return -1;
  int64_t step = -1;
  const char* end = name.data() + name.size() - kEnding.size();
  const auto [stop, error] = std::from_chars(name.data() + kStep.size(), end, step);
  return error == std::errc() && stop == end ? step : -1;
}

// Of all numbers (FNV-1a, a number at a time): where one differs, so does it.
std::string checksum(const StateDict& all) {
  uint64_t sum = 14695981039346656037U;
  for (const auto& [name, x] : all)
    x.for_each([&](auto v) {
      uint64_t bits = 0;
      std::memcpy(&bits, &v, sizeof v);
      sum = (sum ^ bits) * 1099511628211U;
    });
  return std::to_string(sum);
}

struct Close {
  void operator()(DIR* folder) const { closedir(folder); }
};

std::string file_of(int64_t step) {
  const std::string digits = std::to_string(step);
  return std::string(kStep) + std::string(8 - std::min<size_t>(8, digits.size()), '0') + digits +
         std::string(kEnding);
}

// Numbers under the name "" are the part itself.
template <class T>
StateDict numbers(const std::vector<T>& values) {
  return {{"", from_vector(values, {std::ssize(values)})}};
}

template <class T>
std::vector<T> numbers(const StateDict& state) {
  const Tensor& x = state.at("");
  check(x.dtype() == dtype_of<T> && x.dim() == 1, "a list of ", dtype_of<T>, " is needed, and it is ",
        x.dtype(), " ", x.shape());
  return x.to_vector<T>();
}

template <class T>
T number(const StateDict& state) {
  const std::vector<T> values = numbers<T>(state);
  check(values.size() == 1, "one number is needed, and there are ", values.size());
  return values[0];
}

template <class T>
auto load_number(T& value) {
  return [&value](const StateDict& state) {
    return PreparedLoad([&value, there = number<T>(state)] { value = there; });
  };
}

}  // namespace

Checkpoint::Checkpoint(std::string folder, int64_t keep) : folder_(std::move(folder)), keep_(keep) {
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  check(keep >= 1, "Checkpoint: keep is ", keep, "; at least the last one must stay");
  add("step", step_);
  add("lowest", lowest_);
}

void Checkpoint::add(Part part) {
  check(part.name.find('.') == std::string::npos && !part.name.empty(), "Checkpoint: a part is called \"",
        part.name, "\"; give it a name without a point");
  for (const Part& other : parts_)
    check(part.name != other.name, "Checkpoint: two parts are called ", part.name,
          "; give each its own name");
  parts_.push_back(std::move(part));
}

// Before all others: an epoch sets the rates of its optimiser, which knows them better.
void Checkpoint::add(const std::string& name, Schedule& schedule) {
  const auto load = [&schedule](const StateDict& state) {
    return schedule.prepare_epoch(number<int64_t>(state));
  };
  add({name, [&schedule] { return numbers<int64_t>({schedule.epoch()}); }, load});
  std::rotate(parts_.begin(), parts_.end() - 1, parts_.end());
}

void Checkpoint::add(const std::string& name, Generator& generator) {
  const auto save = [&generator] {
    std::vector<int64_t> state;
    for (const uint64_t part : {generator.seed(), generator.stream(), generator.position()})
      state.push_back(static_cast<int64_t>(part));
    return numbers(state);
  };
  const auto load = [&generator](const StateDict& state) {
    const auto parts = numbers<int64_t>(state);
    check(parts.size() == 3, "three numbers are needed, and there are ", parts.size());
    Generator there(static_cast<uint64_t>(parts[0]), static_cast<uint64_t>(parts[1]));
    there.set_position(static_cast<uint64_t>(parts[2]));
    return PreparedLoad([&generator, there] { generator = there; });
  };
  add({name, save, load});
}

void Checkpoint::add(const std::string& name, int64_t& value) {
  add({name, [&value] { return numbers<int64_t>({value}); }, load_number(value)});
}

void Checkpoint::add(const std::string& name, double& value) {
  add({name, [&value] { return numbers<double>({value}); }, load_number(value)});
}

void Checkpoint::add(const std::string& name, std::vector<double>& values) {
  const auto load = [&values](const StateDict& state) {
    return PreparedLoad([&values, there = numbers<double>(state)]() mutable { values.swap(there); });
  };
  add({name, [&values] { return numbers(values); }, load});
}

void Checkpoint::expect(const std::string& name, const std::string& value) { expected_[name] = value; }

std::vector<std::string> Checkpoint::files() const {
  std::vector<std::pair<int64_t, std::string>> found;
  // Not by std::filesystem, whose iterators end the program when memory ends.
  const std::unique_ptr<DIR, Close> folder(opendir(folder_.c_str()));
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr)
    if (const int64_t step = step_of(entry->d_name); step >= 0)
      found.emplace_back(step, folder_ + "/" + entry->d_name);
  std::ranges::sort(found);
  std::vector<std::string> paths;
  for (auto& [step, path] : found) paths.push_back(std::move(path));
  return paths;
}

void Checkpoint::write(const std::string& file, int64_t step, double lowest) {
  std::error_code wrong;
  if (!ours_ && !files().empty()) {
    const std::string before = folder_ + ".before";
    fs::remove_all(before, wrong);
    fs::rename(folder_, before, wrong);
    check(!wrong, "Checkpoint: ", folder_, ": cannot be moved to ", before, ": ", wrong.message());
  }
  ours_ = true;
  fs::create_directories(folder_, wrong);
  check(fs::is_directory(folder_), "Checkpoint: ", folder_, ": cannot be made: ", wrong.message());
  std::swap(step, step_);
  std::swap(lowest, lowest_);
  try {
    StateDict all;
    for (const Part& part : parts_)
      for (auto& [name, x] : part.state()) all[name.empty() ? part.name : part.name + "." + name] = x;
    Metadata about = expected_;
    about[kFormat] = kCheckpoint;
    about[kChecksum] = checksum(all);
    save_safetensors(folder_ + "/" + file, all, about);
  } catch (...) {
    step_ = step;
    lowest_ = lowest;
    throw;
  }
}

std::string Checkpoint::save(int64_t step) {
  check(step >= 0, "Checkpoint: step ", step, "; it must not be negative");
  const std::string file = file_of(step);
  std::string path = folder_ + "/" + file;
  std::vector<std::string> old = files();
  std::erase(old, path);
  write(file, step, lowest_);
  for (size_t i = 0; i + static_cast<size_t>(keep_) <= old.size(); ++i) std::remove(old[i].c_str());
  return path;
}

bool Checkpoint::save_best(int64_t step, double loss) {
  if (!(loss < lowest_)) return false;
  write("best" + std::string(kEnding), step, loss);
  return true;
}

bool Checkpoint::load() {
  const std::vector<std::string> found = files();
  if (!found.empty()) load(found.back());
  return !found.empty();
}

void Checkpoint::load(const std::string& path) {
  const std::vector<std::string> there = files();
  const bool one_of_several = there.size() > 1 && there.back() == path;
  const char* other = one_of_several ? "; without it, the one before is the newest" : "";
  const auto [tensors, about] = [&] {
    try {
      return load_safetensors(path);
    } catch (const Error& error) {
      fail(error.what(), other);
    }
  }();
  const auto format = about.find(kFormat);
  check(format != about.end() && format->second == kCheckpoint, "Checkpoint: ", path,
        ": is no checkpoint; weights alone are for load_safetensors and load_state_dict");
  const auto sum = about.find(kChecksum);
  check(sum == about.end() || sum->second == checksum(tensors), "Checkpoint: ", path,
        ": is damaged: its numbers are not those that were written", other);

  Table misfits({"", "in the file", "now"});
  for (const auto& [name, now] : expected_) {
    const auto then = about.find(name);
    if (then == about.end() || then->second != now)
      misfits.add({name, then == about.end() ? "-" : then->second, now});
  }
  for (const auto& [name, then] : about)
    if (name != kFormat && name != kChecksum && !expected_.contains(name)) misfits.add({name, then, "-"});

  std::map<std::string, StateDict> states;
  for (const auto& [name, x] : tensors) {
    const size_t point = name.find('.');
    states[name.substr(0, point)][point == std::string::npos ? "" : name.substr(point + 1)] = x;
  }
  std::vector<StateDict> given;
  for (const Part& part : parts_) {
    given.emplace_back();
    if (const auto state = states.extract(part.name))
      given.back() = state.mapped();
    else if (!part.state().empty())
      misfits.add({part.name, "-", "a part"});
  }
  for (const auto& [name, state] : states) misfits.add({name, "a part", "-"});
  check(misfits.rows() == 0, "Checkpoint: ", path, ": does not fit this training; nothing was changed",
        misfits);

  const auto each = [&](const auto& f) {
    for (size_t i = 0; i < parts_.size(); ++i) try {
        f(i);
      } catch (const Error& error) {
        fail("Checkpoint: ", path, ": ", parts_[i].name, ": ", error.what());
      }
  };
  std::vector<PreparedLoad> ready;  // so that all are loaded or none
  each([&](size_t i) { ready.push_back(parts_[i].load(given[i])); });
  for (PreparedLoad& load : ready) load.commit();
  ours_ = true;
}

}  // namespace heed
