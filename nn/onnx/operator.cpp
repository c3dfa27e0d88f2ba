#include "nn/onnx/operator.h"

#include <sstream>

#include "tensor/utf8.h"

namespace heed::onnx {
namespace {

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// A declared argument: see Operator::arguments.
struct Declaration {
  explicit Declaration(const std::string& text)
      : name(text.substr(0, text.find_first_of("?.="))), optional(text.find('?') < text.size()) {
    using enum AttributeType;
    static const std::map<std::string, AttributeType> types = {
        {"float", f}, {"int", i}, {"string", s}, {"tensor", t}, {"floats", floats}, {"ints", ints}};
    const std::vector<std::string> parts = parts_of(text, '=');
    is_input = parts.size() == 1 || parts[0] != name;
    if (parts.size() == 1) return;
    std::string number = parts[1];
    if (const auto found = types.find(number.substr(0, number.find('?'))); found != types.end()) {
      type = found->second;
      number.erase(0, found->first.size() + 1);
    } else if (number[0] == '[' || std::isalpha(number[0])) {
      type = number[0] == '[' ? strings : s;
      texts = parts_of(type == s ? number : number.substr(1, number.size() - 2), ',');
      number = "0";
    } else {
      type = number.find('.') < number.size() ? f : i;
    }
    if (!number.empty())
      standard = type == f ? full({}, std::stof(number)) : full({}, std::stoll(number), int64);
    if (parts.size() > 2) only = std::stoll(parts[2]);
  }

  // The values of an attribute; undefined for another type or an unknown text.
  Tensor values_of(const Attribute& given) const {
    using enum AttributeType;
    if (given.type != type) return {};
    if (type == i) return full({}, given.i, int64);
    if (type == f) return full({}, given.f);
    if (type == t) return given.t.values;
    if (type == ints) return list(given.ints);
    if (type == floats) return list(given.floats);
    if (texts.empty()) return list(std::vector<int64_t>(given.s.begin(), given.s.end()));
    std::vector<int64_t> positions;
    for (const std::string& text : type == s ? std::vector{given.s} : given.strings) {
      const std::vector<std::string> known = parts_of(texts[positions.size() % texts.size()], '|');
      positions.push_back(std::ranges::find(known, text) - known.begin());
      if (positions.back() == std::ssize(known)) return {};
    }
    return list(positions);
  }
  bool allows(const Tensor& value) const {
    return value.defined() && (!only || all(value == *only).item<bool>());
  }

  std::string name;
  bool is_input, optional;
  AttributeType type = AttributeType::undefined;  // of an attribute
  std::vector<std::string> texts = {};            // known, in turn
  Tensor standard = {};                           // by default
  std::optional<int64_t> only = {};
};

}  // namespace

std::vector<int64_t> int_list(const Tensor& x) {
  if (!x.defined()) return {};
  check_indices(x);
  return x.to_vector<int64_t>();
}

Scalar number(const Tensor& x) {
  if (!x.defined()) return 0;
  return x.dtype() == int64 ? Scalar(x.item<int64_t>()) : Scalar(x.item());
}

const std::map<std::string, Operator>& operators() {
  static const std::map<std::string, Operator> all = [] {
    std::map<std::string, Operator> rows;
    for (const auto table : {elementwise_operators, shape_operators, layer_operators})
      for (const Operator& row : table()) rows.emplace(row.name, row);
    return rows;
  }();
  return all;
}

std::vector<Argument> check_node(const Operator& op, const Node& node, int64_t opset) {
  check(opset >= op.since, "this form of the operator exists since opset ", op.since,
        ", and the model has opset ", opset, "; export it with a newer one");
  const auto last = std::ranges::find_if_not(node.output.rbegin(), node.output.rend(), &std::string::empty);
  check(op.outputs < 0 || node.output.rend() - last <= op.outputs, node.output.size(), " outputs; known are ",
        op.outputs);
  std::map<std::string, Attribute> attributes;
  for (const Attribute& given : node.attribute) {
    const std::string what = "the attribute " + printable(given.name);
    check(attributes.emplace(given.name, given).second && given.ref_attr_name.empty(), what,
          " is defined twice, or by a function");
    if (given.type == AttributeType::t) check_type(static_cast<int64_t>(given.t.type), what);
  }

  std::vector<Argument> arguments;
  std::string known;
  auto input = node.input.begin();
  for (const std::string& text : parts_of(op.arguments, ' ')) {
    const Declaration declared(text);
    Tensor value = declared.standard;
    if (declared.type != AttributeType::undefined) {
      known += (known.empty() ? "" : " ") + text;
      const auto given = attributes.extract(declared.name);
      if (given) value = declared.values_of(given.mapped());
      check(declared.allows(value) || (!given && !value.defined()), "the attribute ", declared.name,
            " has an unknown type or value; known is ", text);
    }
    do {
      arguments.push_back({"", value});
      if (declared.is_input && input != node.input.end()) arguments.back().input = *input++;
      check(declared.optional || value.defined() || !arguments.back().input.empty(), "the ",
            declared.is_input ? "input " : "attribute ", declared.name, " is missing");
    } while (text.ends_with("...") && input != node.input.end());
  }
  check(input == node.input.end(), node.input.size(), " inputs; known are \"", op.arguments, "\"");
  for (const auto& [name, unknown] : attributes)
    fail("the attribute \"", printable(name), "\" is unknown; known are \"", known, "\"");
  return arguments;
}

DType check_type(int64_t type, const std::string& what) {
  using enum ElementType;
  const auto known = {float32, float64, int32, int64, boolean};
  if (std::ranges::count(known, type, [](ElementType one) { return static_cast<int64_t>(one); }) == 0)
    fail(what, " has the type ", type, " of ONNX; known are float, double, int32, int64 and bool");
  return *dtype_of_element(static_cast<ElementType>(type));
}

}  // namespace heed::onnx
