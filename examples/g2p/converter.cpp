#include "examples/g2p/converter.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <ostream>

#include "nn/view/heat_map.h"
#include "nn/view/page.h"
#include "tensor/utf8.h"

using namespace heed;

namespace program {
namespace {

std::string picture_file(size_t word) { return "alignment_" + std::to_string(word) + ".svg"; }

// A word for messages, at most as long as a word may be.
std::string shortened(const std::string& word) {
  const std::string head = word.substr(0, 4 * kLongestWord);
  if (head.size() == word.size()) return printable(word);
  return printable(head.substr(0, valid_utf8(head))) + "…";
}

}  // namespace

std::vector<Translation> load_word_models(const Program& self, const G2pOptions& options) {
  const std::string retrain = "g2p train";
  std::vector<std::string> files = options.ensemble;
  if (files.empty()) files.push_back(g2p_model_file(self));
  std::vector<Translation> models;
  for (const std::string& file : files) {
    check(std::filesystem::exists(file), file, ": there is no model; ", retrain, " makes one");
    models.push_back(Translation::load(file, retrain));
    const std::string& kind = models.back().options().model;
    check(kind == "fed" || kind == "transformer", file, ": is a model of translate; ", retrain,
          " makes one for words");
  }
  return models;
}

void remove_pictures(Program& self) {
  for (size_t word = 1; std::filesystem::exists(self.out + "/" + picture_file(word)); ++word)
    self.remove(picture_file(word));
  self.remove("attention.html");
}

Converter::Converter(Program& self, const G2pOptions& options)
    : self_(self), options_(options), models_(load_word_models(self, options)) {
  if (options.alignment) remove_pictures(self);
}

void Converter::convert(const std::vector<std::string>& words) {
  const Translation& model = models_.front();
  std::vector<std::string> refusals(words.size());
  std::vector<Tokens> sources;
  for (size_t i = 0; i < words.size(); ++i) try {
      sources.push_back(known_letters(model, words[i]));
    } catch (const Error& error) {
      refusals[i] = error.what();
    }
  const auto found = pronounce(models_, sources, std::max(options_.beams, options_.n_best));

  std::ostream& text = self_.text();
  size_t next = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string row = "words." + std::to_string(converted_++);
    self_.result(row + ".word", shortened(words[i]));
    if (!refusals[i].empty()) {
      text << shortened(words[i]) << "\t# " << refusals[i] << "\n";
      self_.result(row + ".refused", refusals[i]);
      self_.fail_at_end();
      continue;
    }
    const std::vector<Answer>& answers = found[next];
    std::vector<std::string> best;
    for (size_t k = 0; k < answers.size() && std::ssize(best) < options_.n_best; ++k) {
      best.push_back(spaced(answers[k].tokens));
      text << words[i] << "\t" << best.back();
      if (options_.n_best > 1) text << "\t" << short_number(answers[k].score);
      text << "\n";
    }
    self_.result(row + ".phones", best);
    if (options_.alignment) show_alignment(row, words[i], sources[next], answers.front().tokens);
    ++next;
  }
  check(bool(text << std::flush), "standard output cannot be written");
}

void Converter::write_page() const {
  if (!maps_.empty()) self_.write_picture("attention.html", attention_page(maps_));
}

void Converter::show_alignment(const std::string& row, const std::string& word, const Tokens& letters,
                               const Tokens& phones) {
  const Translation& model = models_.front();
  const std::string title = word + " → " + spaced(phones);
  const AttentionMap map = model.alignment(letters, phones, title);
  self_.text() << attention_text(map, self_.colour() ? TextStyle::coloured : TextStyle::plain) << "\n";
  self_.result(row + ".made_from", made_from(map, phones));
  self_.write_picture(picture_file(++drawn_), attention_svg(map));
  std::ranges::move(model.attention(letters, phones, title), std::back_inserter(maps_));
}

}  // namespace program
