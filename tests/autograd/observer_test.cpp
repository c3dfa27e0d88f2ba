#include "autograd/observer.h"

#include "autograd/ops/arithmetic.h"
#include "nn/layers/linear.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

// Writes down what it is told.
class Diary : public Observer {
 public:
  std::vector<std::string> lines;

 private:
  void on_begin(const OpScope& scope) override { lines.push_back(std::string("begin ") + scope.name); }
  void on_end(const OpScope& scope) override { lines.push_back(std::string("end ") + scope.name); }
  void on_result(const Operation& op, const Tensor& value) override {
    lines.push_back(std::string("result ") + op.name + " of " + std::to_string(op.inputs.size()) + " " +
                    to_string(value.shape()) + (op.recording ? "" : " unrecorded"));
    value * 2;  // what an observer computes is not observed
  }
  void on_recorded(const Operation& op, const Tensor&, Node&) override {
    lines.push_back(std::string("recorded ") + op.name);
  }
  void on_module_begin(const Module& module, const std::vector<Tensor>& inputs) override {
    lines.push_back("module " + module.type_name() + " of " + std::to_string(inputs.size()));
  }
  void on_module_end(const Module& module, const Tensor&) override {
    lines.push_back("end of " + module.type_name());
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("an observer sees operations from begin to end, recorded or not") {
  const Tensor x = leaf({1, 2});
  Diary diary;
  x * 2;
  CHECK(diary.lines == Lines{"begin mul", "result mul of 2 [2]", "recorded mul", "end mul"});
  diary.lines.clear();
  {
    const NoGrad guard;
    x * 2;
  }
  CHECK(diary.lines == Lines{"begin mul", "result mul of 2 [2] unrecorded", "end mul"});
}

TEST_CASE("an observer sees calls of modules") {
  const Linear linear(2, 3);
  const Tensor x = ones({1, 2});
  Diary diary;
  linear(x);
  REQUIRE(diary.lines.size() > 2);
  CHECK(diary.lines.front() == "module Linear of 1");
  CHECK(diary.lines.back() == "end of Linear");
}

TEST_CASE("observers end in any order") {
  const Tensor x = leaf(1);
  auto first = std::make_unique<Diary>(), second = std::make_unique<Diary>();
  CHECK(Observer::any());
  first.reset();
  x * 2;
  CHECK(second->lines.size() == 4);
  second.reset();
  CHECK_FALSE(Observer::any());
}
