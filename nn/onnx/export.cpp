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

// first and step if the elements are first, first + step, ...
struct Progression {
  double first, step;
  bool operator==(const Progression&) const = default;
};
std::optional<Progression> progression(const Tensor& x) {
  const std::vector<double> values = x.to_vector();
  if (values.empty()) return {};
  const Progression p{values[0], values.size() > 1 ? values[1] - values[0] : 0};
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != p.first + static_cast<double>(i) * p.step) return {};
  return p;
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

  void add_input(const std::string& name, const Traced& a, const Traced& b) {
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
    graph_.input.push_back(info(name, a.tensor, b.tensor));
  }

  void add_step(const Step& a, const Step& b) {
    a_ = &a, b_ = &b;
    // Operations that are made of others give the result of the last one.
    if (names_a_.contains(a.value.key) && names_b_.contains(b.value.key) && a.name != "bernoulli") return;
    locals_.clear();
    const std::string_view text = form_of(a, opset_);
    if (text != form_of(b, opset_)) refuse("its attributes differ for the other inputs");
    const std::string result = form(text);
    define(result, a.value, b.value);
    if (locals_.contains("indices"))
      define(locals_["indices"], a.get<Traced>("indices"), b.get<Traced>("indices"));
    if (a.name == "recurrence" && a.get<std::string>("kind") == "lstm")
      last_only_[result] = a.get<std::string>("direction") == "reverse" ? 0 : a.value.tensor.size(0) - 1;
  }

  void add_output(const std::string& name, const Traced& a, const Traced& b) {
    a_ = b_ = nullptr;
    const std::string from = value(a, b);
    graph_.node.push_back({{from}, {name}, name, "Identity"});
    graph_.output.push_back(info(name, a.tensor, b.tensor));
  }

  // The model without nodes and constants that no output needs.
  Model finish() {
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

 private:
  [[noreturn]] void refuse(const auto&... what) const {
    fail("save_onnx: ", a_ ? a_->described() + ": " : "", what...);
  }

  // ---- values

  std::string node(const std::string& op_type, std::vector<std::string> inputs,
                   std::vector<Attribute> attributes = {}) {
    while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
    if ((op_type == "Add" || op_type == "Mul") && (inputs.size() < 2 || inputs[0].empty()))
      return inputs.empty() ? "" : inputs.back();
    if (op_type == "Where" && inputs[0].empty()) return inputs[1];
    if (inputs.empty() || inputs[0].empty()) return "";
    std::string name = op_type + "_" + std::to_string(counts_[op_type]++);
    const bool recurrent = op_type == "RNN" || op_type == "GRU" || op_type == "LSTM";
    std::vector<std::string> outputs{name};
    if (recurrent || op_type == "TopK") outputs.push_back(name + ".1");
    if (op_type == "LSTM") outputs.push_back(name + ".2");
    graph_.node.push_back({std::move(inputs), std::move(outputs), name, op_type, "", std::move(attributes)});
    return name;
  }

  std::string constant(const Tensor& x, std::string name = "") {
    std::string& known = constants_[detail::text(x.dtype(), x.shape(), raw_bytes(x), name)];
    if (!known.empty()) return known;
    if (name.empty()) name = "constant_" + std::to_string(counts_["constant"]++);
    initializers_.emplace(name, x);
    return known = name;
  }

  std::string list(const Ints& x) { return constant(from_vector(x, {std::ssize(x)})); }
  std::string number(double x, DType dtype) {
    return constant(dtype == int64 ? full({}, static_cast<int64_t>(x), int64) : full({}, x, dtype));
  }

  // The name of a value that the graph has, or of a new constant.
  std::string value(const Traced& a, const Traced& b) {
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
    else if (a.tensor.shape() == b.tensor.shape() && raw_bytes(a.tensor) == raw_bytes(b.tensor))
      name = constant(a.tensor);
    else
      name = open_constant(a.tensor, b.tensor);
    names_a_[a.key] = names_b_[b.key] = name;
    return name;
  }

  // Returns the name of states x [T, B, 2 H] of an LSTM, or of any other value. Throws if cells are needed
  // that ONNX's LSTM does not give, those of other steps than the last.
  std::string check_cells(const std::string& name, const Tensor& x, const Tensor& other) const {
    const auto states = last_only_.find(name);
    if (states == last_only_.end() || (x.size(0) == 1 && other.size(0) == 1)) return name;
    const bool hidden = a_ && a_->name == "narrow" && a_->get("dim") == 2 && a_->get("start") == 0 &&
                        2 * a_->value.tensor.size(2) <= x.size(2);
    const bool last = a_ && a_->name == "select" && a_->get("dim") == 0 && a_->get("index") == states->second;
    if (!hidden && !last) refuse("ONNX's LSTM gives the cells of the last step only");
    return name;
  }

  // A number or open size in an open shape, or positions start, start + step, ... of an open number.
  std::string open_constant(const Tensor& a, const Tensor& b) {
    const DType dtype = a.dtype();
    const std::optional<Progression> x = progression(a), y = progression(b);
    if (x && y && x->step == 0 && y->step == 0 && (*x == *y || dtype == int64)) {
      const Pair pair{static_cast<int64_t>(x->first), static_cast<int64_t>(y->first)};
      const std::string one = *x == *y ? number(x->first, dtype) : node("Squeeze", {size(pair)});
      return node("Expand", {one, sizes(a.shape(), b.shape())});
    }
    if (x && x == y && a.dim() == 1) {
      const std::string start = number(x->first, dtype), by = number(x->step, dtype);
      const Attribute to = integer("to", static_cast<int64_t>(element_type(dtype)));
      const std::string count = node("Cast", {node("Squeeze", {size({a.numel(), b.numel()})})}, {to});
      return node("Range", {start, node("Add", {start, node("Mul", {count, by})}), by});
    }
    refuse("a constant ", a.shape(), " has other values for the other inputs (", b.shape(),
           "); what depends on them must be computed by operations");
  }

  // Notes what a value is called, and where open sizes can be read.
  void define(const std::string& name, const Traced& a, const Traced& b) {
    names_a_[a.key] = names_b_[b.key] = name;
    const Shape &in_a = a.tensor.shape(), &in_b = b.tensor.shape();
    if (in_a.dim() != in_b.dim() || a.tensor.dtype() != b.tensor.dtype())
      refuse("a value is ", a.tensor.dtype(), " ", in_a, ", for the other inputs ", b.tensor.dtype(), " ",
             in_b);
    for (int64_t d = 0; d < in_a.dim(); ++d) {
      const Pair pair{in_a[d], in_b[d]};
      if (!pair.fixed() && std::ranges::find(open_, pair, &OpenSize::size) == open_.end())
        open_.push_back({pair, name, d, ""});
    }
  }

  // ---- sizes, as lists of int64

  // k size + c of an open size, preferably of an operand.
  std::string size(Pair x) {
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
  std::string sizes(const Shape& a, const Shape& b, bool infers = false) {
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
      const bool last = d + 1 == a.dim() || (d + 1 != inferred && a[d + 1] != b[d + 1]);
      if (!fixed.empty() && last) parts.push_back(list(std::exchange(fixed, {})));
      if (d != inferred && a[d] != b[d]) parts.push_back(size({a[d], b[d]}));
    }
    if (parts.size() < 2) return parts.empty() ? list({}) : parts[0];
    return node("Concat", parts, {integer("axis", 0)});
  }

  // An input or output; its sizes are numbers, or the names of sizes of inputs.
  ValueInfo info(const std::string& name, const Tensor& a, const Tensor& b) const {
    ValueInfo all{name, element_type(a.dtype()), SymbolicShape()};
    for (int64_t d = 0; d < a.dim(); ++d) {
      const Pair pair{a.size(d), b.size(d)};
      const auto open = std::ranges::find(open_, pair, &OpenSize::size);
      all.shape->push_back({pair.fixed() ? pair.a : -1, open == open_.end() ? "" : open->name});
    }
    return all;
  }

  // ---- forms

  // Adds the nodes of a form, see forms.h, and returns its last value.
  std::string form(std::string_view text) {
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

  std::string expression() {
    if (take('[')) {
      Ints numbers;
      for (; !take(']'); take(',')) numbers.push_back(std::stoll(word()));
      return list(numbers);
    }
    const std::string name = word();
    if (!take('(')) return named(name);
    std::vector<std::string> inputs;
    std::vector<Attribute> attributes;
    if (rest_.starts_with("...")) {  // all inputs, but not those that add nothing to any shape
      word();
      for (size_t i = 0; i < a_->inputs.size(); ++i)
        if (a_->inputs[i].tensor.shape() != Shape{0}) inputs.push_back(value(a_->inputs[i], b_->inputs[i]));
    }
    while (!rest_.starts_with(';') && !rest_.starts_with(')')) inputs.push_back(expression()), take(',');
    for (take(';'); !take(')'); take(',')) attributes.push_back(attribute(word()));
    const std::string output = rest_.starts_with('.') ? word() : "";
    return node(name, std::move(inputs), std::move(attributes)) + output;
  }

  // The value of a number or a name: see forms.h. Integers of the operation become lists.
  std::string named(const std::string& name) {
    const Step &a = *a_, &b = *b_;
    const Tensor& x = a.inputs[0].tensor;
    const auto is = [&](const char* text) { return name == text; };
    if (std::isdigit(name[0]) || name[0] == '-') return number(std::stod(name), x.dtype());
    const size_t dot = std::min(name.find('.'), name.size());
    if (const auto local = locals_.find(name.substr(0, dot)); local != locals_.end())
      return local->second.empty() ? "" : local->second + name.substr(dot);
    if (name[0] == '$') return form(form_of(name, a, opset_));
    if (const auto i = static_cast<size_t>(name[0] - 'a'); name.size() == 1 && i < a.inputs.size())
      return value(a.inputs[i], b.inputs[i]);
    if (is("shape")) return sizes(a.value.tensor.shape(), b.value.tensor.shape(), a.name != "expand");
    if (is("scores")) {  // [Tq, Tk]
      const auto of = [](const Step& s) {
        return Shape{s.inputs[0].tensor.size(-2), s.inputs[1].tensor.size(-2)};
      };
      return sizes(of(a), of(b));
    }
    if (is("start") || is("end") || (is("index") && a.find<int64_t>(name))) {
      const int64_t dim = a.get("dim");
      const Pair size_there = both([&](const Step& s) { return s.inputs[0].tensor.size(dim); });
      Pair place = both([&](const Step& s) {
        return is("end") ? s.get("start") + s.value.tensor.size(dim) * s.get("step") : s.get(name);
      });
      if (is("end") && !place.fixed() && place.a >= size_there.a && place.b >= size_there.b)
        return list({INT64_MAX});
      if (!place.fixed() && place.growth() == size_there.growth())  // it is the same from the end
        place.a = place.b = place.a - size_there.a;
      return size(place);
    }
    if (is("gain"))  // the weight of a norm, or ones
      return a.inputs[1].key.empty() ? constant(ones(a.get<Ints>("normalized_shape"), x.dtype()))
                                     : named("b");
    if (is("normalized")) {  // the last dimensions
      Ints dims;
      for (int64_t d = -std::ssize(a.get<Ints>("normalized_shape")); d < 0; ++d) dims.push_back(d);
      return list(dims);
    }
    if (is("first")) return list(Ints(a.get<Ints>("dims").size(), INT64_MIN));
    if (is("last")) return list(Ints(a.get<Ints>("dims").size(), -1));
    if (is("behind")) {  // the dimensions behind `dim`, for an index along it
      Ints dims;
      for (int64_t d = 1; d < x.dim() - a.get("dim"); ++d) dims.push_back(d);
      return list(dims);
    }
    if (is("pads")) {  // before and after each dimension, from the first; those of heed from the last
      const Ints& given = a.get<Ints>("pads");
      Ints pads(static_cast<size_t>(2 * x.dim()));
      for (size_t i = 0; i < given.size(); ++i) pads[pads.size() / 2 * (i % 2 + 1) - 1 - i / 2] = given[i];
      return list(pads);
    }
    if (is("filters")) {  // [C k, 1, size, size]: one for each channel and position of a window
      const Ints& window = a.get<Ints>("kernel_shape");
      const Tensor each = eye(window[0] * window[1], -1, x.dtype());
      return constant(reshape(expand(each, {x.size(1), -1, -1}), {-1, 1, window[0], window[1]}));
    }
    if (is("eye")) return constant(eye(x.size(2), -1, x.dtype()));
    if (is("front")) return list({x.size(2), 0});
    if (is("steps")) {
      const Pair count = both([](const Step& s) { return s.inputs[0].tensor.size(0); });
      return node("Range", {number(0, int64), node("Squeeze", {size(count)}), number(1, int64)});
    }
    if (is("gates")) {  // ONNX has z, r, n and i, o, f, g
      const int64_t H = a.get("hidden_size"), count = x.size(2) / H;
      Ints rows;
      for (const int64_t gate : count == 3 ? Ints{1, 0, 2} : count == 4 ? Ints{0, 3, 1, 2} : Ints{0})
        for (int64_t i = 0; i < H; ++i) rows.push_back(gate * H + i);
      return list(rows);
    }
    const TracedValue* held = a.attribute(name);
    if (!held && name.size() == 1) return "";  // an operand that is not given
    if (!held) refuse("it has no ", name);
    if (const auto* tensor = std::get_if<Traced>(held)) return value(*tensor, b.get<Traced>(name));
    if (std::get_if<int64_t>(held)) return size(both([&](const Step& s) { return s.get(name); }));
    const Attribute fixed = attribute(name);
    return fixed.type == AttributeType::f ? number(a.get<double>(name), x.dtype()) : list(fixed.ints);
  }

  // key, key=name, key=number or key='text'
  Attribute attribute(const std::string& key) {
    const std::string name = take('=') ? word() : key;
    if (take('\'')) {
      const std::string text = word();
      take('\'');
      if (key == "activations") return {.name = key, .type = AttributeType::strings, .strings = {text}};
      return {.name = key, .type = AttributeType::s, .s = text};
    }
    if (std::isdigit(name[0]) || name[0] == '-') return integer(key, std::stoll(name));
    if (name == "normalized") return integer(key, -std::ssize(a_->get<Ints>("normalized_shape")));
    if (name == "channels") return integer(key, a_->inputs[0].tensor.size(1));
    if (key == "to")
      return integer(key, static_cast<int64_t>(name == "bool"    ? ElementType::boolean
                                               : name == "int64" ? ElementType::int64
                                               : name == "int32" ? ElementType::int32
                                                                 : element_type(a_->value.tensor.dtype())));
    const TracedValue *held = a_->attribute(name), *other = b_->attribute(name);
    if (!held || !other || held->index() != other->index()) refuse("it has no ", name);
    const auto convert = [&]<class T>(const T& x) -> Attribute {
      if constexpr (!std::is_same_v<T, Traced>)
        if (x != std::get<T>(*other)) refuse(name, " is not the same for the other inputs");
      if constexpr (std::is_same_v<T, int64_t>) return integer(key, x);
      if constexpr (std::is_same_v<T, double>)
        return {.name = key, .type = AttributeType::f, .f = static_cast<float>(x)};
      if constexpr (std::is_same_v<T, std::string>) return {.name = key, .type = AttributeType::s, .s = x};
      if constexpr (std::is_same_v<T, Ints>) {
        if (key == "axis") return integer(key, x.at(0));
        return {.name = key, .type = AttributeType::ints, .ints = x};
      }
      refuse(name, " is a tensor");
    };
    return std::visit(convert, *held);
  }

  bool take(char c) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    const bool found = rest_.starts_with(c);
    if (found) rest_.remove_prefix(1);
    return found;
  }

  // A name, a number, or "".
  std::string word() {
    take(' ');
    const auto part = [](char c) { return std::isalnum(c) || c == '_' || c == '$' || c == '-' || c == '.'; };
    std::string found(rest_.begin(), std::ranges::find_if_not(rest_, part));
    rest_.remove_prefix(found.size());
    return found;
  }

  // f of both passes
  Pair both(const auto& f) const { return {f(*a_), f(*b_)}; }

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

  const StateDict state = model.state_dict();
  onnx::Exporter exporter(state, options.opset);
  const auto name = [&](const std::vector<std::string>& names, std::string text, size_t i, size_t count) {
    if (count > 1) text += std::to_string(i);
    if (i < names.size()) text = names[i];
    check(!state.contains(text), "save_onnx: ", text,
          " is a parameter and an input or output; rename the latter");
    return text;
  };
  for (size_t i = 0; i < x.size(); ++i)
    exporter.add_input(name(options.inputs, "x", i, x.size()), Traced(x[i]), Traced(other[i]));
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto text = [i](const auto& steps) { return i < steps.size() ? steps[i].described() : "nothing"; };
    const bool same =
        i < a.size() && i < b.size() && a[i].name == b[i].name && a[i].inputs.size() == b[i].inputs.size();
    check(same, "save_onnx: the model computes ", text(a), ", and for the other inputs ", text(b),
          "; a graph has the same operations for all");
    exporter.add_step(a[i], b[i]);
  }
  check(y_a.size() == y_b.size(), "save_onnx: the model gives ", y_a.size(),
        " tensors, and for the other inputs ", y_b.size());
  for (size_t i = 0; i < y_a.size(); ++i)
    exporter.add_output(name(options.outputs, "y", i, y_a.size()), Traced(y_a[i]), Traced(y_b[i]));
  onnx::Model file = exporter.finish();
  file.metadata_props = options.metadata;
  write_file(path, onnx::encode(file));
}

}  // namespace heed
