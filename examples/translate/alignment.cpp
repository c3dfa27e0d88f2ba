#include "examples/translate/alignment.h"

#include <algorithm>
#include <iterator>
#include <ostream>

#include "autograd/ops/shape.h"
#include "nn/view/heat_map.h"
#include "nn/view/page.h"

using namespace heed;

namespace program {
namespace {

std::string alignment_file(size_t i) { return "alignment_" + std::to_string(i + 1) + ".svg"; }

}  // namespace

void show_alignment(Program& self, const Translation& translation, const Tokens& source,
                    const Tokens& target) {
  const AttentionMap map = translation.alignment(source, target);
  constexpr size_t kMaxWords = 40;  // in a row of a terminal
  if (source.size() <= kMaxWords && target.size() <= kMaxWords)
    self.text() << "\nwhich words each word was made from:\n"
                << attention_text(map, self.colour() ? TextStyle::coloured : TextStyle::plain) << "\n";
  else
    self.text() << "\nwhich words each word was made from is too much for a terminal: see alignment.svg\n";
  self.write_picture("alignment.svg", attention_svg(map));
  self.result("alignment.source", source);
  self.result("alignment.target", target);
  self.result("alignment.weights", narrow(select(map.weights, 0, 0), 0, 0, std::ssize(target)));
}

void draw_attention(Program& self, const Translation& translation, const std::vector<Tokens>& sources,
                    const std::vector<Tokens>& translations) {
  std::vector<AttentionMap> maps;
  for (size_t i = 0; i < std::min(kMaxAlignments, sources.size()); ++i) {
    self.write_picture(alignment_file(i), attention_svg(translation.alignment(sources[i], translations[i])));
    std::ranges::move(translation.attention(sources[i], translations[i]), std::back_inserter(maps));
  }
  self.write_picture("attention.html", attention_page(maps));
}

void remove_attention(Program& self) {
  for (const char* file : {"alignment.svg", "attention.html"}) self.remove(file);
  for (size_t i = 0; i < kMaxAlignments; ++i) self.remove(alignment_file(i));
}

}  // namespace program
