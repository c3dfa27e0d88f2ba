// Makes the guide: every concept with its formula, the code that computes it, outputs and pictures.
//
// The chapters are in examples/guide/en and zh. All programs that they name run first, each command once.
// What they print and draw fills the chapters (chapter.h), and pandoc makes a page of each (pages.h).

#include <filesystem>
#include <map>
#include <ostream>
#include <set>

#include "examples/guide/benches.h"
#include "examples/guide/catalog.h"
#include "examples/guide/chapter.h"
#include "examples/guide/diagrams.h"
#include "examples/guide/formulas.h"
#include "examples/guide/pages.h"
#include "examples/guide/pictures.h"
#include "examples/guide/runs.h"
#include "examples/playground/page.h"
#include "examples/playground/record.h"
#include "examples/shared/program.h"
#include "nn/files/text_file.h"
#include "nn/view/markup.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

using namespace program;
using heed::check;
namespace fs = std::filesystem;

namespace {

const fs::path kProject = HEED_SOURCE_DIR, kText = kProject / "examples" / "guide",
               kBenches = kProject / "examples" / "playground" / "page";

std::map<std::string, std::string> chapters_of(const GuideLanguage& language) {
  return chapters_in(kText / language.folder);
}

std::set<std::string> commands_of_all() {
  std::set<std::string> commands;
  for (const GuideLanguage* language : {&kEnglish, &kChinese})
    for (const auto& [name, chapter] : chapters_of(*language))
      for (const Piece& piece : pieces_of(chapter))
        if (!piece.command.empty() && piece.command != kDiagram) commands.insert(piece.command);
  return commands;
}

// The guide in the making.
class Guide {
 public:
  Guide(Program& self, const Runs& runs)
      : self_(self),
        runs_(runs),
        zh_(read_bytes((kText / "zh.tsv").string())),
        record_(recorded_training()) {}

  std::vector<Page> pages_of(const GuideLanguage& language) {
    std::vector<Page> pages;
    for (const auto& [name, chapter] : chapters_of(language)) try {
        const std::string html = html_of(filled(chapter, filling_of(language)), self_.out);
        pages.emplace_back(pages.empty() ? "index" : name, html);
      } catch (const heed::Error& error) {
        heed::fail("examples/guide/", language.folder, "/", name,
                   ".md (with what goes on from it): ", error.what());
      }
    connect(pages, language);
    for (Page& page : pages)
      page.body = with_pictures(page.body, language, [&](const std::string& path) {
        const std::string svg = read_bytes(self_.out + "/" + path);
        return language.chinese ? zh_.picture(svg) : svg;
      });
    return pages;
  }

  void write(const std::vector<Page>& pages, const GuideLanguage& language, const std::string& font) {
    const auto text = [](const char* file) { return read_bytes((kText / file).string()); };
    const PageParts parts = {text("page.html"), style_of_pages(font), text("page.js"),
                             has_playground_wasm() ? kBenchesFile : ""};
    for (size_t i = 0; i < pages.size(); ++i)
      self_.write_picture(pages[i].file(language), complete(pages, i, language, parts));
  }

  // The script of the benches, and the page of all of them, to which they lead.
  void write_benches() {
    if (!has_playground_wasm()) return;
    write_file(self_.out + "/" + kBenchesFile, script_of_benches(record_));
    write_file(self_.out + "/playground.html",
               playground_page(kBenches.string(), playground_wasm(), record_));
  }

 private:
  Filling filling_of(const GuideLanguage& language) {
    const BenchParts benches = {language, bench_words(language.folder), record_, has_playground_wasm()};
    return {
        [](const std::string& file) { return read_bytes((kProject / file).string()); },
        [&](const std::string& command) { return runs_.printed(command); },
        [&](const std::string& printed) { return language.chinese ? zh_.output(printed) : printed; },
        [&](const std::string& command) { return duration_text(runs_.seconds(command), language.chinese); },
        [&](const std::string& command, const std::string& path) { return runs_.number(command, path); },
        [&](const std::string& command, const std::string& file) {
          return command == kDiagram ? drawn(file, language)
                                     : in_language(runs_.picture(command, file), language);
        },
        [benches](const std::string& name, const std::string& at, const std::string& state) {
          return bench_element(name, at, state, benches);
        }};
  }

  // The path of a diagram.
  std::string drawn(const std::string& file, const GuideLanguage& language) {
    const std::string path = std::string("diagrams/") + language.folder + "/" + file;
    fs::create_directories(fs::path(self_.out) / fs::path(path).parent_path());
    write_file(self_.out + "/" + path, diagram(file, language.folder));
    return path;
  }

  // The path of a page that a program made, translated for Chinese readers.
  std::string in_language(const std::string& path, const GuideLanguage& language) {
    if (!language.chinese || !path.ends_with(".html")) return path;
    const std::string translated = path.substr(0, path.size() - 5) + ".zh.html";
    const std::string page = zh_.page(read_bytes(self_.out + "/" + path));
    write_file(self_.out + "/" + translated,
               heed::replaced(page, "<html lang=\"en\"", "<html lang=\"zh-CN\""));
    return translated;
  }

  Program& self_;
  const Runs& runs_;
  Catalog zh_;
  std::string record_;  // a training of the translators, for their bench
};

}  // namespace

int main(int argc, char** argv) {
  Program self("guide", "Runs the programs and makes the guide of what they show.");
  bool reuse = false;
  self.flag("--reuse", reuse, "Keep the runs of an earlier guide that are newer than their programs");
  return self.run(argc, argv, [&] {
    if (!self.draws()) self.out = "out/guide";
    const std::set<std::string> commands = commands_of_all();
    self.text() << "running " << commands.size() << " commands, those that train for up to a minute\n";
    const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
    const Runs runs({kProject, programs, self.out}, commands, reuse);

    Guide guide(self, runs);
    const std::vector<Page> english = guide.pages_of(kEnglish), chinese = guide.pages_of(kChinese);
    std::set<uint32_t> characters;
    for (const std::vector<Page>* pages : {&english, &chinese})
      for (const Page& page : *pages) characters.merge(formula_characters(page.body));
    const MathFont font = math_font(self.out, characters);
    if (!font.missing.empty()) self.text() << font.missing << "\n";
    guide.write(english, kEnglish, font.css);
    guide.write(chinese, kChinese, font.css);
    guide.write_benches();
    self.result("commands", std::vector<std::string>(commands.begin(), commands.end()));
  });
}
