#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "nn/files/file.h"
#include "tensor/table.h"
#include "tensor/tensor.h"

/// Shared by all example programs: options, output, pictures.
namespace program {

/// A program with the options --seed, --threads, --out, --json, --version and --help, and with its own.
///
///   program::Program self("name", "What it does.");
///   self.option("--epochs", epochs, "Passes over the data");
///   return self.run(argc, argv, [&] { ...; self.result("loss", loss); });
class Program {
 public:
  Program(std::string name, const std::string& description);
  ~Program();

  void option(const std::string& name, std::string& value, const std::string& help);
  void option(const std::string& name, int64_t& value, const std::string& help);
  void option(const std::string& name, double& value, const std::string& help);
  /// Several texts, each behind the name again or behind a comma.
  void option(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// One of `names`.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& names,
              const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);

  /// What stands without a name.
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);

  /// Called when the options are known and before anything else: throws where they cannot be.
  void require(std::function<void()> check) { checks_.push_back(std::move(check)); }

  /// Whether the caller named this option.
  bool given(const std::string& name) const;
  /// Throws if the caller named one of these options, and says why it cannot be: "--text is for training".
  void refuse(const std::vector<std::string>& names, const std::string& why) const;
  /// Refuses these options unless what was asked for, a command or a part, is one of those that they are for.
  void only(const std::string& asked, const std::vector<std::string>& users,
            const std::vector<std::string>& names) const;
  /// What an option of one text or number is by now, by name.
  std::string value(const std::string& name) const { return values_.at(name)(); }

  /// Reads the options, runs `body`, writes what it gave to `result`, lists the pictures that it drew. A
  /// wrong option and every heed::Error end with a message and exit code 2.
  int run(int argc, char** argv, const std::function<void()>& body);

  /// Where the program talks to its reader: standard output, or standard error when --json - claims it.
  std::ostream& text();
  /// True when text() is read at once, on a terminal.
  bool terminal() const;
  /// True when text() may be coloured: a terminal, and NO_COLOR is not set.
  bool colour();

  /// A value for --json under a dotted name: result("data.n", 50) gives {"data": {"n": 50}}, and "rows.0.n",
  /// "rows.1.n" a list of two objects. Tensors become nested lists.
  void result(const std::string& name, double value);
  void result(const std::string& name, int64_t value);
  void result(const std::string& name, const std::string& value);
  void result(const std::string& name, const std::vector<std::string>& values);
  void result(const std::string& name, const heed::Tensor& values);
  /// What the names of results begin with: "rnn." for the first of several models, say.
  std::string below;

  /// Ends the program with 2 when all is said and written, because some of what was asked for could not be
  /// done.
  void fail_at_end() { failed_ = true; }

  /// Without pictures nothing is said of them, where --out is given to read from.
  void expect_no_pictures() { pictures_expected_ = false; }
  /// For require(): nothing is written into --out, which may be another's.
  void only_read() { reads_ = true; }

  /// True with --out.
  bool draws() const { return !out.empty(); }
  /// Writes a file into the --out folder, all or nothing.
  void write(const std::string& file, const std::string& contents);
  /// Removes a file of an earlier run in the --out folder, which would be taken for this run's.
  void remove(const std::string& file);
  /// The same as write() for a picture or a page, whose path is among the last that is printed.
  void write_picture(const std::string& file, const std::string& contents);
  /// Draws `file`.svg by gnuplot from commands that may read what was written before; keeps the commands
  /// beside it as `file`.gp. The paths of all pictures are the last that is printed. Without gnuplot it says
  /// so, once, and leaves the data.
  void plot(const std::string& file, const std::string& commands);
  uint64_t seed = 1;
  int64_t default_threads = 0;  // where neither --threads nor OMP_NUM_THREADS says it; 0: one for each core
  std::string out;

 private:
  void finish();
  // Throws if writing there would destroy a file that an option names.
  void spare_inputs(const std::string& path) const;
  void add_picture(const std::string& drawn, const std::string& picture);
  struct Options;
  std::string name_, json_;
  int64_t threads_ = 0;
  bool version_ = false;
  std::unique_ptr<Options> options_;
  std::vector<std::pair<std::string, const std::string*>> texts_;  // options that may name a file
  std::vector<std::pair<std::string, const std::vector<std::string>*>>
      lists_;  // and those that may name several
  std::map<std::string, std::function<std::string()>> values_;
  std::vector<std::function<void()>> checks_;
  std::vector<std::string> pictures_;
  bool gnuplot_missing_ = false, failed_ = false, pictures_expected_ = true, reads_ = false;
};

/// Thrown by a training that was told to stop, by a signal (0: by --stop-after): the program says so and ends
/// with 128 + the signal.
struct Stopped {
  int signal;
  int64_t step;            // the last that was done
  std::string checkpoint;  // "" if there is no folder for one
};

/// Says on standard error how far a long computation is and how long it will still take: one line that
/// changes on a terminal, a line every ten seconds elsewhere. Silent if it is over at once.
class Progress {
 public:
  Progress(std::string what, int64_t steps);
  ~Progress();
  /// One more is done, or several; the note is shown in the line: "loss 0.31".
  void step(const std::string& note = "", int64_t count = 1);
  /// Some were done before.
  void skip(int64_t steps);
  /// Makes room for other text, where its line stands on the terminal.
  void clear() const;
  bool done() const { return done_ >= steps_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  int64_t steps_, done_ = 0, skipped_ = 0;
  Clock::time_point start_ = Clock::now(), said_ = start_;
  bool terminal_, visible_ = false;
};

/// Runs a tool of the system in `folder`. False when it is not installed; an error when it fails.
bool run_tool(const std::string& folder, std::vector<std::string> command);

/// Throws unless the number that an option gave lies between two others, or is one of them.
template <class T>
void check_range(const std::string& option, T value, int64_t least, int64_t most) {
  heed::check(static_cast<T>(least) <= value && value <= static_cast<T>(most), option, " is ", value,
              "; it must be from ", least, " to ", most);
}

using heed::short_number, heed::write_file;

}  // namespace program
