#include "examples/forms/tasks.h"

#include <heed.h>
#include <heed/files.h>

#include <algorithm>

#include "tensor/table.h"
#include "tensor/utf8.h"

namespace program {
namespace {

using namespace heed;

// `count` different numbers below `below` in random order, in each row: [batch, count].
Tensor different(int64_t batch, int64_t count, int64_t below) {
  return narrow(argsort(rand({batch, below}), 1), 1, 0, count);
}
Tensor filled_with(int64_t batch, int64_t length, int64_t id) { return full({batch, length}, id, int64); }

// A source, a separator and the answer without its last symbol. `answers` [batch, n] are asked for from the
// separator on.
TaskBatch after_separator(const Tensor& source, const Tensor& written, const Tensor& answers,
                          int64_t separator) {
  const int64_t B = source.size(0), n = source.size(1);
  return {cat({source, filled_with(B, 1, separator), narrow(written, 1, 0, n - 1)}, 1),
          cat({filled_with(B, n, kNotAsked), answers}, 1)};
}

constexpr int64_t kKeys = 24, kValues = 8;

// Pairs of a key and a value, then all keys in another order.
TaskBatch draw_recall(int64_t batch, int64_t pairs) {
  const Tensor keys = different(batch, pairs, kKeys), values = randint(0, kValues, {batch, pairs}),
               order = different(batch, pairs, pairs);
  return {cat({keys * kValues + values, gather(keys, 1, order) + kKeys * kValues}, 1),
          cat({filled_with(batch, pairs, kNotAsked), gather(values, 1, order)}, 1)};
}

constexpr int64_t kLetters = 16, kSorted = 32;

TaskBatch draw_copy(int64_t batch, int64_t n) {
  const Tensor source = randint(0, kLetters, {batch, n});
  return after_separator(source, source, source, kLetters);
}
TaskBatch draw_reverse(int64_t batch, int64_t n) {
  const Tensor source = randint(0, kLetters, {batch, n}), reversed = flip(source, {1});
  return after_separator(source, reversed, reversed, kLetters);
}
TaskBatch draw_sort(int64_t batch, int64_t n) {
  const Tensor source = different(batch, n, kSorted), places = argsort(source, 1);
  return after_separator(source, gather(source, 1, places), places, kSorted);
}

constexpr int64_t kCounted = 4, kMost = 12;

TaskBatch draw_count(int64_t batch, int64_t n) {
  const Tensor ids = randint(0, kCounted, {batch, n});
  const Tensor counts = sum(one_hot(ids, kCounted) * cumsum(one_hot(ids, kCounted), 1), -1);  // from 1 on
  return {ids, where(counts <= kMost, counts - 1, kNotAsked)};
}

constexpr int64_t kNoise = 6, kMarks = 2;

// Noise with two marks of value 0 or 1, and a question at the end.
TaskBatch draw_parity(int64_t batch, int64_t n) {
  const Tensor places = different(batch, kMarks, n), bits = randint(0, 2, {batch, kMarks});
  const Tensor ones = sum(bits, 1, true);
  const Tensor marked = scatter_add(zeros({batch, n}, int64), 1, places, bits + kNoise + 1);
  const Tensor ids = where(marked > 0, marked - 1, randint(0, kNoise, {batch, n}));
  return {cat({ids, filled_with(batch, 1, kNoise + 2)}, 1),
          cat({filled_with(batch, n, kNotAsked), to(ones == 1, int64)}, 1)};
}

// The text of the tour: its letters, and their numbers.
struct SmallText {
  std::string letters;
  std::vector<int64_t> ids;
};
const SmallText& small_text() {
  static const SmallText text = [] {
    const std::string all = read_bytes(std::string(HEED_SOURCE_DIR) + "/examples/tour/06_text.txt");
    SmallText made;
    made.letters = all;
    std::sort(made.letters.begin(), made.letters.end());
    made.letters.erase(std::unique(made.letters.begin(), made.letters.end()), made.letters.end());
    for (const char letter : all) made.ids.push_back(static_cast<int64_t>(made.letters.find(letter)));
    return made;
  }();
  return text;
}

// The next letter at each position. Tests are from the last quarter of the text.
TaskBatch draw_text(int64_t batch, int64_t n, bool test) {
  const SmallText& text = small_text();
  const int64_t all = std::ssize(text.ids), split = all * 3 / 4, first = test ? split : 0,
                end = test ? all : split;
  const Tensor starts = randint(first, end - n, {batch, 1}), places = starts + arange(n, int64);
  const Tensor ids = from_vector(text.ids, {all});
  return {ids[places], ids[places + 1]};
}

std::string letter_of(int64_t id) { return std::string(1, static_cast<char>('a' + id)); }

std::vector<Task> make_tasks() {
  const auto drawn = [](TaskBatch (*draw)(int64_t, int64_t)) {
    return [draw](int64_t batch, int64_t size, bool) { return draw(batch, size); };
  };
  const auto letter_or_bar = [](int64_t id) { return id == kLetters ? "|" : letter_of(id); };
  return {
      {.name = "recall",
       .sentence = "pairs of a key and a value, then each key: which value did it have?",
       .symbols = kKeys * (kValues + 1),
       .classes = kValues,
       .size = 16,
       .longer = kKeys,
       .layers = 1,
       .draw = drawn(draw_recall),
       .word =
           [](int64_t id) {
             const int64_t pairs = kKeys * kValues;
             return id < pairs ? letter_of(id / kValues) + std::to_string(id % kValues)
                               : letter_of(id - pairs);
           }},
      {.name = "copy",
       .sentence = "a span, then the same once more",
       .symbols = kLetters + 1,
       .classes = kLetters,
       .size = 12,
       .longer = 24,
       .layers = 2,
       .draw = drawn(draw_copy),
       .word = letter_or_bar},
      {.name = "sort",
       .sentence = "different numbers, then the same in order: where is the next?",
       .symbols = kSorted + 1,
       .classes = 0,
       .size = 12,
       .longer = 24,
       .layers = 2,
       .points = true,
       .draw = drawn(draw_sort),
       .word = [](int64_t id) { return id == kSorted ? "|" : std::to_string(id); }},
      {.name = "reverse",
       .sentence = "a span, then the same from its end",
       .symbols = kLetters + 1,
       .classes = kLetters,
       .size = 12,
       .longer = 24,
       .layers = 2,
       .draw = drawn(draw_reverse),
       .word = letter_or_bar},
      {.name = "count",
       .sentence = "how often has the symbol occurred so far?",
       .symbols = kCounted,
       .classes = kMost,
       .size = 24,
       .longer = 36,
       .layers = 1,
       .draw = drawn(draw_count),
       .word = letter_of},
      {.name = "parity",
       .sentence = "two marks of 0 or 1 far apart in noise: is their sum odd?",
       .symbols = kNoise + 3,
       .classes = 2,
       .size = 31,
       .longer = 63,
       .layers = 2,
       .draw = drawn(draw_parity),
       .word =
           [](int64_t id) {
             return id < kNoise ? letter_of(id) : id == kNoise + 2 ? "?" : std::to_string(id - kNoise);
           }},
      {.name = "text",
       .sentence = "the next letter of a small text",
       .symbols = std::ssize(small_text().letters),
       .classes = std::ssize(small_text().letters),
       .size = 32,
       .longer = 128,
       .layers = 2,
       .solved = 0.5,
       .draw = draw_text,
       .word = [](int64_t id) { return std::string(1, small_text().letters[static_cast<size_t>(id)]); }},
  };
}

}  // namespace

const std::vector<Task>& all_tasks() {
  static const std::vector<Task> tasks = make_tasks();
  return tasks;
}

const Task& find_task(const std::string& name) {
  std::vector<std::string> names;
  for (const Task& task : all_tasks()) {
    if (task.name == name) return task;
    names.push_back(task.name);
  }
  check(false, "--task is ", printable(name), "; it must be all, or some of ", detail::listed(names));
  return all_tasks().front();
}

}  // namespace program
