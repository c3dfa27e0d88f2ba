// Makes the guide: every concept with its formula, the code that computes it and what the programs print and
// draw.
//
// The chapters are in examples/guide/en and zh. All programs that they name run first, each command once, in
// a folder of its own below --out; what they give fills the chapters (examples/guide/chapter.h), and pandoc
// makes one page of them.

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>
#include <thread>

#include "examples/guide/chapter.h"
#include "examples/shared/program.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

using namespace program;
using heed::check;
namespace fs = std::filesystem;

namespace {

const fs::path kProject = HEED_SOURCE_DIR, kText = kProject / "examples" / "guide";

constexpr const char* kHigh[] = {"<mfrac", "<munder", "<mover", "<mtable", "<msqrt", "<msubsup"};

struct Language {
  std::string folder, page, title, code, other, other_name;
};
const Language kLanguages[] = {
    {"en", "index.html", "Attention, seen and read", "en", "index.zh.html", "中文"},
    {"zh", "index.zh.html", "看得见、读得懂的注意力", "zh-CN", "index.html", "English"}};

// Name and text of each chapter, in order.
std::map<std::string, std::string> chapters_of(const Language& language) {
  std::map<std::string, std::string> chapters;
  for (const auto& file : fs::directory_iterator(kText / language.folder))
    if (file.path().extension() == ".md")
      chapters[file.path().filename().string()] = read_bytes(file.path().string());
  check(!chapters.empty(), (kText / language.folder).string(), ": there are no chapters");
  return chapters;
}

// The folder of a command: its words with _ between them.
std::string folder_of(const std::string& command) {
  std::string name;
  for (const unsigned char c : command)
    if (std::isalnum(c) || c == '.' || c >= 0x80)
      name += static_cast<char>(c);
    else if (!name.ends_with('_'))
      name += '_';
  return "runs/" + name;
}

std::string quoted(const fs::path& path) {
  std::string text = "'";
  for (const char c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// Runs programs, on one thread each and as many at a time as there are cores.
class Runs {
 public:
  Runs(fs::path out, const std::set<std::string>& commands) : out_(fs::absolute(out)) {
    const std::vector<std::string> all(commands.begin(), commands.end());
    std::atomic<size_t> next = 0;
    std::vector<std::string> failures(all.size());
    Progress progress("running the programs", std::ssize(all));
    std::mutex mutex;
    const auto work = [&] {
      for (size_t i; (i = next++) < all.size();) {
        failures[i] = run(all[i]);
        const std::lock_guard lock(mutex);
        progress.step();
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(work);
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < all.size(); ++i) check(failures[i].empty(), all[i], ": ", failures[i]);
  }

  std::string printed(const std::string& command) const {
    return read_bytes((out_ / folder_of(command) / "printed.txt").string());
  }

  std::string number(const std::string& command, const std::string& path) const {
    const auto results =
        nlohmann::json::parse(read_bytes((out_ / folder_of(command) / "results.json").string()));
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const nlohmann::json::json_pointer place(pointer);
    check(results.contains(place) && (results[place].is_number() || results[place].is_string()), command,
          " gives no number ", path);
    const auto& value = results[place];
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? short_number(value.get<double>()) : value.dump();
  }

  std::string picture(const std::string& command, const std::string& file) const {
    const std::string path = folder_of(command) + "/" + file;
    check(fs::exists(out_ / path), command, " draws no ", file);
    return path;
  }

 private:
  // What went wrong, empty if nothing.
  std::string run(const std::string& command) const {
    const fs::path folder = out_ / folder_of(command),
                   programs = fs::read_symlink("/proc/self/exe").parent_path();
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) return folder.string() + " cannot be made: " + failure.message();
    const std::string line = "cd " + quoted(kProject) + " && OMP_NUM_THREADS=1 " + quoted(programs) + "/" +
                             command + " --out " + quoted(folder) + " --json " +
                             quoted(folder / "results.json") + " >" + quoted(folder / "printed.txt") + " 2>" +
                             quoted(folder / "errors.txt") + " </dev/null";
    const int status = std::system(line.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    try {
      return "it fails: " + read_bytes((folder / "errors.txt").string());
    } catch (const heed::Error& error) {
      return error.what();
    }
  }

  fs::path out_;
};

// Brackets as high as a letter around what is no higher: stretched, they differ from one line to the next.
std::string with_small_brackets(std::string page) {
  const std::string stretched = "<mo stretchy=\"true\" form=\"", open = stretched + "prefix\">",
                    close = stretched + "postfix\">";
  std::vector<size_t> opened;
  for (size_t at = page.find(stretched); at != std::string::npos; at = page.find(stretched, at + 1)) {
    if (page.compare(at, open.size(), open) == 0) {
      opened.push_back(at);
    } else if (page.compare(at, close.size(), close) == 0 && !opened.empty()) {
      const std::string inside = page.substr(opened.back(), at - opened.back());
      const bool high = std::any_of(std::begin(kHigh), std::end(kHigh),
                                    [&](const char* tag) { return inside.find(tag) != std::string::npos; });
      for (const size_t place : {at, opened.back()})  // the later one first, since they grow
        if (!high) page.replace(place, stretched.size(), "<mo stretchy=\"false\" form=\"");
      opened.pop_back();
    }
  }
  return page;
}

// Characters of code that take two columns of a terminal, as CSS can be told: fonts have no such columns.
std::string with_wide_cells(std::string_view page) {
  std::string text;
  bool code = false, tag = false;
  while (!page.empty()) {
    const std::string character(page.substr(0, std::max<size_t>(1, heed::first_character(page).size)));
    if (character == "<") {
      tag = true;
      code = page.starts_with("<pre") || (code && !page.starts_with("</pre>"));
    }
    const bool wide = code && !tag && heed::display_width(character) == 2;
    text += wide ? "<span class=\"wide\">" + character + "</span>" : character;
    if (character == ">") tag = false;
    page.remove_prefix(character.size());
  }
  return text;
}

void write_page(Program& self, const Language& language, const Filling& filling) {
  std::string text;
  for (const auto& [name, chapter] : chapters_of(language)) try {
      text += filled(chapter, filling) + "\n";
    } catch (const heed::Error& error) {
      heed::fail("examples/guide/", language.folder, "/", name, ": ", error.what());
    }
  self.write("guide.md", text);
  const bool made = run_tool(self.out, {"pandoc",     "--from",
                                        "markdown",   "--to",
                                        "html5",      "--mathml",
                                        "--toc",      "--toc-depth=2",
                                        "--template", (kText / "page.html").string(),
                                        "--metadata", "title=" + language.title,
                                        "--variable", "lang=" + language.code,
                                        "--variable", "other=" + language.other,
                                        "--variable", "other-name=" + language.other_name,
                                        "--output",   "page.tmp",
                                        "guide.md"});
  check(made, "pandoc is not installed, which makes the pages (apt-get install pandoc)");
  const std::string page = with_wide_cells(with_small_brackets(read_bytes(self.out + "/page.tmp")));
  for (const char* file : {"guide.md", "page.tmp"}) self.remove(file);
  self.write_picture(language.page, page);
}

}  // namespace

int main(int argc, char** argv) {
  Program self("guide", "Runs the programs and makes the guide of what they show.");
  return self.run(argc, argv, [&] {
    if (!self.draws()) self.out = "out/guide";
    std::set<std::string> commands;
    for (const Language& language : kLanguages)
      for (const auto& [name, chapter] : chapters_of(language))
        for (const Piece& piece : pieces_of(chapter))
          if (!piece.command.empty()) commands.insert(piece.command);
    self.text() << "running " << commands.size() << " commands, those that train for up to a minute\n";
    const Runs runs(self.out, commands);
    const Filling filling{
        [](const std::string& file) { return read_bytes((kProject / file).string()); },
        [&](const std::string& command) { return runs.printed(command); },
        [&](const std::string& command, const std::string& path) { return runs.number(command, path); },
        [&](const std::string& command, const std::string& file) { return runs.picture(command, file); }};
    for (const Language& language : kLanguages) write_page(self, language, filling);
    self.result("commands", std::vector<std::string>(commands.begin(), commands.end()));
  });
}
