// Every system call of a save and of a load fails in turn.

#include "tests/faults/file_calls.h"

#include "nn/files/file.h"
#include "nn/files/npy.h"
#include "nn/files/safetensors.h"
#include "tests/support/expect.h"
#include "tests/support/program.h"

using faults::Fault, faults::FileCalls;
namespace fs = std::filesystem;

static int64_t count(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}
static int64_t open_files() { return count("/proc/self/fd"); }

// The system calls that f makes in a folder.
template <class F>
static Texts calls_of(const Folder& folder, const F& f) {
  const FileCalls all(folder.path);
  f();
  return all.made;
}

using Write = std::function<void(const std::string&)>;

static void check_write(const std::string& op, int64_t writes, const Write& write) {
  CAPTURE(op);
  const Folder folder;
  const std::string path = folder / "a";
  const Texts calls = calls_of(folder, [&] { write(path); });
  Texts expected = {"open temporary"};
  expected.insert(expected.end(), static_cast<size_t>(writes), "write temporary");
  for (const std::string last :
       {"fsync temporary", "close temporary", "rename temporary", "open .", "fsync .", "close ."})
    expected.push_back(last);
  REQUIRE(calls == expected);

  const std::string whole = read_file(path);
  const int64_t files = open_files();
  const size_t renamed = calls.size() - 4;
  for (size_t number = 0; number < calls.size(); ++number)
    for (const Fault fault :
         {Fault::no_space, Fault::input, Fault::interrupted, Fault::half, Fault::nothing}) {
      const bool transfers = calls[number].starts_with("write");
      if (!transfers && (fault == Fault::half || fault == Fault::nothing)) continue;
      folder.write("a", "old");
      const FileCalls failing(folder.path, fault, number);
      const std::string said = message([&] { write(path); });
      INFO(calls[number], ", fault ", static_cast<int>(fault), ": ", said);
      const std::string why = fault == Fault::input ? "Input/output error" : "No space left on device";
      if (fault == Fault::interrupted || fault == Fault::half || calls[number] == "close .")
        REQUIRE(said == "");
      else if (number <= renamed)
        REQUIRE(said == op + ": " + path + ": cannot be written: " + why);
      else
        REQUIRE(said ==
                op + ": " + path + ": is written, but its folder cannot be flushed to the disk: " + why);
      REQUIRE(read_file(path) == (said.empty() || number > renamed ? whole : "old"));
      REQUIRE(count(folder.path) == 1);
      REQUIRE(open_files() == files);
    }
}

TEST_CASE("every system call of a save fails in turn") {
  const StateDict both = {{"x", counted({3, 5})}, {"y", counted({4}, int64)}};
  check_write("write_file", 1, [](auto& path) { write_file(path, "some text"); });
  check_write("save_npy", 4, [&](auto& path) { save_npy(path, both.at("x")); });
  check_write("save_safetensors", 4, [&](auto& path) { save_safetensors(path, both); });
}

TEST_CASE("every system call of a load fails in turn") {
  const Folder folder;
  const std::string path = folder / "x";
  const StateDict saved = {{"x", counted({3, 5})}, {"y", counted({4}, int64)}};
  save_safetensors(path, saved);
  const int64_t files = open_files();
  const Texts calls = calls_of(folder, [&] { load_safetensors(path); });
  REQUIRE(calls == Texts{"open x", "read x", "read x", "read x", "read x", "close x"});
  for (size_t number = 0; number < calls.size(); ++number)
    for (const Fault fault : {Fault::input, Fault::interrupted, Fault::half, Fault::nothing}) {
      INFO("call ", number, ", fault ", static_cast<int>(fault));
      const FileCalls failing(folder.path, fault, number);
      std::map<std::string, Tensor> loaded;
      const std::string said = message([&] { loaded = load_safetensors(path).tensors; });
      const std::string op = "load_safetensors: " + path + ": ";
      const bool last = number + 1 == calls.size();
      if (fault == Fault::input && !last)
        REQUIRE(said == op + (number == 0 ? "cannot be opened" : "cannot be read") + ": Input/output error");
      else if (fault == Fault::nothing && !last && number > 0)
        REQUIRE(said == op + "became shorter while it was read");
      else
        REQUIRE(said == "");
      if (said.empty())
        for (const auto& [name, x] : saved) REQUIRE(bytes_of(loaded.at(name)) == bytes_of(x));
      REQUIRE(open_files() == files);
    }
}
