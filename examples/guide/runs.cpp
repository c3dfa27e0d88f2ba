#include "examples/guide/runs.h"

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "examples/shared/program.h"
#include "nn/files/text_file.h"
#include "tensor/error.h"

namespace program {

using heed::check;
namespace fs = std::filesystem;

namespace {

constexpr const char *kPrinted = "printed.txt", *kErrors = "errors.txt", *kResults = "results.json",
                     *kSeconds = "seconds.txt";  // written last: the run is complete

// The words of a command with _ between them. Bytes that are no ASCII are hexadecimal.
std::string run_name(const std::string& command) {
  std::string name;
  for (const unsigned char c : command)
    if (std::isalnum(c) || c == '.')
      name += static_cast<char>(c);
    else if (c >= 0x80)
      name += heed::detail::formatted("%02x", static_cast<unsigned>(c));
    else if (!name.ends_with('_'))
      name += '_';
  return name;
}

std::string shell_quoted(const fs::path& path) {
  std::string text = "'";
  for (const char c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

Runs::Runs(Folders folders, const std::set<std::string>& commands, bool reuse)
    : folders_(std::move(folders)) {
  folders_.out = fs::absolute(folders_.out);
  std::vector<std::string> all(commands.begin(), commands.end());
  if (reuse) std::erase_if(all, [&](const std::string& command) { return is_up_to_date(command); });
  std::vector<std::string> failures(all.size());
  // Some take a hundred times as long as others.
  Progress progress("running the programs", std::ssize(all), Progress::Remaining::counted);
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;  // no further program begins; Ctrl-C, too, makes those that run fail
  std::mutex mutex;
  const auto work = [&] {
    for (size_t i; !failed && (i = next++) < all.size();) {
      failures[i] = run(all[i]);
      if (!failures[i].empty()) failed = true;
      const std::lock_guard lock(mutex);
      progress.step();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < all.size(); ++i) check(failures[i].empty(), all[i], ": ", failures[i]);
}

fs::path Runs::folder_of(const std::string& command) const {
  return folders_.out / "runs" / run_name(command);
}

bool Runs::is_up_to_date(const std::string& command) const {
  const fs::path done = folder_of(command) / kSeconds,
                 binary = folders_.programs / command.substr(0, command.find(' '));
  return fs::exists(done) && fs::exists(binary) && fs::last_write_time(done) > fs::last_write_time(binary);
}

// Returns what went wrong; "" if nothing did.
std::string Runs::run(const std::string& command) const {
  const fs::path folder = folder_of(command);
  std::error_code failure;
  fs::remove_all(folder, failure);
  fs::create_directories(folder, failure);
  if (failure) return folder.string() + " cannot be made: " + failure.message();
  const std::string line =
      "cd " + shell_quoted(folders_.project) + " && OMP_NUM_THREADS=1 " + shell_quoted(folders_.programs) +
      "/" + command + " --out " + shell_quoted(folder) + " --json " + shell_quoted(folder / kResults) + " >" +
      shell_quoted(folder / kPrinted) + " 2>" + shell_quoted(folder / kErrors) + " </dev/null";
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const int status = std::system(line.c_str());
  const std::chrono::duration<double> seconds = Clock::now() - start;
  try {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return "it fails: " + read_bytes((folder / kErrors).string());
    write_file((folder / kSeconds).string(), std::to_string(seconds.count()) + "\n");
  } catch (const heed::Error& error) {
    return error.what();
  }
  return "";
}

std::string Runs::printed(const std::string& command) const {
  return read_bytes((folder_of(command) / kPrinted).string());
}

double Runs::seconds(const std::string& command) const {
  return std::stod(read_bytes((folder_of(command) / kSeconds).string()));
}

std::string Runs::number(const std::string& command, const std::string& path) const {
  const auto results = nlohmann::json::parse(read_bytes((folder_of(command) / kResults).string()));
  std::string pointer = "/" + path;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  const nlohmann::json::json_pointer place(pointer);
  check(results.contains(place) && (results[place].is_number() || results[place].is_string()), command,
        " gives no number ", path);
  const auto& value = results[place];
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? short_number(value.get<double>()) : value.dump();
}

std::string Runs::picture(const std::string& command, const std::string& file) const {
  check(fs::exists(folder_of(command) / file), command, " draws no ", file);
  return "runs/" + run_name(command) + "/" + file;
}

std::string duration_text(double seconds, bool chinese) {
  const std::string takes = chinese ? "用时" : "takes ";
  if (seconds < 0.95) return takes + (chinese ? "不到 1 秒" : "under 1 s");
  const double step = seconds < 10 ? 1 : 5;
  const double whole = step * std::round(seconds / step), minutes = std::round(2 * seconds / 60) / 2;
  if (whole < 60) return heed::detail::text(takes, chinese ? " " : "", whole, chinese ? " 秒" : " s");
  return heed::detail::text(takes, chinese ? " " : "", minutes, chinese ? " 分钟" : " min");
}

}  // namespace program
