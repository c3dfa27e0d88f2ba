#include "examples/guide/pages.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "examples/guide/formulas.h"
#include "examples/guide/html.h"
#include "examples/guide/pictures.h"
#include "examples/shared/program.h"
#include "nn/view/markup.h"
#include "tensor/error.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace program {

using heed::detail::line;

const GuideLanguage kEnglish = {
    "en",       "en",       "English", ".html",         "Attention, seen and read",
    "Chapters", "Previous", "Next",    "Open it alone", false};
const GuideLanguage kChinese = {"zh",   "zh-CN",  "中文",   ".zh.html", "看得见、读得懂的注意力",
                                "目录", "上一章", "下一章", "单独打开", true};

const GuideLanguage& other_language(const GuideLanguage& language) {
  return language.chinese ? kEnglish : kChinese;
}

namespace {

std::string nothing(const std::string&) { return ""; }

// Characters of code that take two columns of a terminal, as CSS can be told: fonts have no such columns.
std::string with_wide_cells(const std::string& html) {
  return with_parts(html, "<pre", "</pre>", [](const std::string& code) {
    return with_texts(code, [](const std::string& text) {
      std::string cells;
      heed::for_each_character(text, [&](uint32_t, std::string_view bytes) {
        const std::string character(bytes);
        cells +=
            heed::display_width(character) == 2 ? "<span class=\"wide\">" + character + "</span>" : character;
      });
      return cells;
    });
  });
}

std::vector<Section> sections_of(const std::string& html) {
  std::vector<Section> sections;
  const auto add = [&](const std::string& heading) {
    const size_t begin = heading.find('>') + 1;
    std::string title = heading.substr(begin, heading.size() - std::string("</h1>").size() - begin);
    title = with_parts(title, " <span class=\"concept\"", "</span>", nothing);
    sections.push_back({attribute_of(heading, "id"), title});
    return heading;
  };
  with_parts(html, "<h1", "</h1>", add);
  heed::check(!sections.empty(), "a chapter begins with its title: # 3. Scores and self-attention");
  with_parts(html, "<h2", "</h2>", add);
  return sections;
}

std::string text_only(const std::string& html) {
  return with_parts(with_parts(html, "<annotation", "</annotation>", nothing), "<", ">", nothing);
}

std::string menu_of(const std::vector<Page>& pages, size_t present, const GuideLanguage& language) {
  std::string menu = "<ol>\n";
  for (size_t i = 0; i < pages.size(); ++i) {
    const std::string file = pages[i].file(language), place = i == present ? "" : file;
    menu += line(R"(<li><details{}><summary><a href="{}"{}>{}</a></summary>)", i == present ? " open" : "",
                 i == present ? "#top" : file, i == present ? " aria-current=\"page\"" : "",
                 pages[i].sections[0].title);
    menu += "<ol>\n";
    for (size_t k = 1; k < pages[i].sections.size(); ++k)
      menu += line(R"(<li><a href="{}#{}">{}</a></li>)", place, pages[i].sections[k].id,
                   pages[i].sections[k].title);
    menu += "</ol></details></li>\n";
  }
  return menu + "</ol>\n";
}

}  // namespace

std::string html_of(const std::string& markdown, const std::string& folder) {
  const std::string source = "page.md", made = "page.tmp";
  const auto remove_temporaries = [&](const std::string* in) {
    for (const std::string& file : {source, made}) {
      std::error_code ignored;
      std::filesystem::remove(*in + "/" + file, ignored);
    }
  };
  const std::unique_ptr<const std::string, decltype(remove_temporaries)> cleanup(&folder, remove_temporaries);
  write_file(folder + "/" + source, markdown);
  const bool installed = run_tool(folder, {"pandoc", "--from", "markdown+east_asian_line_breaks", "--to",
                                           "html5", "--mathml", "--wrap", "none", "--output", made, source});
  heed::check(installed, "pandoc is not installed, which makes the pages (apt-get install pandoc)");
  return read_bytes(folder + "/" + made);
}

Page::Page(std::string name_of_page, const std::string& html)
    : name(std::move(name_of_page)),
      body(with_wide_cells(with_tidy_formulas(html))),
      sections(sections_of(body)) {
  body = with_parts(body, "<a href=\"#cb", "</a>", nothing);  // pandoc's anchors of lines of code
}

void connect(std::vector<Page>& pages, const GuideLanguage& language) {
  std::map<std::string, const Page*> page_of;
  for (const Page& page : pages)
    for (const Section& section : page.sections)
      if (section.id.starts_with("C-"))
        heed::check(page_of.emplace(section.id, &page).second, "two sections are ", section.id);
  const auto chapter = [&](const std::string& file) {
    const auto found =
        std::ranges::find_if(pages, [&](const Page& page) { return page.name + ".md" == file; });
    heed::check(found != pages.end(), language.folder, ": there is no chapter ", file, " to link to");
    return found->file(language);
  };
  for (Page& page : pages)
    page.body = with_attributes(page.body, [&](const std::string& name, const std::string& value) {
      if (name == "href" && value.ends_with(".md") && value.find(':') == value.npos) return chapter(value);
      if (name != "href" || !value.starts_with("#C-")) return value;
      const auto found = page_of.find(value.substr(1));
      heed::check(found != page_of.end(), language.folder, "/", page.name, " links to ", value,
                  ", which no chapter has");
      return found->second == &page ? value : found->second->file(language) + value;
    });
}

std::string with_pictures(const std::string& body, const GuideLanguage& language,
                          const std::function<std::string(const std::string& path)>& svg) {
  int64_t count = 0;
  return with_parts(body, "<figure>", "</figure>", [&](const std::string& figure) {
    const std::string path = attribute_of(figure, "src");
    const size_t begin = figure.find("<figcaption"), inside = figure.find('>', begin) + 1;
    const std::string caption = figure.substr(inside, figure.find("</figcaption>", begin) - inside),
                      label = text_only(caption);
    std::string picture;
    if (path.ends_with(".svg"))
      picture = line(R"(<div class="scroll">{}</div>)",
                     inline_svg(svg(path), "p" + std::to_string(++count) + "-", unescaped(label)));
    else
      picture = line(R"(<iframe src="{}" title="{}" loading="lazy"></iframe>)", path, label);
    const std::string alone =
        path.ends_with(".html") ? line(R"( <a href="{}">{}</a>)", path, language.alone) : "";
    return "<figure>\n" + picture + "<figcaption>" + caption + alone + "</figcaption>\n</figure>";
  });
}

std::string complete(const std::vector<Page>& pages, size_t i, const GuideLanguage& language,
                     const PageParts& parts) {
  const GuideLanguage& other = other_language(language);
  std::string turn, relations;
  const auto add_turn = [&](size_t to, const char* relation, const char* words) {
    const std::string file = pages[to].file(language);
    relations += line(R"(<link rel="{}" href="{}">)", relation, file);
    turn += line(R"(<a rel="{}" href="{}"><small>{}</small>{}</a>)", relation, file, words,
                 pages[to].sections[0].title);
  };
  if (i > 0) add_turn(i - 1, "prev", language.previous);
  if (i + 1 < pages.size()) add_turn(i + 1, "next", language.next);
  relations += line(R"(<link rel="alternate" hreflang="{}" href="{}">)", other.code, pages[i].file(other));
  const bool has_benches = !parts.benches.empty() && pages[i].body.find("<heed-bench") != std::string::npos;
  const std::string benches = has_benches ? line(R"(<script src="{}"></script>)", parts.benches) : "";
  return heed::detail::filled(parts.frame,
                              {{"language", language.code},
                               {"relations", relations},
                               {"title", text_only(pages[i].sections[0].title) + " · " + language.title},
                               {"style", parts.style},
                               {"home", pages[0].file(language)},
                               {"guide", language.title},
                               {"other", pages[i].file(other)},
                               {"other-language", other.code},
                               {"other-name", other.name},
                               {"chapters", language.chapters},
                               {"menu", menu_of(pages, i, language)},
                               {"body", pages[i].body},
                               {"turn", turn},
                               {"script", parts.script},
                               {"benches", benches}});
}

}  // namespace program
