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
      : name(text.substr(0, text.find_first_of("?.="))), optional(text[name.size()] == '?') {
    using enum AttributeType;
    static const std::map<std::string, AttributeType> types = {
        {"float", f},       {"int", i},     {"string", s},       {"tensor", t},
        {"floats", floats}, {"ints", ints}, {"one_or_two", ints}};
    const std::vector<std::string> parts = parts_of(text, '=');
    if (parts.size() > 2) only = std::stoll(parts[2]);
    if (parts.size() == 1) return;
    if (const auto word = types.find(parts[1]); word != types.end()) {
      type = word->second;
      most = word->first == "one_or_two" ? 2 : INT64_MAX;
    } else if (std::isalpha(parts[1][0])) {
      texts = parts_of(parts[1], ',');
      type = texts.size() > 1 ? strings : s;
      standard = list(Ints{0});
    } else {
      type = parts[1].find('.') < parts[1].size() ? f : i;
      standard = type == f ? full({}, std::stof(parts[1])) : full({}, std::stoll(parts[1]), int64);
    }
  }

  // The values of an attribute; undefined for another type or an unknown text.
  Tensor values_of(const Attribute& given) const {
    using enum AttributeType;
    if (given.type != type) return {};
    if (type == i) return full({}, given.i, int64);
    if (type == f) return full({}, given.f);
    if (type == t) return given.t.values;
    if (type == ints) return std::ssize(given.ints) <= most ? list(given.ints) : Tensor();
    if (type == floats) return list(given.floats);
    if (texts.empty()) return list(Ints(given.s.begin(), given.s.end()));
    Ints positions;
    for (const std::string& text : type == s ? std::vector{given.s} : given.strings) {
      const std::vector<std::string> known = parts_of(texts[positions.size() % texts.size()], '|');
      positions.push_back(std::ranges::find(known, text) - known.begin());
      if (positions.back() == std::ssize(known)) return {};
    }
    return list(positions);
  }

  std::string name;
  bool optional;
  AttributeType type = AttributeType::undefined;  // of an input
  std::vector<std::string> texts = {};            // known, in turn
  Tensor standard = {};                           // by default
  std::optional<int64_t> only = {};
  int64_t most = 0;  // numbers of a list
};

}  // namespace

Ints int_list(X x) {
  if (!x.defined()) return {};
  check_indices(x);
  return x.to_vector<int64_t>();
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
  check(opset >= op.since, "it is known since opset ", op.since, ", and the model has opset ", opset);
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
    if (declared.type != AttributeType::undefined) {
      const auto given = attributes.extract(declared.name);
      const Tensor value = given ? declared.values_of(given.mapped()) : declared.standard;
      check(given || declared.optional || value.defined(), "the attribute ", declared.name, " is missing");
      check(value.defined() ? !declared.only || all(value == *declared.only).item<bool>() : !given,
            "the attribute ", declared.name, " has an unknown type or value; known is ", text);
      known += (known.empty() ? "" : " ") + text;
      arguments.push_back({"", value});
      continue;
    }
    do {
      arguments.push_back({input == node.input.end() ? "" : *input++, {}});
      check(declared.optional || !arguments.back().input.empty(), "the input ", declared.name, " is missing");
    } while (text.ends_with("...") && input != node.input.end());
  }
  check(input == node.input.end(), node.input.size(), " inputs; known are \"", op.arguments, "\"");
  for (const auto& [name, unknown] : attributes)
    fail("the attribute \"", printable(name), "\" is unknown; known are \"", known, "\"");
  return arguments;
}

DType check_type(int64_t type, const std::string& what) {
  const bool known = type == 1 || type == 6 || type == 7 || type == 9 || type == 11;  // see ElementType
  check(known, what, " has the type ", type, " of ONNX; known are float, double, int32, int64 and bool");
  return dtype_of_element(static_cast<ElementType>(type)).value_or(float32);
}

}  // namespace heed::onnx
