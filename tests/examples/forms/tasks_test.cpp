#include "examples/forms/tasks.h"

#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"

#include <algorithm>

#include "tests/support/expect.h"

using namespace heed;
using TaskIds = std::vector<int64_t>;

namespace {

// The only sequence of a batch: what is read, and what is asked.
struct DrawnTask {
  explicit DrawnTask(const std::string& name, int64_t size) {
    const program::Task& task = program::find_task(name);
    const auto [inputs, answers] = task.draw(1, size, false);
    ids = flatten(inputs).to_vector<int64_t>();
    targets = flatten(answers).to_vector<int64_t>();
  }
  TaskIds ids, targets;
};

TaskIds part_of(const TaskIds& all, int64_t first, int64_t count) {
  return TaskIds(all.begin() + first, all.begin() + first + count);
}

}  // namespace

TEST_CASE("tasks: symbols and answers are in their ranges, at both lengths") {
  for (const program::Task& task : program::all_tasks()) {
    CAPTURE(task.name);
    for (const int64_t size : {task.size, task.longer, task.size / 2})
      for (const bool test : {false, true}) {
        const auto [ids, targets] = task.draw(8, size, test);
        CHECK(ids.shape() == targets.shape());
        CHECK(min(ids).item<int64_t>() >= 0);
        CHECK(max(ids).item<int64_t>() < task.symbols);
        const int64_t classes = task.points ? ids.size(1) : task.classes;
        CHECK(max(targets).item<int64_t>() < classes);
        CHECK(all(logical_or(targets >= 0, targets == program::kNotAsked)).item<bool>());
        for (const int64_t id : flatten(ids).to_vector<int64_t>()) CHECK(!task.word(id).empty());
      }
  }
  CHECK_ERROR_HAS(program::find_task("sum"), "--task is sum; it must be all, or some of recall");
}

TEST_CASE("tasks: recall asks for the value of each key") {
  const DrawnTask drawn("recall", 10);
  const program::Task& task = program::find_task("recall");
  for (int64_t i = 10; i < 20; ++i) {
    const std::string pair = task.word(drawn.ids[i]) + std::to_string(drawn.targets[i]);
    CAPTURE(pair);
    CHECK(std::count_if(drawn.ids.begin(), drawn.ids.begin() + 10,
                        [&](int64_t id) { return task.word(id) == pair; }) == 1);
  }
  CHECK(part_of(drawn.targets, 0, 10) == TaskIds(10, program::kNotAsked));
}

TEST_CASE("tasks: copy, reverse and sort ask for all symbols from the separator on") {
  for (const std::string name : {"copy", "reverse", "sort"}) {
    CAPTURE(name);
    const DrawnTask drawn(name, 6);
    REQUIRE(drawn.ids.size() == 12);
    TaskIds source = part_of(drawn.ids, 0, 6), answers = part_of(drawn.targets, 6, 6);
    if (name == "sort")
      for (int64_t& answer : answers) answer = source[answer];
    if (name == "reverse") std::reverse(source.begin(), source.end());
    if (name == "sort") std::sort(source.begin(), source.end());
    CHECK(answers == source);
    CHECK(part_of(drawn.ids, 7, 5) == part_of(answers, 0, 5));
  }
}

TEST_CASE("tasks: count, parity and text") {
  const DrawnTask count("count", 12);
  for (int64_t i = 0; i < 12; ++i)
    CHECK(count.targets[i] == std::count(count.ids.begin(), count.ids.begin() + i, count.ids[i]));

  const DrawnTask parity("parity", 20);
  const program::Task& task = program::find_task("parity");
  int64_t ones = 0, marks = 0;
  for (int64_t i = 0; i < 20; ++i) {
    const std::string word = task.word(parity.ids[i]);
    ones += word == "1";
    marks += word == "0" || word == "1";
  }
  CHECK(marks == 2);
  CHECK(task.word(parity.ids[20]) == "?");
  CHECK(parity.targets[20] == ones % 2);

  const DrawnTask text("text", 16);
  CHECK(part_of(text.ids, 1, 15) == part_of(text.targets, 0, 15));
}
