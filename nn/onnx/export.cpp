#include "nn/onnx/export.h"

#include <cassert>
#include <set>

#include "autograd/ops/shape.h"
#include "nn/files/file.h"
#include "nn/onnx/forms.h"
#include "nn/onnx/model.h"
#include "tensor/create.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/version.h"

namespace heed {
namespace onnx {
namespace {

using Ints = std::vector<int64_t>;

// A number in the first and in the second pass: a size, or a position.
struct Pair {
  int64_t a, b;
  bool fixed() const { return a == b; }
  int64_t growth() const { return b - a; }
  bool operator==(const Pair&) const = default;
};

std::string bytes_of(const Tensor& x) {
  const Tensor whole = kernel::contiguous(x);
  const TensorImpl& body = TensorImpl::of(whole);
  const int64_t size = size_of(x.dtype());
  return {reinterpret_cast<const char*>(body.storage->data) + body.offset * size,
          static_cast<size_t>(x.numel() * size)};
}

// The element that all elements are equal to.
std::optional<double> only_element(const Tensor& x) {
  const std::vector<double> values = x.to_vector();
  const bool same = !values.empty() && std::ranges::count(values, values[0]) == std::ssize(values);
  return same ? std::optional(values[0]) : std::nullopt;
}

// The difference of neighbors if the elements are first, first + step, ...
std::optional<double> only_step(const Tensor& x) {
  if (x.dim() != 1 || x.numel() < 2) return {};
  const std::vector<double> values = x.to_vector();
  const double step = values[1] - values[0];
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != values[0] + static_cast<double>(i) * step) return {};
  return step;
}

Attribute integer(std::string name, int64_t i) {
  return {.name = std::move(name), .type = AttributeType::i, .i = i};
}

// Builds a graph from two passes of one model. Numbers that differ between the passes are computed in the
// graph from the sizes of its values.
class Exporter {
 public:
  Exporter(const StateDict& state, int64_t opset) : opset_(opset) {
    for (const auto& [name, x] : state) parameters_.emplace(Traced(x).key, name);
  }
  void add_input(const std::string& name, const Traced& a, const Traced& b);
  void add_step(const Step& a, const Step& b);
  void add_output(const std::string& name, const Traced& a, const Traced& b);
  Model finish();

 private:
  [[noreturn]] void refuse(const auto&... what) const {
    fail("save_onnx: ", a_ ? a_->described() + ": " : "", what...);
  }

  // ---- values
  std::string node(const std::string& op_type, std::vector<std::string> inputs,
                   std::vector<Attribute> attributes = {});
  std::string constant(const Tensor& x, std::string name = "");
  std::string list(const Ints& x) { return constant(from_vector(x, {std::ssize(x)})); }
  std::string number(double x, DType dtype) {
    return constant(dtype == int64 ? full({}, static_cast<int64_t>(x), int64) : full({}, x, dtype));
  }
  std::string value(const Traced& a, const Traced& b);
  std::string check_cells(const std::string& name, const Tensor& x, const Tensor& other) const;
  std::string open_constant(const Tensor& a, const Tensor& b);
  void define(const std::string& name, const Traced& a, const Traced& b);
  // ---- sizes, as lists of int64
  std::string size(Pair x);
  std::string sizes(const Shape& a, const Shape& b, bool infers = false);
  SymbolicShape symbolic(const Shape& a, const Shape& b) const;
  // ---- forms
  std::string form(std::string_view text);
  std::string expression();
  std::string named(const std::string& name);
  Attribute attribute(const std::string& key);
  bool take(char c);
  std::string word();
  template <class T>
  const T& get(const char* name) const {
    return *a_->get<T>(name);
  }
  Pair input_size(int64_t d) const { return {a_->inputs[0].tensor.size(d), b_->inputs[0].tensor.size(d)}; }
  std::string position(Pair x, Pair end) {  // counted from the end where it is the same from there
    const bool from_end = !x.fixed() && x.growth() == end.growth();
    return size(from_end ? Pair{x.a - end.a, x.a - end.a} : x);
  }

  struct OpenSize {
    Pair size;
    std::string value;
    int64_t dim;
    std::string name;  // of an input's size
  };
  const int64_t opset_;
  Graph graph_{.name = "heed"};
  std::map<std::string, std::string> parameters_;         // names of the state dict by key
  std::map<std::string, std::string> names_a_, names_b_;  // of values by key, in each pass
  std::map<std::string, std::string> constants_;          // names by dtype, shape and bytes
  std::map<std::string, Tensor> initializers_;
  std::map<std::string, int64_t> counts_;  // of names
  std::vector<OpenSize> open_;
  std::map<std::string, int64_t> last_only_;  // the last step of an LSTM, the only one whose cells are known
  const Step *a_ = nullptr, *b_ = nullptr;
  std::string_view rest_;                           // of the form
  std::map<std::string, std::string> locals_ = {};  // names in the form
};

std::string Exporter::node(const std::string& op_type, std::vector<std::string> inputs,
                           std::vector<Attribute> attributes) {
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  if ((op_type == "Add" || op_type == "Mul") && (inputs.size() < 2 || inputs[0].empty()))
    return inputs.empty() ? "" : inputs.back();
  if (op_type == "Where" && inputs[0].empty()) return inputs[1];
  if (inputs.empty() || inputs[0].empty()) return "";
  const std::string name = op_type + "_" + std::to_string(counts_[op_type]++);
  const bool recurrent = op_type == "RNN" || op_type == "GRU" || op_type == "LSTM";
  std::vector<std::string> outputs{name};
  if (recurrent || op_type == "TopK") outputs.push_back(name + ".1");
  if (op_type == "LSTM") outputs.push_back(name + ".2");
  graph_.node.push_back({std::move(inputs), std::move(outputs), name, op_type, "", std::move(attributes)});
  return name;
}

std::string Exporter::constant(const Tensor& x, std::string name) {
  std::string& known = constants_[detail::text(x.dtype(), x.shape(), bytes_of(x), name)];
  if (!known.empty()) return known;
  if (name.empty()) name = "constant_" + std::to_string(counts_["constant"]++);
  initializers_.emplace(name, x);
  return known = name;
}

// Returns the name of states x [T, B, 2 H] of an LSTM, or of any other value. Throws if cells are needed that
// ONNX's LSTM does not give, those of other steps than the last.
std::string Exporter::check_cells(const std::string& name, const Tensor& x, const Tensor& other) const {
  const auto states = last_only_.find(name);
  if (states == last_only_.end() || (x.size(0) == 1 && other.size(0) == 1)) return name;
  const bool hidden = a_ && a_->name == "narrow" && get<int64_t>("dim") == 2 && get<int64_t>("start") == 0 &&
                      2 * a_->value.tensor.size(2) <= x.size(2);
  const bool last =
      a_ && a_->name == "select" && get<int64_t>("dim") == 0 && get<int64_t>("index") == states->second;
  if (!hidden && !last) refuse("ONNX's LSTM gives the cells of the last step only");
  return name;
}

// The name of a value that the graph has, or of a new constant.
std::string Exporter::value(const Traced& a, const Traced& b) {
  if (a.key.empty() && b.key.empty()) return "";
  const auto in_a = names_a_.find(a.key), in_b = names_b_.find(b.key);
  const bool known_a = in_a != names_a_.end(), known_b = in_b != names_b_.end();
  if (known_a && known_b && in_a->second == in_b->second)
    return check_cells(in_a->second, a.tensor, b.tensor);
  if (known_a || known_b || a.key.empty() || b.key.empty())
    refuse("it has another operand for the other inputs; a graph computes the same for all");
  std::string name;
  if (const auto parameter = parameters_.find(a.key); parameter != parameters_.end())
    name = constant(a.tensor, parameter->second);
  else if (a.tensor.dtype() != b.tensor.dtype() || a.tensor.dim() != b.tensor.dim())
    refuse("a constant is ", a.tensor.dtype(), " ", a.tensor.shape(), ", for the other inputs ",
           b.tensor.dtype(), " ", b.tensor.shape());
  else if (a.tensor.shape() == b.tensor.shape() && bytes_of(a.tensor) == bytes_of(b.tensor))
    name = constant(a.tensor);
  else
    name = open_constant(a.tensor, b.tensor);
  names_a_[a.key] = names_b_[b.key] = name;
  return name;
}

// One number in an open shape, an open size, or positions start, start + step, ... of an open number.
std::string Exporter::open_constant(const Tensor& a, const Tensor& b) {
  const std::optional<double> x = only_element(a), y = only_element(b), step = only_step(a);
  if (x && y && *x == *y) return node("Expand", {number(*x, a.dtype()), sizes(a.shape(), b.shape())});
  if (x && y && a.dtype() == int64) {
    const Pair pair{static_cast<int64_t>(*x), static_cast<int64_t>(*y)};
    return node("Expand", {node("Squeeze", {size(pair)}), sizes(a.shape(), b.shape())});
  }
  if (step && step == only_step(b) && a.to_vector()[0] == b.to_vector()[0]) {
    const std::string start = number(a.to_vector()[0], a.dtype()), by = number(*step, a.dtype());
    const Attribute to = integer("to", static_cast<int64_t>(element_type(a.dtype())));
    const std::string count = node("Cast", {node("Squeeze", {size({a.numel(), b.numel()})})}, {to});
    return node("Range", {start, node("Add", {start, node("Mul", {count, by})}), by});
  }
  refuse("a constant ", a.shape(), " has other values for the other inputs (", b.shape(),
         "); what depends on them must be computed by operations");
}

// Notes what a value is called, and where open sizes can be read.
void Exporter::define(const std::string& name, const Traced& a, const Traced& b) {
  names_a_[a.key] = names_b_[b.key] = name;
  const Shape &in_a = a.tensor.shape(), &in_b = b.tensor.shape();
  if (in_a.dim() != in_b.dim()) refuse("the result is ", in_a, ", for the other inputs ", in_b);
  for (int64_t d = 0; d < in_a.dim(); ++d) {
    const Pair pair{in_a[d], in_b[d]};
    if (!pair.fixed() && std::ranges::find(open_, pair, &OpenSize::size) == open_.end())
      open_.push_back({pair, name, d, ""});
  }
}

// k size + c of an open size, preferably of an operand.
std::string Exporter::size(Pair x) {
  if (x.fixed()) return list({x.a});
  std::vector<OpenSize> sources;
  for (size_t i = 0; a_ && i < a_->inputs.size(); ++i) {
    const auto name = names_a_.find(a_->inputs[i].key);
    if (name == names_a_.end()) continue;
    const Shape &in_a = a_->inputs[i].tensor.shape(), &in_b = b_->inputs[i].tensor.shape();
    for (int64_t d = 0; d < std::min(in_a.dim(), in_b.dim()); ++d)
      sources.push_back({{in_a[d], in_b[d]}, name->second, d, ""});
  }
  sources.insert(sources.end(), open_.begin(), open_.end());
  for (const bool exact : {true, false})
    for (const int64_t k : {1, 2})
      for (const OpenSize& s : sources) {
        const int64_t c = x.a - k * s.size.a;
        if (k * s.size.growth() != x.growth() || (exact && c != 0)) continue;
        std::string y = node("Shape", {s.value}, {integer("start", s.dim), integer("end", s.dim + 1)});
        if (k > 1) y = node("Mul", {y, list({k})});
        return c == 0 ? y : node("Add", {y, list({c})});
      }
  refuse("a size is ", x.a, ", for the other inputs ", x.b, ", and no operand has it");
}

// With `infers`, one size may be -1: one that no value has, if there is one.
std::string Exporter::sizes(const Shape& a, const Shape& b, bool infers) {
  int64_t inferred = -1;
  for (int64_t d = 0; d < a.dim() && infers && numel(a) > 0; ++d) {
    const Pair pair{a[d], b[d]};
    const bool seen = std::ranges::find(open_, pair, &OpenSize::size) != open_.end();
    if (!pair.fixed() && (inferred < 0 || !seen)) inferred = d;
  }
  Ints fixed;
  std::vector<std::string> parts;
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (d == inferred || a[d] == b[d]) fixed.push_back(d == inferred ? -1 : a[d]);
    const bool last = d + 1 == a.dim() || !(d + 1 == inferred || a[d + 1] == b[d + 1]);
    if (!fixed.empty() && last) parts.push_back(list(std::exchange(fixed, {})));
    if (d != inferred && a[d] != b[d]) parts.push_back(size({a[d], b[d]}));
  }
  if (parts.size() < 2) return parts.empty() ? list({}) : parts[0];
  return node("Concat", parts, {integer("axis", 0)});
}

SymbolicShape Exporter::symbolic(const Shape& a, const Shape& b) const {
  SymbolicShape shape;
  for (int64_t d = 0; d < a.dim(); ++d) {
    const auto open = std::ranges::find(open_, Pair{a[d], b[d]}, &OpenSize::size);
    if (a[d] == b[d])
      shape.push_back({.value = a[d]});
    else
      shape.push_back({.name = open == open_.end() ? "" : open->name});
  }
  return shape;
}

void Exporter::add_input(const std::string& name, const Traced& a, const Traced& b) {
  const size_t before = open_.size();
  define(name, a, b);
  for (size_t i = before; i < open_.size(); ++i) {
    open_[i].name = name + "_" + std::to_string(open_[i].dim);
    for (size_t j = 0; j < i; ++j)
      if (open_[i].size.growth() == open_[j].size.growth())
        refuse("the sizes ", open_[j].name, " and ", open_[i].name,
               " differ by the same number in x and `other`; ",
               "choose sizes by which they can be told apart");
  }
  graph_.input.push_back(
      {name, element_type(a.tensor.dtype()), symbolic(a.tensor.shape(), b.tensor.shape())});
}

void Exporter::add_output(const std::string& name, const Traced& a, const Traced& b) {
  a_ = b_ = nullptr;
  const std::string from = value(a, b);
  graph_.node.push_back({{from}, {name}, name, "Identity"});
  graph_.output.push_back(
      {name, element_type(a.tensor.dtype()), symbolic(a.tensor.shape(), b.tensor.shape())});
}

void Exporter::add_step(const Step& a, const Step& b) {
  a_ = &a, b_ = &b;
  // Operations that are made of others give the result of the last one.
  if (names_a_.contains(a.value.key) && names_b_.contains(b.value.key) && a.name != "bernoulli") return;
  locals_.clear();
  const std::string result = form(form_of(a, opset_));
  define(result, a.value, b.value);
  if (locals_.contains("indices"))
    define(locals_["indices"], get<Traced>("indices"), *b.get<Traced>("indices"));
  if (a.name == "recurrence" && get<std::string>("kind") == "lstm")
    last_only_[result] = get<std::string>("direction") == "reverse" ? 0 : a.value.tensor.size(0) - 1;
}

// Adds the nodes of a form, see forms.h, and returns its last value.
std::string Exporter::form(std::string_view text) {
  const std::string_view outer = std::exchange(rest_, text);
  std::string result;
  do {
    const std::string_view begin = rest_;
    const std::string name = word();
    const bool names = !name.empty() && take('=');
    if (!names) rest_ = begin;
    result = expression();
    if (names) locals_[name] = result;
  } while (take('|'));
  assert(rest_.empty());
  rest_ = outer;
  return result;
}

bool Exporter::take(char c) {
  while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  const bool found = rest_.starts_with(c);
  if (found) rest_.remove_prefix(1);
  return found;
}

// A name, a number, or "".
std::string Exporter::word() {
  take(' ');
  const auto part = [](char c) { return std::isalnum(c) || c == '_' || c == '$' || c == '-' || c == '.'; };
  const std::string found(rest_.begin(), std::ranges::find_if_not(rest_, part));
  rest_.remove_prefix(found.size());
  return found;
}

std::string Exporter::expression() {
  if (take('[')) {
    Ints numbers;
    do {
      numbers.push_back(std::stoll(word()));
    } while (take(','));
    take(']');
    return list(numbers);
  }
  const std::string name = word();
  if (!take('(')) return named(name);
  std::vector<std::string> inputs;
  std::vector<Attribute> attributes;
  do {
    if (rest_.starts_with("...")) {
      word();
      for (size_t i = 0; i < a_->inputs.size(); ++i)
        if (a_->inputs[i].tensor.shape() != Shape{0}) inputs.push_back(value(a_->inputs[i], b_->inputs[i]));
    } else {
      inputs.push_back(expression());
    }
  } while (take(','));
  if (take(';')) do {
      attributes.push_back(attribute(word()));
    } while (take(','));
  take(')');
  const std::string output = rest_.starts_with('.') ? word() : "";
  return node(name, std::move(inputs), std::move(attributes)) + output;
}

// The value of a number or a name: see forms.h. Integers of the operation become lists.
std::string Exporter::named(const std::string& name) {
  const std::vector<Traced>&in_a = a_->inputs, &in_b = b_->inputs;
  const Tensor& x = in_a[0].tensor;
  if (std::isdigit(name[0]) || name[0] == '-') return number(std::stod(name), x.dtype());
  const size_t dot = std::min(name.find('.'), name.size());
  if (const auto local = locals_.find(name.substr(0, dot)); local != locals_.end())
    return local->second.empty() ? "" : local->second + name.substr(dot);
  if (name[0] == '$') return form(form_of(name, *a_, opset_));
  if (const auto i = static_cast<size_t>(name[0] - 'a'); name.size() == 1 && i < in_a.size())
    return value(in_a[i], in_b[i]);
  if (name == "shape") return sizes(a_->value.tensor.shape(), b_->value.tensor.shape(), a_->name != "expand");
  if (name == "scores") {  // [Tq, Tk]
    const auto of = [](const Step& s) {
      return Shape{s.inputs[0].tensor.size(-2), s.inputs[1].tensor.size(-2)};
    };
    return sizes(of(*a_), of(*b_));
  }
  if (name == "gain")  // the weight of a norm, or ones
    return in_a[1].key.empty() ? constant(ones(get<Ints>("normalized_shape"), x.dtype()))
                               : value(in_a[1], in_b[1]);
  if (name == "start" || name == "end" || (name == "index" && a_->get<int64_t>(name))) {
    const Pair whole = input_size(get<int64_t>("dim"));
    const auto at = [&](const Step& s) {
      if (name != "end") return *s.get<int64_t>(name);
      return *s.get<int64_t>("start") + s.value.tensor.size(get<int64_t>("dim")) * *s.get<int64_t>("step");
    };
    const Pair place{at(*a_), at(*b_)};
    const bool to_end = name == "end" && !place.fixed() && place.a >= whole.a && place.b >= whole.b;
    return to_end ? list({INT64_MAX}) : position(place, whole);
  }
  if (name == "first") return list(Ints(get<Ints>("dims").size(), INT64_MIN));
  if (name == "last") return list(Ints(get<Ints>("dims").size(), -1));
  if (name == "behind") {  // the dimensions behind `dim`, of an index along it
    Ints dims;
    for (int64_t d = 1; d < x.dim() - get<int64_t>("dim"); ++d) dims.push_back(d);
    return list(dims);
  }
  if (name == "pads" && a_->name == "pad") {  // before and after each dimension, from the first
    const Ints& given = get<Ints>("pads");
    Ints pads(static_cast<size_t>(2 * x.dim()));
    for (size_t i = 0; i < given.size(); ++i)
      pads[static_cast<size_t>(x.dim()) * (i % 2 + 1) - 1 - i / 2] = given[i];
    return list(pads);
  }
  if (name == "filters") {  // [C k, 1, size, size]: one for each channel and position of a window
    const Ints& size = get<Ints>("kernel_shape");
    const int64_t k = size[0] * size[1];
    return constant(
        contiguous(reshape(expand(eye(k, k, x.dtype()), {x.size(1), k, k}), {-1, 1, size[0], size[1]})));
  }
  if (a_->name == "recurrence") {
    const int64_t H = get<int64_t>("hidden_size"), rows = x.size(2);
    if (name == "eye") return constant(eye(rows, rows, x.dtype()));
    if (name == "front") return list({rows, 0});
    if (name == "steps")
      return node("Range", {number(0, int64), node("Squeeze", {size(input_size(0))}), number(1, int64)});
    if (name == "gates") {  // ONNX has z, r, n and i, o, f, g
      const Ints order = rows == 3 * H ? Ints{1, 0, 2} : rows == 4 * H ? Ints{0, 3, 1, 2} : Ints{0};
      Ints all;
      for (const int64_t gate : order)
        for (int64_t i = 0; i < H; ++i) all.push_back(gate * H + i);
      return list(all);
    }
  }
  const TracedValue *from_a = a_->attribute(name), *from_b = b_->attribute(name);
  if (!from_a || !from_b) return "";
  if (const auto* tensor = std::get_if<Traced>(from_a)) return value(*tensor, std::get<Traced>(*from_b));
  if (const auto* whole = std::get_if<int64_t>(from_a)) return size({*whole, std::get<int64_t>(*from_b)});
  if (const auto* real = std::get_if<double>(from_a); real && *real == std::get<double>(*from_b))
    return number(*real, x.dtype());
  const auto* several = std::get_if<Ints>(from_a);
  if (!several || *several != std::get<Ints>(*from_b)) refuse(name, " is not the same for the other inputs");
  return list(*several);
}

// key, key=name, key=number or key='text'
Attribute Exporter::attribute(const std::string& key) {
  const std::string name = take('=') ? word() : key;
  Attribute y{.name = key, .type = AttributeType::i};
  if (take('\'')) {
    y.s = word();
    y.type = key == "activations" ? AttributeType::strings : AttributeType::s;
    if (key == "activations") y.strings = {y.s};
    take('\'');
  } else if (std::isdigit(name[0]) || name[0] == '-') {
    y.i = std::stoll(name);
  } else if (key == "to") {
    const DType result = a_->value.tensor.dtype();
    y.i = static_cast<int64_t>(name == "bool"    ? ElementType::boolean
                               : name == "int64" ? ElementType::int64
                               : name == "int32" ? ElementType::int32
                                                 : element_type(result));
  } else if (name == "channels") {
    y.i = a_->inputs[0].tensor.size(1);
  } else {
    const auto same = [](const TracedValue& u, const TracedValue& v) {
      return std::visit(
          [&]<class T>(const T& x) {
            if constexpr (std::is_same_v<T, Traced>)
              return false;
            else
              return std::get_if<T>(&v) && std::get<T>(v) == x;
          },
          u);
    };
    const TracedValue& value = *a_->attribute(name);
    if (!same(value, *b_->attribute(name))) refuse(name, " is not the same for the other inputs");
    if (const auto* yes = std::get_if<bool>(&value)) y.i = *yes ? 1 : 0;
    if (const auto* whole = std::get_if<int64_t>(&value)) y.i = *whole;
    if (const auto* real = std::get_if<double>(&value))
      y.f = static_cast<float>(*real), y.type = AttributeType::f;
    if (const auto* text = std::get_if<std::string>(&value)) y.s = *text, y.type = AttributeType::s;
    if (const auto* list = std::get_if<Ints>(&value)) {
      if (key == "axis")
        y.i = list->at(0);
      else
        y.ints = *list, y.type = AttributeType::ints;
    }
  }
  return y;
}

// The model without nodes and constants that no output needs.
Model Exporter::finish() {
  std::set<std::string> needed;
  std::vector<Node> nodes;
  for (const ValueInfo& output : graph_.output) needed.insert(output.name);
  for (auto node = graph_.node.rbegin(); node != graph_.node.rend(); ++node) {
    if (std::ranges::none_of(node->output, [&](const std::string& name) { return needed.contains(name); }))
      continue;
    needed.insert(node->input.begin(), node->input.end());
    nodes.push_back(std::move(*node));
  }
  graph_.node.assign(std::make_move_iterator(nodes.rbegin()), std::make_move_iterator(nodes.rend()));
  for (const auto& [name, x] : initializers_)
    if (needed.contains(name)) graph_.initializer.push_back({name, element_type(x.dtype()), x});
  return {.ir_version = 10,
          .producer_name = "heed",
          .producer_version = HEED_VERSION,
          .opset_import = {{"", opset_}},
          .graph = std::move(graph_)};
}

}  // namespace
}  // namespace onnx

void save_onnx(const std::string& path, const Module& model, const OnnxTensors& x,
               const std::function<OnnxTensors(const OnnxTensors&)>& forward, const OnnxOptions& options) {
  using onnx::Traced;
  check(options.opset >= 20 && options.opset <= 23, "save_onnx: opset is ", options.opset,
        "; it must be 20 to 23");
  check(options.other.empty() || options.other.size() == x.size(), "save_onnx: there are ", x.size(),
        " inputs, and ", options.other.size(), " in `other`");
  const NoGrad guard;
  const detail::EvaluationScope evaluation;
  OnnxTensors other = options.other;
  for (size_t i = 0; options.other.empty() && i < x.size(); ++i)
    other.push_back(reshape(flip(flatten(x[i]), {0}), x[i].shape()));
  const auto trace = [&](const OnnxTensors& in, OnnxTensors& out) {
    onnx::Trace all(options.opset);
    out = forward(in);
    return std::move(all.steps);
  };
  OnnxTensors y_a, y_b;
  const std::vector<onnx::Step> a = trace(x, y_a), b = trace(other, y_b);

  onnx::Exporter exporter(model.state_dict(), options.opset);
  const auto name = [](const std::vector<std::string>& names, const char* otherwise, size_t i, size_t count) {
    return i < names.size() ? names[i] : count == 1 ? otherwise : otherwise + std::to_string(i);
  };
  for (size_t i = 0; i < x.size(); ++i)
    exporter.add_input(name(options.inputs, "x", i, x.size()), Traced(x[i]), Traced(other[i]));
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size() || i >= b.size() || a[i].name != b[i].name ||
        a[i].inputs.size() != b[i].inputs.size()) {
      const auto text = [i](const std::vector<onnx::Step>& steps) {
        return i < steps.size() ? steps[i].described() : "nothing";
      };
      fail("save_onnx: the model computes ", text(a), ", and for the other inputs ", text(b),
           "; a graph has the same operations for all");
    }
    exporter.add_step(a[i], b[i]);
  }
  check(y_a.size() == y_b.size(), "save_onnx: the model gives ", y_a.size(),
        " tensors, and for the other inputs ", y_b.size());
  for (size_t i = 0; i < y_a.size(); ++i)
    exporter.add_output(name(options.outputs, "y", i, y_a.size()), Traced(y_a[i]), Traced(y_b[i]));
  write_file(path, onnx::encode(exporter.finish()));
}

}  // namespace heed
