#include "examples/translate/by_length.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

using heed::Tokens;

namespace program {

Lengths by_length(const std::vector<Tokens>& sources, const std::vector<Tokens>& translations,
                  const std::vector<Tokens>& references) {
  Lengths result;
  std::vector<size_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return sources[i].size(); });
  for (size_t i = 0; i < order.size(); ++i) {
    const bool exact = translations[order[i]] == references[order[i]];
    for (Share* part : {&result.each[std::ssize(sources[order[i]])], &result.thirds[3 * i / order.size()]}) {
      part->of += 1;
      part->exact += exact;
    }
  }
  return result;
}

void print_lengths(Program& self, const Lengths& lengths) {
  heed::Table table({"length", "sentences", "exact match", ""});
  int64_t row = 0;
  for (const auto& [length, part] : lengths.each) {
    table.add({std::to_string(length), std::to_string(part.of), short_number(part.value()),
               std::string(static_cast<size_t>(std::lround(20 * part.value())), '#')});
    const std::string name = "by_length." + std::to_string(row++);
    self.result(name + ".length", length);
    self.result(name + ".n", part.of);
    self.result(name + ".exact_match", part.value());
  }
  self.text() << "\n" << table.to_string() << "\nby thirds, short to long:";
  const char* names[] = {"shortest", "middle", "longest"};
  for (int i = 0; i < 3; ++i) {
    self.text() << (i ? ", " : " ") << short_number(lengths.thirds[i].value());
    self.result(std::string("thirds.") + names[i], lengths.thirds[i].value());
  }
  self.text() << "\n";
}

std::string trend(const Lengths& lengths) {
  const double lost = lengths.lost();
  return lost > 0 ? "falls by " + short_number(lost) : lost < 0 ? "rises by " + short_number(-lost) : "stays";
}

std::string all_mistakes_text(int64_t mistakes, int64_t sentences) {
  const std::string which = mistakes == 0   ? "There are no mistakes"
                            : mistakes == 1 ? "This is the only mistake"
                            : mistakes == 2 ? "These are both of the mistakes"
                                            : "These are all " + std::to_string(mistakes) + " mistakes";
  return which + (mistakes == 0 ? "." : " in " + std::to_string(sentences) + " sentences.");
}

void draw_lengths(Program& self, const std::vector<std::pair<std::string, const Lengths*>>& models,
                  bool unseen) {
  const bool one = models.size() == 1;
  std::string data = one ? "length,sentences,exact_match" : "length", plot;
  for (const auto& [name, lengths] : models) {
    if (one) continue;
    const auto column = std::to_string(std::count(data.begin(), data.end(), ',') + 2);
    data += "," + name;
    plot += (plot.empty() ? "plot '" : ", '") + std::string("by_length.csv' skip 1 using 1:") + column +
            " with linespoints lw 2 pt 7 title '" + name + "'";
  }
  for (const auto& [length, part] : models[0].second->each) {
    data += "\n" + std::to_string(length);
    if (one) data += "," + std::to_string(part.of);
    for (const auto& [name, lengths] : models) data += "," + short_number(lengths->each.at(length).value());
  }
  self.write("by_length.csv", data + "\n");
  self.plot("by_length",
            std::string("set datafile separator ','\nset title 'Exact translations of ") +
                (unseen ? "unseen sentences" : "the sentences learned from") +
                "'\nset xlabel 'characters of the source'\nset ylabel 'share'\nset yrange [0:1.05]\n" +
                (one ? std::string("set boxwidth 0.7\nset style fill solid\nunset key\n"
                                   "plot 'by_length.csv' skip 1 using 1:3 with boxes linecolor '#0072b2'\n")
                     : "set key below horizontal\n" + plot + "\n"));
}

}  // namespace program
