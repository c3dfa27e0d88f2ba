#include "nn/onnx/export.h"

#include <set>

#include "autograd/ops/shape.h"
#include "nn/files/file.h"
#include "nn/onnx/forms.h"
#include "nn/onnx/model.h"
#include "tensor/create.h"
#include "tensor/version.h"

namespace heed {
namespace onnx {
namespace {

using Ints = std::vector<int64_t>;

// A size or position in the first and in the second pass.
struct Pair {
  int64_t a, b;
  int64_t growth() const { return b - a; }
  auto operator<=>(const Pair&) const = default;
};

// Where a graph finds a size that differs between the passes.
struct Source {
  std::string value;
  int64_t dim;
  std::string name = {};  // of an input's size
};
using OpenSizes = std::map<Pair, Source>;

// Whether the values are first, first + step, ...
bool progresses(const std::vector<double>& values, double first, double step) {
  return std::ranges::all_of(values, [&, i = 0](double x) mutable { return x == first + step * i++; });
}

Attribute integer(const std::string& name, int64_t i) {
  return {.name = name, .type = AttributeType::i, .i = i};
}

// Builds a graph from two passes of one model. Numbers that differ between the passes are computed in the
// graph from the sizes of its values.
class Exporter {
 public:
  Exporter(const StateDict& state, int64_t opset) : opset_(opset), initializers_(state) {
    for (const auto& [name, x] : state) names_a_.emplace(Traced(x).key, name);
    names_b_ = names_a_;
  }

  void add_input(const std::string& name, const Traced& a, const Traced& b) {
    define(name, a, b);
    for (auto& [size, source] : open_) {
      if (source.value == name) source.name = name + "_" + std::to_string(source.dim);
      for (const auto& [other, known] : open_)
        if (other < size && other.growth() == size.growth())
          refuse("the sizes ", known.name, " and ", source.name,
                 " differ by the same number in x and `other`; choose sizes by which they can be told apart");
    }
    graph_.input.push_back(info(name, a.tensor, b.tensor));
  }

  void add_step(const Step& a, const Step& b) {
    a_ = &a;
    b_ = &b;
    // Operations that are made of others give the result of the last one.
    const bool known = !names_a_[a.value.key].empty() && !names_b_[b.value.key].empty();
    if (known && a.name != "bernoulli") return;
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
    graph_.node.push_back({{value(a, b)}, {name}, name, "Identity"});
    graph_.output.push_back(info(name, a.tensor, b.tensor));
  }

  // The model without nodes and constants that no output needs.
  Model finish() {
    std::set<std::string> needed;
    const auto is_needed = [&](const std::string& name) { return needed.contains(name); };
    for (const ValueInfo& output : graph_.output) needed.insert(output.name);
    for (auto node = graph_.node.rbegin(); node != graph_.node.rend(); ++node)
      if (std::ranges::any_of(node->output, is_needed))
        needed.insert(node->input.begin(), node->input.end());
      else
        node->output.clear();
    std::erase_if(graph_.node, [](const Node& node) { return node.output.empty(); });
    for (const auto& [name, x] : initializers_)
      if (is_needed(name)) graph_.initializer.push_back({name, element_type(x.dtype()), x});
    return {.ir_version = 10,
            .producer_name = "heed",
            .producer_version = HEED_VERSION,
            .opset_import = {{"", opset_}},
            .graph = std::move(graph_)};
  }

 private:
  using Names = std::map<std::string, std::string>;

  [[noreturn]] void refuse(const auto&... what) const {
    fail("save_onnx: ", a_ ? a_->described() + ": " : "", what...);
  }

  // ---- values

  // Adds a node and returns the name of its first output. See forms.h for operands that are not given.
  std::string node(const std::string& op_type, std::vector<std::string> inputs,
                   std::vector<Attribute> attributes = {}) {
    while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
    const bool passes = op_type == "Add" || op_type == "Mul" || op_type == "Where";
    if (inputs.empty() || inputs[0].empty()) return passes && inputs.size() > 1 ? inputs[1] : "";
    if (passes && inputs.size() == 1) return inputs[0];
    static const std::map<std::string, size_t> outputs = {{"TopK", 2}, {"RNN", 2}, {"GRU", 2}, {"LSTM", 3}};
    std::string name = op_type + "_" + std::to_string(graph_.node.size());
    Node y{std::move(inputs), {name}, name, op_type, "", std::move(attributes)};
    for (size_t i = 1; outputs.contains(op_type) && i < outputs.at(op_type); ++i)
      y.output.push_back(name + "." + std::to_string(i));
    graph_.node.push_back(std::move(y));
    return name;
  }

  std::string constant(const Tensor& x) {
    std::string& name = constants_[detail::text(x.dtype(), x.shape(), raw_bytes(x))];
    if (name.empty()) name = "constant_" + std::to_string(constants_.size() - 1);
    initializers_.emplace(name, x);
    return name;
  }
  std::string list(const Ints& x) { return constant(from_vector(x, {std::ssize(x)})); }
  std::string number(double x, DType dtype) { return constant(to(full({}, x, float64), dtype)); }

  // The name of a value that the graph has, or of a new constant.
  std::string value(const Traced& a, const Traced& b) {
    if (a.key.empty() && b.key.empty()) return "";
    const std::string& name = names_a_[a.key];
    if (name != names_b_[b.key] || a.key.empty() || b.key.empty())
      refuse("it has another operand for the other inputs; a graph computes the same for all");
    const Tensor &x = a.tensor, &y = b.tensor;
    check_cells(name, x, y);
    if (!name.empty()) return name;
    const bool same = x.dtype() == y.dtype() && x.shape() == y.shape() && raw_bytes(x) == raw_bytes(y);
    return same ? constant(x) : open_constant(x, y);
  }

  // Throws if the value is the states x [T, B, 2 H] of an LSTM, and cells are needed that ONNX's LSTM does
  // not give, those of other steps than the last.
  void check_cells(const std::string& name, const Tensor& x, const Tensor& other) const {
    const auto states = last_only_.find(name);
    if (states == last_only_.end() || (x.size(0) == 1 && other.size(0) == 1)) return;
    const bool hidden = a_ && a_->name == "narrow" && a_->get("dim") == 2 && a_->get("start") == 0 &&
                        2 * a_->value.tensor.size(2) <= x.size(2);
    const bool last = a_ && a_->name == "select" && a_->get("dim") == 0 && a_->get("index") == states->second;
    if (!hidden && !last) refuse("ONNX's LSTM gives the cells of the last step only");
  }

  // A number or open size in an open shape, or first, first + step, ... of an open number.
  std::string open_constant(const Tensor& a, const Tensor& b) {
    const DType dtype = a.dtype();
    const std::vector<double> x = a.to_vector(), y = b.to_vector();
    if (dtype == b.dtype() && a.dim() == b.dim() && !x.empty() && !y.empty()) {
      const double first = x[0], step = x.size() > 1 ? x[1] - first : 0;
      const auto in_shape = [&](const std::string& each) {
        return node("Expand", {each, sizes(a.shape(), b.shape())});
      };
      const bool same = progresses(x, first, step) && progresses(y, first, step);
      if (same && step == 0) return in_shape(number(first, dtype));
      if (same && a.dim() == 1 && dtype != boolean)
        return node(
            "Add", {node("CumSum", {in_shape(number(step, dtype)), list({0})}), number(first - step, dtype)});
      if (dtype == int64 && progresses(x, first, 0) && progresses(y, y[0], 0))
        return in_shape(node("Squeeze", {size({static_cast<int64_t>(first), static_cast<int64_t>(y[0])})}));
    }
    refuse("a constant ", a.shape(), " has other values for the other inputs (", b.shape(),
           "); what depends on them must be computed by operations");
  }

  // Notes what a value is called, and where open sizes can be read.
  void define(const std::string& name, const Traced& a, const Traced& b) {
    names_a_[a.key] = names_b_[b.key] = name;
    const Tensor &x = a.tensor, &y = b.tensor;
    if (x.dim() != y.dim() || x.dtype() != y.dtype())
      refuse("a value is ", x.dtype(), " ", x.shape(), ", for the other inputs ", y.dtype(), " ", y.shape());
    add_sizes(open_, name, x, y);
  }

  // ---- sizes, as lists of int64

  // Adds the sizes of a value that differ between the passes, unless others are the same.
  static void add_sizes(OpenSizes& all, const std::string& name, const Tensor& a, const Tensor& b) {
    for (int64_t d = 0; d < std::min(a.dim(), b.dim()); ++d)
      if (a.size(d) != b.size(d)) all.try_emplace({a.size(d), b.size(d)}, Source{name, d});
  }

  // k size + c of an open size, preferably that along the operation's dimension, or of an operand.
  std::string size(Pair x) {
    if (x.growth() == 0) return list({x.a});
    OpenSizes sources;
    for (size_t i = 0; a_ && i < a_->inputs.size(); ++i)
      if (const std::string& name = names_a_[a_->inputs[i].key]; !name.empty())
        add_sizes(sources, name, a_->inputs[i].tensor, b_->inputs[i].tensor);
    sources.insert(open_.begin(), open_.end());
    const auto* dim = a_ ? a_->find<int64_t>("dim") : nullptr;
    const Pair along = dim ? Pair{a_->inputs[0].tensor.size(*dim), b_->inputs[0].tensor.size(*dim)} : x;
    for (const bool exact : {true, false})
      for (const int64_t k : {1, 2})
        for (const auto& [size, source] : sources) {
          const int64_t c = x.a - k * size.a;
          if (k * size.growth() != x.growth() || (exact && c != 0 && size != along)) continue;
          std::string y =
              node("Shape", {source.value}, {integer("start", source.dim), integer("end", source.dim + 1)});
          if (k > 1) y = node("Mul", {y, list({k})});
          return c == 0 ? y : node("Add", {y, list({c})});
        }
    refuse("a size is ", x.a, ", for the other inputs ", x.b, ", and no operand has it");
  }

  std::string sizes(const auto& a, const auto& b) {
    if (std::ranges::equal(a, b)) return list({a.begin(), a.end()});
    std::vector<std::string> parts;
    std::ranges::transform(a, b, std::back_inserter(parts), [&](int64_t x, int64_t y) {
      return size({x, y});
    });
    return node("Concat", parts, {integer("axis", 0)});
  }

  // The sizes of a result. One is -1, to be inferred: one that no value has, if there is one.
  std::string inferred(Ints a, Ints b) {
    std::optional<size_t> open;
    for (size_t i = 0; i < a.size() && std::ranges::count(a, 0) == 0; ++i)
      if (a[i] != b[i] && (!open || !open_.contains({a[i], b[i]}))) open = i;
    if (open) a[*open] = b[*open] = -1;
    return sizes(a, b);
  }

  // An input or output; its sizes are numbers, or the names of sizes of inputs.
  ValueInfo info(const std::string& name, const Tensor& a, const Tensor& b) const {
    if (initializers_.contains(name))
      refuse(name, " is a parameter and an input or output; rename the latter");
    ValueInfo all{name, element_type(a.dtype()), SymbolicShape()};
    for (int64_t d = 0; d < a.dim(); ++d) {
      const auto open = open_.find({a.size(d), b.size(d)});
      all.shape->push_back(
          {a.size(d) == b.size(d) ? a.size(d) : -1, open == open_.end() ? "" : open->second.name});
    }
    return all;
  }

  // ---- forms

  // Adds the nodes of a form, see forms.h, and returns its last value.
  std::string form(std::string_view text) {
    const std::string_view outer = std::exchange(rest_, text);
    std::string result;
    do result = expression();
    while (take('|'));
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
    if (take('=')) return locals_[name] = expression();
    if (!take('(')) return named(name);
    std::vector<std::string> inputs;
    std::vector<Attribute> attributes;
    if (rest_.starts_with("...")) {
      word();
      for (size_t i = 0; i < a_->inputs.size(); ++i)  // but not those that add nothing to any shape
        if (a_->inputs[i].tensor.shape() != Shape{0}) inputs.push_back(value(a_->inputs[i], b_->inputs[i]));
    }
    for (; !rest_.starts_with(';') && !rest_.starts_with(')'); take(',')) inputs.push_back(expression());
    for (take(';'); !take(')'); take(',')) attributes.push_back(attribute(word()));
    const std::string output = rest_.starts_with('.') ? word() : "";
    return node(name, std::move(inputs), std::move(attributes)) + output;
  }

  // The value of a number or a name: see forms.h.
  std::string named(const std::string& name) {
    const DType dtype = a_->inputs[0].tensor.dtype();
    const size_t dot = std::min(name.find('.'), name.size());
    if (const auto local = locals_.find(name.substr(0, dot)); local != locals_.end())
      return local->second.empty() ? "" : local->second + name.substr(dot);
    if (std::isdigit(name[0]) || name[0] == '-') return number(std::stod(name), dtype);
    if (name[0] == '$') return form(form_of(*a_, opset_, name));
    if (const auto i = static_cast<size_t>(name[0] - 'a'); name.size() == 1 && !a_->attribute(name))
      return i < a_->inputs.size() ? value(a_->inputs[i], b_->inputs[i]) : "";
    const TracedValue x = argument(name, *a_), y = argument(name, *b_);
    if (const auto* i = std::get_if<int64_t>(&x)) return size({*i, std::get<int64_t>(y)});
    if (const auto* tensor = std::get_if<Traced>(&x)) return value(*tensor, std::get<Traced>(y));
    if (std::get_if<double>(&x)) return number(std::get<double>(fixed(name)), dtype);
    const auto &in_a = std::get<Ints>(x), &in_b = std::get<Ints>(y);
    return name == "shape" ? inferred(in_a, in_b) : sizes(in_a, in_b);
  }

  // The argument with this name, which must be the same in both passes.
  TracedValue fixed(const std::string& name) const {
    TracedValue x = argument(name, *a_);
    if (x != argument(name, *b_)) refuse(name, " is not the same for the other inputs");
    return x;
  }

  // key or key=argument
  Attribute attribute(const std::string& key) {
    const TracedValue x = fixed(take('=') ? word() : key);
    using enum AttributeType;
    constexpr AttributeType types[] = {i, f, s, ints};  // in the order of TracedValue
    Attribute y{.name = key, .type = types[x.index()]};
    if (const auto* integer = std::get_if<int64_t>(&x)) y.i = *integer;
    if (const auto* real = std::get_if<double>(&x)) y.f = static_cast<float>(*real);
    if (const auto* text = std::get_if<std::string>(&x)) y.s = *text;
    if (const auto* list = std::get_if<Ints>(&x)) y.ints = *list;
    if (key == "activations") return {.name = key, .type = strings, .strings = {y.s}};
    return y;
  }

  bool take(char c) {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    const bool found = rest_.starts_with(c);
    if (found) rest_.remove_prefix(1);
    return found;
  }

  // A name, a number, a text, or "".
  std::string word() {
    take(' ');
    const auto part = [](char c) {
      return std::isalnum(c) || std::string_view("_$-.'").find(c) != std::string::npos;
    };
    std::string found(rest_.begin(), std::ranges::find_if_not(rest_, part));
    rest_.remove_prefix(found.size());
    return found;
  }

  const int64_t opset_;
  Graph graph_{.name = "heed"};
  Names names_a_, names_b_;  // of values by key, in each pass
  Names constants_;          // by dtype, shape and bytes
  StateDict initializers_;
  OpenSizes open_;
  std::map<std::string, int64_t> last_only_;  // the last step of an LSTM, the only one whose cells are known
  const Step *a_ = nullptr, *b_ = nullptr;
  std::string_view rest_;  // of the form
  Names locals_;           // in the form
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
  const auto trace = [&](const OnnxTensors& in) {
    onnx::Trace all(options.opset);
    OnnxTensors out = forward(in);
    return std::pair(std::move(out), std::move(all.steps));
  };
  const auto [y_a, a] = trace(x);
  const auto [y_b, b] = trace(other);

  onnx::Exporter exporter(model.state_dict(), options.opset);
  const auto name = [](const std::vector<std::string>& names, const std::string& letter, size_t i,
                       size_t count) {
    return i < names.size() ? names[i] : count > 1 ? letter + std::to_string(i) : letter;
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
