#include "tensor/free_functions.h"

#include "tests/support/compile.h"
#include "tests/support/expect.h"

TEST_CASE("operations as members are compile errors that name the free function") {
  const std::vector<std::pair<std::string, std::string>> members = {
      {"x.sum(0, true)", "sum(x, ...), not x.sum(...)"},
      {"x.sum({0, 1}, true)", "sum(x, ...), not x.sum(...)"},
      {"x.mean(0)", "mean(x, ...), not x.mean(...)"},
      {"x.max()", "max(x, ...), not x.max(...)"},
      {"x.argmax(-1)", "argmax(x, dim), not x.argmax(...)"},
      {"x.softmax(-1)", "softmax(x, dim), not x.softmax(...)"},
      {"x.matmul(x)", "matmul(x, y), not x.matmul(...)"},
      {"x.view({2, 3})", "view(x, {...}), not x.view(...)"},
      {"x.view(2, 3)", "view(x, {...}), not x.view(...)"},
      {"x.reshape({-1})", "reshape(x, {...}), not x.reshape(...)"},
      {"x.permute(1, 0)", "permute(x, {...}), not x.permute(...)"},
      {"x.transpose(0, 1)", "transpose(x, dim0, dim1), not x.transpose(...)"},
      {"x.t()", "t(x), not x.t(...)"},
      {"x.unsqueeze(0)", "unsqueeze(x, dim), not x.unsqueeze(...)"},
      {"x.to(float64)", "to(x, dtype), not x.to(...)"},
      {"x.exp()", "exp(x), not x.exp(...)"},
      {"x.add_(x)", "add_(x, y), not x.add_(...)"},
      {"weight.mean()", "mean(x, ...), not x.mean(...)"}};
  std::string source = "#include \"nn/parameter.h\"\nusing namespace heed;\n";
  source += "TensorImpl& impl(const Tensor& x) { return x.body(); }\n";
  for (const auto& [call, says] : members)
    source += "Tensor f" + std::to_string(source.size()) +
              "(const Tensor& x, const Parameter& weight) { return (void)x, (void)weight, " + call + "; }\n";
  const Texts errors = compile_errors(source);
  CHECK(occurrences(errors.at(0), "private") == 1);
  for (const auto& [call, says] : members) {
    CAPTURE(call);
    CHECK(std::ranges::any_of(errors, [text = "operations are free functions: " + says](const auto& error) {
      return contains(error, text);
    }));
  }
  CHECK(errors.size() >= members.size() - 2);  // and nothing but that; some calls have one message
  for (const std::string& error : errors)
    CHECK((contains(error, "private") || contains(error, "operations are free functions")));
}
