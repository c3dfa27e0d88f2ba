#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nn/files/file.h"
#include "nn/files/text_file.h"
#include "nn/training/progress.h"
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

  /// A text. `what` says what must be given instead of an empty one; if it is "", the text may be empty.
  void option(const std::string& name, std::string& value, const std::string& help,
              const std::string& what = "a file");
  void option(const std::string& name, int64_t& value, const std::string& help);
  void option(const std::string& name, double& value, const std::string& help);
  /// Several texts, separated by commas or each after the name again.
  void option(const std::string& name, std::vector<std::string>& values, const std::string& help);
  /// One of `names`.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& names,
              const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);

  /// Positional arguments.
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);

  /// Adds a check of the options, which runs before anything else and throws if they are invalid.
  void require(std::function<void()> check) { checks_.push_back(std::move(check)); }

  /// Whether the caller named this option.
  bool given(const std::string& name) const;
  /// Throws if the caller named one of these options. `why` completes the message: "--text is for training".
  void refuse(const std::vector<std::string>& names, const std::string& why) const;
  /// Throws if one of these options was given, unless the chosen command or part is one that they are for.
  void only(const std::string& asked, const std::vector<std::string>& users,
            const std::vector<std::string>& names) const;
  /// The current value of an option of one text or number.
  std::string value(const std::string& name) const { return values_.at(name)(); }

  /// Reads the options, runs `body`, writes the results, and lists the pictures that were drawn. After an
  /// invalid option or a heed::Error the exit code is 2.
  int run(int argc, char** argv, const std::function<void()>& body);

  /// The stream for text: standard output, or standard error with --json -.
  std::ostream& text();
  /// Whether text() is a terminal.
  bool terminal() const;
  /// Whether text() may be colored: it is a terminal that accepts control sequences.
  bool colour() const;

  /// A value for --json under a dotted name: result("data.n", 50) gives {"data": {"n": 50}}, and "rows.0.n",
  /// "rows.1.n" a list of two objects. Tensors become nested lists.
  void result(const std::string& name, double value);
  void result(const std::string& name, int64_t value);
  void result(const std::string& name, const std::string& value);
  void result(const std::string& name, const std::vector<std::string>& values);
  void result(const std::string& name, const heed::Tensor& values);
  /// A prefix for the names of results, such as "rnn." for one of several models.
  std::string below;

  /// Makes the exit code 2, because a part of the task failed. The program continues.
  void fail_at_end() { failed_ = true; }

  /// Suppresses the note that there are no pictures, for commands that only read --out.
  void expect_no_pictures() { pictures_expected_ = false; }
  /// For require(): --out is only read, so it need not be writable.
  void only_read() { reads_ = true; }

  /// Prints and writes nothing from here on: another process does.
  void silence() { silent_ = true; }

  /// Whether there is a folder for pictures, --out.
  bool draws() const { return !out.empty() && !silent_; }
  /// Makes the --out folder, which write() does as well. Throws if that is impossible.
  void make_folder() const;
  /// Writes a file into the --out folder, atomically.
  void write(const std::string& file, const std::string& contents);
  /// Removes a file of an earlier run from the --out folder.
  void remove(const std::string& file);
  /// The same as write() for a picture or a page, whose path is printed at the end.
  void write_picture(const std::string& file, const std::string& contents);
  /// Draws `file`.svg by gnuplot. The commands may read files that were written before, and are kept as
  /// `file`.gp. The paths of all pictures are printed at the end. Without gnuplot prints a note, once.
  void plot(const std::string& file, const std::string& commands);
  uint64_t seed = 1;
  int64_t default_threads = 0;  // without --threads and OMP_NUM_THREADS; 0: one for each core
  std::string out;

 private:
  // The exit code, if nothing is left to do: after --help or an invalid option.
  std::optional<int> parse(int argc, char** argv);
  int text_descriptor() const;
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
  bool gnuplot_missing_ = false, failed_ = false, pictures_expected_ = true, reads_ = false, silent_ = false;
};

/// Thrown after a training was stopped by a signal, or by --stop-after (signal 0). The program prints where
/// the checkpoint is, and exits with 128 + the signal.
struct Stopped {
  int signal;
  int64_t step;            // number of steps that were done
  std::string checkpoint;  // "" if there is no folder for one
};

/// Thrown after a training on several processes, where process 0 alone continues. The exit code is 0.
struct Finished {};

/// Runs a tool of the system in `folder`. Returns false if it is not installed. Throws what it wrote to
/// standard error if it fails.
bool run_tool(const std::string& folder, std::vector<std::string> command);

/// Throws unless least <= value <= most.
template <class T>
void check_range(const std::string& option, T value, int64_t least, int64_t most) {
  heed::check(static_cast<T>(least) <= value && value <= static_cast<T>(most), option, " is ", value,
              "; it must be from ", least, " to ", most);
}

/// Throws if a file of this path could not be written, or a folder not be made or filled. Better to know
/// before the work than after it that its result cannot be kept. Writes nothing.
void check_place(const std::string& path, bool folder);

using heed::Progress, heed::read_bytes, heed::short_number, heed::write_file;

}  // namespace program
