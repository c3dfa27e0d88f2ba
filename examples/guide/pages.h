#pragma once

#include <functional>
#include <string>
#include <vector>

/// The guide as HTML: one page for each chapter.
namespace program {

/// A language of the guide, and the words of its pages.
struct GuideLanguage {
  const char* folder;  ///< of its chapters
  const char* code;    ///< of HTML: "zh-CN"
  const char* name;    ///< in the language itself
  const char* suffix;  ///< of the names of pages
  const char *title, *chapters, *previous, *next, *alone;
  bool chinese;
};
extern const GuideLanguage kEnglish, kChinese;
/// The other one.
const GuideLanguage& other_language(const GuideLanguage& language);

/// The HTML of a chapter's Markdown, by pandoc. `folder` is for temporary files. Throws if pandoc is not
/// installed or fails.
std::string html_of(const std::string& markdown, const std::string& folder);

/// A section of a page.
struct Section {
  std::string id, title;  ///< the title is HTML, without the id
};

/// A chapter as HTML.
struct Page {
  /// From pandoc's HTML of a chapter. The first chapter is called "index", others like their files.
  Page(std::string name, const std::string& html);

  std::string file(const GuideLanguage& language) const { return name + language.suffix; }

  std::string name, body;
  std::vector<Section> sections;  ///< the first is the chapter itself
};

/// Lets links to sections of other chapters, and to chapters by their file, lead to their pages. Throws if
/// there is no such section or chapter.
void connect(std::vector<Page>& pages, const GuideLanguage& language);

/// Puts pictures into a body: SVG pictures as elements, other pages in a frame with a link. `svg` returns the
/// picture of a path.
std::string with_pictures(const std::string& body, const GuideLanguage& language,
                          const std::function<std::string(const std::string& path)>& svg);

/// What all pages share, as texts: page.html, page.css with the font, page.js; and the file of the script
/// that pages with benches have, "" without one.
struct PageParts {
  std::string frame, style, script, benches;
};
/// The complete HTML of pages[i]: with a menu of all chapters, and links to the chapters before and after it
/// and to the other language.
std::string complete(const std::vector<Page>& pages, size_t i, const GuideLanguage& language,
                     const PageParts& parts);

}  // namespace program
