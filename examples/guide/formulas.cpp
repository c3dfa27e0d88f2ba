#include "examples/guide/formulas.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <vector>

#include "examples/guide/html.h"
#include "examples/shared/base64.h"
#include "examples/shared/program.h"
#include "nn/files/text_file.h"
#include "tensor/utf8.h"

namespace program {

namespace {

// Elements that are higher than a letter.
constexpr const char* kHigh[] = {"<mfrac", "<munder", "<mover", "<mtable", "<msqrt", "<msubsup"};

// A font with a MATH table, of Debian's package fonts-texgyre-math.
constexpr const char* kFont = "/usr/share/texmf/fonts/opentype/public/tex-gyre-math/texgyrepagella-math.otf";

// <mstyle mathvariant="normal"> is unknown to browsers: its letters as one upright word.
std::string upright_word(const std::string& style) {
  std::string word;
  const std::string rest = with_parts(style, "<mi>", "</mi>", [&](const std::string& letter) {
    word += letter.substr(4, letter.size() - 9);
    return std::string();
  });
  const bool only_letters = rest == "<mstyle mathvariant=\"normal\"></mstyle>";
  return only_letters ? "<mi mathvariant=\"normal\">" + word + "</mi>" : style;
}

// Brackets as high as a letter around what is no higher: stretched, they differ from one line to the next.
std::string with_small_brackets(std::string page) {
  const std::string stretched = "<mo stretchy=\"true\" form=\"", open = stretched + "prefix\">",
                    close = stretched + "postfix\">";
  std::vector<size_t> opened_at;
  for (size_t at = page.find(stretched); at != std::string::npos; at = page.find(stretched, at + 1)) {
    if (page.compare(at, open.size(), open) == 0) {
      opened_at.push_back(at);
    } else if (page.compare(at, close.size(), close) == 0 && !opened_at.empty()) {
      const std::string inside = page.substr(opened_at.back(), at - opened_at.back());
      const bool high =
          std::ranges::any_of(kHigh, [&](const char* tag) { return inside.find(tag) != std::string::npos; });
      for (const size_t place : {at, opened_at.back()})  // the later one first, since they grow
        if (!high) page.replace(place, stretched.size(), "<mo stretchy=\"false\" form=\"");
      opened_at.pop_back();
    }
  }
  return page;
}

// Whether a name such as softmax needs a space before what follows: not before a bracket or a comma, nor at
// the end.
bool needs_space(std::string_view following) {
  for (const char* close : {"<mo", "<mrow><mo", "</", "<annotation"})
    if (following.starts_with(close)) return false;
  return !following.empty();
}

// Names of functions with the spaces of TeX. For browsers they are operators like +, with wide spaces.
std::string with_named_functions(const std::string& html) {
  std::string edited;
  size_t done = 0;
  for (size_t at; (at = html.find("<mo>", done)) != html.npos;) {
    size_t end = at + 4;
    while (end < html.size() && std::isalpha(static_cast<unsigned char>(html[end]))) ++end;
    const bool is_name = end > at + 5 && html.compare(end, 5, "</mo>") == 0;
    edited += html.substr(done, at - done);
    done = at + 4;
    if (is_name) {
      size_t begin = at, after = end + 5;  // of the name with its index
      for (const std::string script : {"<msub>", "<msup>", "<msubsup>", "<munder>", "<munderover>"})
        if (edited.ends_with(script)) {
          begin -= script.size();
          after = std::min(html.find("</" + script.substr(1), after), html.size() - script.size() - 1) +
                  script.size() + 1;
        }
      const size_t tag = begin == 0 ? html.npos : html.rfind('<', begin - 1);
      const bool follows = tag != html.npos && html[begin - 1] == '>' && html[tag + 1] == '/' &&
                           html.compare(tag, 5, "</mo>") != 0;
      edited += std::string("<mo lspace=\"") + (follows ? "0.17em" : "0") + "\" rspace=\"" +
                (needs_space(std::string_view(html).substr(after)) ? "0.17em" : "0") + "\">";
    } else {
      edited += "<mo>";
    }
  }
  return edited + html.substr(done);
}

// A comma or another mark after a formula stays in its line.
std::string with_marks_attached(const std::string& html) {
  constexpr const char* kMarks[] = {",",  ".",  ";",  ":",  "?",  "!",  ")",  "”",
                                    "，", "。", "；", "：", "？", "！", "）", "、"};
  constexpr std::string_view kBegin = "<math display=\"inline\"", kEnd = "</math>";
  std::string edited;
  size_t done = 0;
  for (size_t begin = html.find(kBegin); begin != html.npos; begin = html.find(kBegin, done)) {
    const size_t end = html.find(kEnd, begin) + kEnd.size();
    size_t after = end;
    const auto follows = [&](const std::string& mark) { return html.compare(after, mark.size(), mark) == 0; };
    for (auto mark = std::ranges::find_if(kMarks, follows); mark != std::end(kMarks);
         mark = std::ranges::find_if(kMarks, follows))
      after += std::string_view(*mark).size();
    const std::string formula = html.substr(begin, after - begin);
    edited += html.substr(done, begin - done) +
              (after > end ? "<span class=\"unbroken\">" + formula + "</span>" : formula);
    done = after;
  }
  return edited + html.substr(done);
}

// The mathematical italic form of a letter, in which browsers draw an <mi> of one letter; others stay.
uint32_t italic(uint32_t code) {
  static const std::map<uint32_t, uint32_t> special = {{'h', 0x210E},    {0x2202, 0x1D715}, {0x2207, 0x1D6FB},
                                                       {0x3F5, 0x1D716}, {0x3D1, 0x1D717},  {0x3D5, 0x1D719},
                                                       {0x3F1, 0x1D71A}, {0x3D6, 0x1D71B}};
  if (const auto found = special.find(code); found != special.end()) return found->second;
  if (code >= 'A' && code <= 'Z') return 0x1D434 + code - 'A';
  if (code >= 'a' && code <= 'z') return 0x1D44E + code - 'a';
  if (code >= 0x391 && code <= 0x3A9) return 0x1D6E2 + code - 0x391;
  if (code >= 0x3B1 && code <= 0x3C9) return 0x1D6FC + code - 0x3B1;
  return code;
}

}  // namespace

std::string with_tidy_formulas(const std::string& html) {
  const std::string upright = with_parts(html, "<mstyle mathvariant=\"normal\">", "</mstyle>", upright_word);
  return with_marks_attached(with_named_functions(with_small_brackets(upright)));
}

std::set<uint32_t> formula_characters(const std::string& html) {
  std::set<uint32_t> characters = {' ', 0x2212, 0x221A};  // minus, which is written as a hyphen, and roots
  const auto add = [&](const std::string& text) {
    heed::for_each_character(unescaped(text), [&](uint32_t code, std::string_view) {
      if (code >= ' ' && code != heed::kNotUtf8) characters.insert({code, italic(code)});
    });
    return text;
  };
  const auto none = [](const std::string&) { return std::string(); };
  with_parts(html, "<math", "</math>", [&](const std::string& math) {
    return with_texts(with_parts(math, "<annotation", "</annotation>", none), add);  // without its TeX
  });
  return characters;
}

MathFont math_font(const std::string& folder, const std::set<uint32_t>& characters) {
  const char* const missing =
      "formulas are drawn in the fonts of the reader's system; to embed one: "
      "apt-get install fonts-texgyre-math libharfbuzz-bin";
  if (!std::filesystem::exists(kFont)) return {"", missing};
  std::string codes;
  for (const uint32_t code : characters)
    codes += (codes.empty() ? "" : ",") + heed::detail::formatted("%X", static_cast<unsigned>(code));
  const std::string subset = "math.otf", path = folder + "/" + subset;
  if (!run_tool(folder, {"hb-subset", "--unicodes=" + codes, "--layout-features=*", "--output-file=" + subset,
                         kFont}))
    return {"", missing};
  const std::string css = "@font-face { font-family: \"Guide Math\"; src: url(data:font/otf;base64," +
                          base64(read_bytes(path)) + "); }\n";
  std::filesystem::remove(path);
  return {css, ""};
}

}  // namespace program
