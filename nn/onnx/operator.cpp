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
bool is_one_of(const std::string& text, const std::string& alternatives) {
  return std::ranges::count(parts_of(alternatives, '|'), text) > 0;
}

// A declared attribute: see Operator::attributes.
struct Declaration {
  explicit Declaration(const std::string& text) {
    static const std::map<std::string, AttributeType> types = {
        {"float", AttributeType::f},  {"int", AttributeType::i},         {"string", AttributeType::s},
        {"tensor", AttributeType::t}, {"floats", AttributeType::floats}, {"ints", AttributeType::ints}};
    const std::vector<std::string> parts = parts_of(text, '=');
    const std::string value = parts[1].substr(0, parts[1].find('?'));
    attribute.name = parts[0];
    required = types.contains(parts[1]);
    if (types.contains(value)) {
      type = types.at(value);
    } else if (value[0] == '[') {
      type = AttributeType::strings, pattern = parts_of(value.substr(1, value.size() - 2), ',');
    } else if (value[0] != '-' && !std::isdigit(value[0])) {
      type = attribute.type = AttributeType::s, texts = value, attribute.s = value.substr(0, value.find('|'));
    } else {
      type = attribute.type = value.find('.') < value.size() ? AttributeType::f : AttributeType::i;
      attribute.f = std::stof(value), attribute.i = std::stoll(value);
    }
    if (parts.size() > 2) only = std::stoll(parts[2]);
  }
  bool takes(const Attribute& given) const {
    for (size_t i = 0; i < given.strings.size() && !pattern.empty(); ++i)
      if (!is_one_of(given.strings[i], pattern[i % pattern.size()])) return false;
    const int64_t least = given.ints.empty() ? given.i : std::ranges::min(given.ints);
    const int64_t most = given.ints.empty() ? given.i : std::ranges::max(given.ints);
    return given.type == type && (!only || (least == *only && most == *only)) &&
           (texts.empty() || is_one_of(given.s, texts));
  }

  Attribute attribute;  // the default
  AttributeType type;
  bool required;
  std::optional<int64_t> only = {};
  std::string texts = {};  // that are allowed
  std::vector<std::string> pattern = {};
};

}  // namespace

const Attribute& Call::attribute(std::string_view name) const {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  check(found != attributes.end(), "the row of the operator does not declare the attribute ", name);
  return *found;
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

std::vector<Attribute> check_node(const Operator& op, const Node& node, int64_t opset) {
  check(opset >= op.since, "this form of the operator exists since opset ", op.since,
        ", and the model has opset ", opset, "; export it with a newer one");
  const std::vector<std::string> inputs = parts_of(op.inputs, ' ');
  const size_t most = op.inputs.ends_with("...") ? SIZE_MAX : inputs.size();
  check(node.input.size() <= most, node.input.size(), " inputs; known are \"", op.inputs, "\"");
  for (size_t i = 0; i < inputs.size(); ++i)
    check(inputs[i].ends_with("?") || (i < node.input.size() && !node.input[i].empty()), "the input ",
          inputs[i], " is missing");
  const auto last = std::ranges::find_if_not(node.output.rbegin(), node.output.rend(), &std::string::empty);
  check(op.outputs < 0 || node.output.rend() - last <= op.outputs, node.output.size(), " outputs; known are ",
        op.outputs);

  std::vector<Attribute> values;
  for (const std::string& text : parts_of(op.attributes, ' ')) {
    const Declaration declared(text);
    const auto given = std::ranges::find(node.attribute, declared.attribute.name, &Attribute::name);
    check(!declared.required || given != node.attribute.end(), "the attribute ", declared.attribute.name,
          " is missing");
    values.push_back(given == node.attribute.end() ? declared.attribute : *given);
    check(values.back().type == AttributeType::undefined || declared.takes(values.back()), "the attribute ",
          declared.attribute.name, " has an unknown type or value; known is ", text);
  }
  for (const Attribute& given : node.attribute) {
    check(std::ranges::count(values, given.name, &Attribute::name) > 0, "the attribute \"",
          printable(given.name), "\" is unknown; known are \"", op.attributes, "\"");
    check(
        std::ranges::count(node.attribute, given.name, &Attribute::name) == 1 && given.ref_attr_name.empty(),
        "the attribute ", given.name, " is defined twice, or by a function");
    if (given.type == AttributeType::t)
      check_type(static_cast<int64_t>(given.t.type), "the attribute " + given.name);
  }
  return values;
}

DType check_type(int64_t type, const std::string& what) {
  using enum ElementType;
  const auto known = {float32, float64, int32, int64, boolean};
  const std::optional<DType> dtype = dtype_of_element(static_cast<ElementType>(type));
  if (!dtype || type > 16 || std::ranges::count(known, static_cast<ElementType>(type)) == 0)
    fail(what, " has the type ", type, " of ONNX; known are float, double, int32, int64 and bool");
  return *dtype;
}

}  // namespace heed::onnx
