#include "examples/shared/program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

#include "autograd/ops/shape.h"
#include "examples/shared/plot_style.h"
#include "examples/shared/unknown_argument.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/utf8.h"
#include "tensor/version.h"

namespace program {

namespace fs = std::filesystem;

struct Program::Options {
  CLI::App app;
  nlohmann::ordered_json results = nlohmann::ordered_json::object();
};

namespace {

// Adds a check that an option's text can be read as a T, as CLI11 will read it.
template <class T>
void expect_number(CLI::Option* option, const std::string& kind) {
  option->check(CLI::Validator(
      [option, kind](const std::string& text) {
        T number = 0;
        heed::check(CLI::detail::lexical_cast(text, number), option->get_name(), " is ",
                    heed::printable(text), "; it must be ", kind);
        return std::string();
      },
      ""));
}

}  // namespace

Program::Program(std::string name, const std::string& description)
    : name_(std::move(name)), options_(std::make_unique<Options>()) {
  CLI::App& app = options_->app;
  app.name(name_);
  app.description(description);
  app.add_flag("--version", version_, "Print the version, the flavour of OpenBLAS, the number of threads");
  const auto whole = [](const std::string& text) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool right = error == std::errc() && end == text.data() + text.size();
    return std::string(right ? "" : "a seed is a whole number from 0 to 2^64 - 1, not " + text);
  };
  app.add_option("--seed", seed, "Seed of all random numbers")
      ->capture_default_str()
      ->check(CLI::Validator(whole, ""));
  values_["--seed"] = [this] { return std::to_string(seed); };
  CLI::Option* threads =
      app.add_option("--threads", threads_,
                     "Threads to compute with (default: what the program says, else one for each core)");
  expect_number<int64_t>(threads, "a whole number from 1 to 1024");
  const auto in_range = [](const std::string& number) {
    check_range("--threads", std::stoll(number), 1, 1024);
    return std::string();
  };
  threads->check(CLI::Validator(in_range, "INT in [1 - 1024]"));
  option("--out", out, "Folder for pictures and tables, made if it is not there", "a folder");
  option("--json", json_, "File for the results as JSON; - is standard output, and then nothing else");
}

Program::~Program() = default;

void Program::option(const std::string& name, std::string& value, const std::string& help,
                     const std::string& what) {
  const auto not_empty = [name, what](const std::string& text) {
    heed::check(!text.empty() || what.empty(), name, " is empty; give ", what);
    return std::string();
  };
  options_->app.add_option(name, value, help)->check(CLI::Validator(not_empty, ""));
  texts_.emplace_back(name, &value);
  values_[name] = [&value] { return value; };
}
void Program::option(const std::string& name, int64_t& value, const std::string& help) {
  expect_number<int64_t>(options_->app.add_option(name, value, help)->capture_default_str(),
                         "a whole number");
  values_[name] = [&value] { return std::to_string(value); };
}
void Program::option(const std::string& name, double& value, const std::string& help) {
  expect_number<double>(options_->app.add_option(name, value, help)->capture_default_str(), "a number");
  values_[name] = [&value] { return heed::to_string(value); };
}
void Program::option(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  options_->app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  lists_.emplace_back(name, &values);
}
void Program::choice(const std::string& name, std::string& value, const std::vector<std::string>& names,
                     const std::string& help) {
  const auto is_known = [name, names](const std::string& text) {
    heed::check(std::ranges::find(names, text) != names.end(), name, " is ", heed::printable(text),
                "; it must be one of ", heed::detail::listed(names));
    return std::string();
  };
  options_->app.add_option(name, value, help)
      ->capture_default_str()
      ->check(CLI::Validator(is_known, CLI::detail::generate_set(names)));
  values_[name] = [&value] { return value; };
}
void Program::flag(const std::string& name, bool& value, const std::string& help) {
  options_->app.add_flag(name, value, help);
}

void Program::arguments(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  options_->app.add_option(name, values, help);
  lists_.emplace_back(name, &values);
}

bool Program::given(const std::string& name) const { return options_->app.count(name) > 0; }
void Program::refuse(const std::vector<std::string>& names, const std::string& why) const {
  for (const std::string& name : names) heed::check(!given(name), name, " ", why);
}
void Program::only(const std::string& asked, const std::vector<std::string>& users,
                   const std::vector<std::string>& names) const {
  if (std::ranges::find(users, asked) == users.end())
    refuse(names, "is for " + heed::detail::listed(users) + "; not for " + asked);
}

void check_place(const std::string& path, bool folder) {
  fs::path there = fs::absolute(path);
  if (!folder && fs::exists(there)) {
    heed::check(!fs::is_directory(there) && access(there.c_str(), W_OK) == 0, path,
                ": cannot be written; is it a file, and may you write it?");
    return;
  }
  if (!folder) there = there.parent_path();
  while (folder && !fs::exists(there) && there.has_relative_path()) there = there.parent_path();
  heed::check(fs::is_directory(there) && access(there.c_str(), W_OK) == 0, path, ": cannot be written; ",
              there.string(), fs::is_directory(there) ? " is not yours to write to" : " is no folder");
}

void Program::spare_inputs(const std::string& path) const {
  std::error_code none;  // there is no such file: nothing to spare
  const auto spare = [&](const std::string& name, const std::string& input) {
    heed::check(!fs::equivalent(path, input, none), path, ": is the file of ", name,
                " and would be overwritten; choose another");
  };
  for (const auto& [name, value] : texts_)
    if (value != &json_ && value != &out) spare(name, *value);
  for (const auto& [name, values] : lists_)
    for (const std::string& value : *values) spare(name, value);
}

std::optional<int> Program::parse(int argc, char** argv) {
  std::string wrong;
  try {
    options_->app.parse(argc, argv);
    return {};
  } catch (const CLI::Success& help) {
    options_->app.exit(help);
    if (std::cout.flush()) return 0;
    wrong = "standard output cannot be written";
  } catch (const CLI::ExtrasError&) {
    std::vector<std::string> names;
    for (const CLI::Option* option : std::as_const(options_->app).get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    wrong = unknown_argument(options_->app.remaining(), names);
  } catch (const CLI::ArgumentMismatch& error) {  // "--csv: 1 required TEXT missing"
    const std::string text = error.what();
    wrong = text.substr(0, text.find(':')) +
            (text.ends_with(" missing") ? " needs a value" : " is given more than once");
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  std::cerr << name_ << ": " << wrong << "\n";
  return 2;
}

int Program::run(int argc, char** argv, const std::function<void()>& body) {
  if (const std::optional<int> code = parse(argc, argv)) return *code;
  try {
    if (threads_ == 0 && !std::getenv("OMP_NUM_THREADS")) threads_ = default_threads;
    if (threads_ > 0) heed::set_num_threads(static_cast<int>(threads_));
    if (version_) {
      std::cout << name_ << ", " << heed::version_text() << "\n";
    } else {
      for (const auto& check : checks_) check();
      if (draws() && !reads_) check_place(out, true);
      if (!json_.empty() && json_ != "-") {
        check_place(json_, false);
        spare_inputs(json_);
      }
      body();
      finish();
    }
    heed::check(bool(std::cout.flush()), "standard output cannot be written");
    return failed_ ? 2 : 0;
  } catch (const Finished&) {
    return 0;
  } catch (const Stopped& stopped) {
    if (silent_) return stopped.signal == 0 ? 0 : 128 + stopped.signal;
    std::cerr << name_ << ": stopped after step " << stopped.step
              << (stopped.signal == 0 ? "" : std::string(" by SIG") + sigabbrev_np(stopped.signal))
              << (stopped.checkpoint.empty()
                      ? "; nothing is saved without --out"
                      : "; " + stopped.checkpoint + " contains its complete state, and --resume continues")
              << "\n";
    return stopped.signal == 0 ? 0 : 128 + stopped.signal;
  } catch (const std::bad_alloc&) {
    std::cerr << name_ << ": there is not enough memory for this\n";
  } catch (const std::exception& error) {
    std::cerr << name_ << ": " << error.what() << "\n";
  }
  return 2;
}

void Program::finish() {
  const std::string json = options_->results.dump(2) + "\n";
  if (json_ == "-")
    std::cout << json;
  else if (!json_.empty())
    write_file(json_, json);
  if (!pictures_.empty()) text() << "\n";
  if (pictures_.empty() && given("--out") && !gnuplot_missing_ && pictures_expected_ && !reads_)
    text() << "\nThere are no pictures of this.\n";
  for (const std::string& picture : pictures_) text() << picture << "\n";
}

std::ostream& Program::text() {
  static std::ostream nowhere(nullptr);
  return silent_ ? nowhere : json_ == "-" ? std::cerr : std::cout;
}

int Program::text_descriptor() const { return json_ == "-" ? STDERR_FILENO : STDOUT_FILENO; }

bool Program::terminal() const { return isatty(text_descriptor()) != 0; }

bool Program::colour() const { return heed::accepts_control_sequences(text_descriptor()); }

namespace {

template <class Value>
void put(nlohmann::ordered_json& results, const std::string& name, const Value& value) {
  std::string pointer = "/" + name;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  results[nlohmann::ordered_json::json_pointer(pointer)] = value;
}

nlohmann::ordered_json nested(const heed::Tensor& x) {
  if (x.dim() == 0 && x.dtype() == heed::int64) return x.item<int64_t>();
  if (x.dim() == 0) return x.item();
  auto list = nlohmann::ordered_json::array();
  for (int64_t i = 0; i < x.size(0); ++i) list.push_back(nested(heed::select(x, 0, i)));
  return list;
}

}  // namespace

void Program::result(const std::string& name, double value) { put(options_->results, below + name, value); }
void Program::result(const std::string& name, int64_t value) { put(options_->results, below + name, value); }
void Program::result(const std::string& name, const std::string& value) {
  put(options_->results, below + name, value);
}

void Program::result(const std::string& name, const std::vector<std::string>& values) {
  put(options_->results, below + name, values);
}
void Program::result(const std::string& name, const heed::Tensor& values) {
  put(options_->results, below + name, nested(values.detach()));
}

void Program::make_folder() const {
  std::error_code error;
  fs::create_directories(out, error);
  heed::check(fs::is_directory(out), out, ": cannot be made: ", error.message());
}

void Program::write(const std::string& file, const std::string& contents) {
  if (silent_) return;
  make_folder();
  spare_inputs((fs::path(out) / file).string());
  write_file((fs::path(out) / file).string(), contents);
}

void Program::remove(const std::string& file) {
  std::error_code ignored;
  fs::remove(fs::path(out) / file, ignored);
}

void Program::write_picture(const std::string& file, const std::string& contents) {
  write(file, contents);
  pictures_.push_back((fs::path(out) / file).string());
}

bool run_tool(const std::string& folder, std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const fs::path said = fs::path(folder) / (command[0] + ".stderr");  // shown only if the tool fails
  const pid_t child = fork();
  heed::check(child >= 0, command[0], ": no new process can be started");
  if (child == 0) {
    const int errors = open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (errors < 0 || dup2(errors, STDERR_FILENO) < 0 || chdir(folder.c_str()) != 0) _exit(1);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::ifstream stream(said);
  const std::string errors(std::istreambuf_iterator<char>(stream), {});
  fs::remove(said);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return false;
  heed::check(WIFEXITED(status) && WEXITSTATUS(status) == 0, command[0], " failed on ", folder, "/",
              command.back(), ": ", heed::trim(errors));
  return true;
}

namespace {

// While it exists, SIGINT and SIGTERM wait; the destructor delivers the last of them. An ignored signal stays
// ignored, also for the tools that run meanwhile.
class DelayedSignals {
 public:
  DelayedSignals() {
    received = 0;
    struct sigaction note {};
    note.sa_handler = [](int signal) { received = signal; };
    note.sa_flags = SA_RESTART;
    for (const auto& [signal, earlier] : {std::pair(SIGINT, &interrupt_), std::pair(SIGTERM, &terminate_)}) {
      sigaction(signal, nullptr, earlier);
      if (earlier->sa_handler != SIG_IGN) sigaction(signal, &note, nullptr);
    }
  }
  ~DelayedSignals() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
    if (received != 0) std::raise(received);
  }
  DelayedSignals(const DelayedSignals&) = delete;
  DelayedSignals& operator=(const DelayedSignals&) = delete;

 private:
  static inline volatile std::sig_atomic_t received = 0;
  struct sigaction interrupt_ {
  }, terminate_{};
};

}  // namespace

void Program::plot(const std::string& file, const std::string& commands) {
  const std::string picture = file + ".svg", part = picture + ".part";
  write(file + ".gp", gnuplot_program(file, commands));
  remove(picture);
  if (gnuplot_missing_) return;
  const DelayedSignals delayed;
  const auto remove_temporaries = [&](Program* self) { self->remove(part), self->remove(file + ".tmp.gp"); };
  const std::unique_ptr<Program, decltype(remove_temporaries)> cleanup(this, remove_temporaries);
  write(file + ".tmp.gp", "target = '" + part + "'\nload '" + file + ".gp'\n");
  const bool drawn = run_tool(out, {"gnuplot", file + ".tmp.gp"});
  // gnuplot says nothing when the disk is full.
  std::ifstream stream(fs::path(out) / part);
  const bool whole = std::string(std::istreambuf_iterator<char>(stream), {}).ends_with("</svg>\n\n");
  heed::check(!drawn || whole, out, "/", picture, ": cannot be written whole; is the disk full?");
  gnuplot_missing_ = !drawn;
  if (!drawn) {
    text() << "\ngnuplot is not installed, so there are no pictures; the data and the commands to draw them "
              "are in "
           << out << " (apt-get install gnuplot-nox, then gnuplot *.gp there)\n";
    return;
  }
  add_picture(part, picture);
}

void Program::add_picture(const std::string& drawn, const std::string& picture) {
  const fs::path folder(out);
  fs::rename(folder / drawn, folder / picture);
  std::erase(pictures_, (folder / picture).string());  // of one that was drawn before
  pictures_.push_back((folder / picture).string());
}

}  // namespace program
