#include "examples/playground/expression.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "tensor/table.h"

namespace program {

using namespace heed;

namespace {

constexpr size_t kLongestText = 2000, kLongestList = 8;
constexpr int kDeepest = 40;  // parentheses, functions and signs inside each other

using FunctionOfOne = Tensor (*)(const Tensor&);
const std::map<std::string, FunctionOfOne>& functions_of_one() {
  static const std::map<std::string, FunctionOfOne> all = {
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"log", [](const Tensor& x) { return log(x); }},
      {"mean", [](const Tensor& x) { return mean(x); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"sin", [](const Tensor& x) { return sin(x); }},
      {"softmax", [](const Tensor& x) { return softmax(x, -1); }},
      {"sqrt", [](const Tensor& x) { return sqrt(x); }},
      {"sum", [](const Tensor& x) { return sum(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
  };
  return all;
}

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// A recursive-descent parser that computes what it reads:
//
//   statements   statement {(";" | line break) statement}
//   statement    [name "="] sum
//   sum          product {("+" | "-") product}
//   product      signed {("*" | "/") signed}
//   signed       "-" signed | power
//   power        value ["^" signed]
//   value        number | list | name | function "(" sum ")" | "(" sum ")"
class Parser {
 public:
  Parser(const std::string& text, const std::map<std::string, Tensor>& given, Tape* tape)
      : text_(text), given_(given), tape_(tape) {}

  Computed statements() {
    require(text_.size() <= kLongestText, "the text is longer than 2000 characters");
    do {
      while (next_is(";") || next_is("\n")) continue;
      if (at_end()) break;
      statement();
      require(at_end() || peek() == ';' || peek() == '\n', "unexpected " + shown());
    } while (!at_end());
    require(done_.result.defined(), "there is no formula");
    require(done_.result.dim() == 0, "the last result has " + std::to_string(done_.result.numel()) +
                                         " numbers; make one of them by sum or mean");
    return std::move(done_);
  }

 private:
  void statement() {
    const size_t begin = at_;
    if (begins_name(peek())) {
      const std::string name = word();
      if (next_is("=")) return assign(name);
      at_ = begin;
    }
    done_.result = sum_of_products();
  }
  void assign(const std::string& name) {
    require(!functions_of_one().contains(name), name + " is a function; choose another name");
    require(!done_.named.contains(name), name + " has a value already; choose another name");
    const size_t begin = at_;
    const Tensor literal = peek() == '[' || number_follows() ? list_or_number() : Tensor();
    if (literal.defined() && (at_end() || peek() == ';' || peek() == '\n')) {
      done_.result = leaf(name, literal);
      return;
    }
    at_ = begin;
    done_.result = done_.named[name] = sum_of_products();
    if (tape_ && done_.result.requires_grad()) tape_->name(name, done_.result);
  }
  // Whether a number begins here, perhaps after a sign.
  bool number_follows() {
    const size_t digit = at_ + (peek() == '-');
    return digit < text_.size() && (is_digit(text_[digit]) || text_[digit] == '.');
  }

  Tensor sum_of_products() {
    Tensor x = product();
    while (peek() == '+' || peek() == '-') {
      const size_t place = at_;
      const char sign = text_[at_++];
      const Tensor y = product();
      check_lengths(x, y, place);
      x = sign == '+' ? x + y : x - y;
    }
    return x;
  }
  Tensor product() {
    Tensor x = signed_power();
    while (peek() == '*' || peek() == '/') {
      const size_t place = at_;
      const char sign = text_[at_++];
      const Tensor y = signed_power();
      check_lengths(x, y, place);
      x = sign == '*' ? x * y : x / y;
    }
    return x;
  }
  Tensor signed_power() {
    const Deeper deeper(*this);
    if (next_is("-")) return -signed_power();
    const Tensor x = value();
    const size_t place = at_;
    if (!next_is("^")) return x;
    const Tensor y = signed_power();
    check_lengths(x, y, place);
    return pow(x, y);
  }
  Tensor value() {
    const char c = peek();
    if (is_digit(c) || c == '.' || c == '[') return list_or_number();
    if (begins_name(c)) return name_or_call();
    require(next_is("("), at_end() ? "a value is missing" : "unexpected " + shown());
    const Tensor x = sum_of_products();
    close(")");
    return x;
  }
  Tensor name_or_call() {
    const size_t begin = at_;
    const std::string name = word();
    const auto function = functions_of_one().find(name);
    if (!next_is("(")) {
      require(function == functions_of_one().end(), name + " is a function and needs parentheses", begin);
      const auto known = done_.named.find(name);
      return known != done_.named.end() ? known->second : leaf(name, full({}, start_value(), float64));
    }
    require(function != functions_of_one().end(),
            "there is no function " + name + "; there are " + heed::detail::listed(expression_functions()),
            begin);
    const Tensor x = sum_of_products();
    close(")");
    const bool needs_list = name == "softmax";
    require(!needs_list || x.dim() == 1, "softmax needs a list, such as [1, 2, 3]", begin);
    return function->second(x);
  }

  Tensor list_or_number() {
    if (!next_is("[")) return full({}, number(), float64);
    std::vector<double> numbers;
    do numbers.push_back(number());
    while (next_is(","));
    close("]");
    require(numbers.size() <= kLongestList, "a list has at most 8 numbers");
    return from_vector(numbers, {std::ssize(numbers)}, float64);
  }
  double number() {
    const double sign = next_is("-") ? -1 : 1;
    const size_t begin = at_;
    const auto digits = [&] {
      while (is_digit(here())) ++at_;
    };
    if (peek() == '.' || is_digit(peek())) digits();
    if (here() == '.') ++at_, digits();
    if ((here() == 'e' || here() == 'E') && at_ > begin) {
      ++at_;
      if (here() == '-' || here() == '+') ++at_;
      digits();
    }
    const std::string written = text_.substr(begin, at_ - begin);
    require(std::ranges::any_of(written, is_digit), "a number is missing", begin);
    return sign * std::strtod(written.c_str(), nullptr);
  }
  Tensor leaf(const std::string& name, const Tensor& value) {
    const auto found = given_.find(name);
    const Tensor x = clone(found == given_.end() ? value : found->second).requires_grad_();
    if (tape_) tape_->name(name, x);
    done_.leaves.push_back(name);
    return done_.named[name] = x;
  }
  double start_value() const {
    constexpr double kValues[] = {0.5, 2, -1, 1.5, -0.5, 1};
    return kValues[done_.leaves.size() % std::size(kValues)];
  }

  // The next character after blanks; 0 at the end.
  char peek() {
    while (here() == ' ' || here() == '\t' || here() == '\r') ++at_;
    return here();
  }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool at_end() { return peek() == '\0' && at_ >= text_.size(); }
  bool next_is(std::string_view symbol) {
    const bool is = peek() == symbol[0];
    at_ += is;
    return is;
  }
  std::string word() {
    const size_t begin = at_;
    while (begins_name(here()) || is_digit(here())) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void close(const std::string& bracket) { require(next_is(bracket), bracket + " is missing"); }
  std::string shown() const {
    const char c = here();
    return c == '\n' ? "line break" : c > ' ' && c < 127 ? std::string(1, c) : "character";
  }

  void check_lengths(const Tensor& x, const Tensor& y, size_t place) {
    require(x.dim() == 0 || y.dim() == 0 || x.numel() == y.numel(),
            "a list of " + std::to_string(x.numel()) + " numbers meets one of " + std::to_string(y.numel()),
            place);
  }
  void require(bool condition, const std::string& problem, std::optional<size_t> place = {}) const {
    check(condition, "position ", place.value_or(at_) + 1, ": ", problem);
  }

  // Counts how deep the formula is, since each level takes stack.
  struct Deeper {
    explicit Deeper(Parser& parser) : depth(parser.depth_) {
      parser.require(++depth <= kDeepest, "the formula is too deep");
    }
    ~Deeper() { --depth; }
    int& depth;
  };

  const std::string& text_;
  const std::map<std::string, Tensor>& given_;
  Tape* tape_;
  Computed done_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Computed compute(const std::string& text, const std::map<std::string, Tensor>& given, Tape* tape) {
  return Parser(text, given, tape).statements();
}

std::vector<std::string> expression_functions() {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions_of_one()) names.push_back(name);
  return names;
}

}  // namespace program
