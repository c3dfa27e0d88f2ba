#include "tests/parity/expression.h"

#include <cctype>

#include "heed.h"

namespace heed::parity {
namespace {

using ValueList = std::vector<Value>;
using Words = std::vector<std::string>;

struct Arguments {
  ValueList placed;
  Names named;

  Tensor tensor() const {
    check(!placed.empty() && placed[0].tensor.defined(), "the first argument is not a tensor");
    return placed[0].tensor;
  }
  int64_t integer(size_t place, const std::string& name, int64_t otherwise) const {
    if (place < placed.size()) return placed[place].constant.get<int64_t>();
    return named.contains(name) ? named.at(name).constant.get<int64_t>() : otherwise;
  }
  // x.reshape(2, 3) or x.reshape((2, 3))
  Shape integers() const {
    Shape found;
    for (const Value& value : placed.at(1).items.empty() ? placed : placed[1].items)
      if (!value.tensor.defined()) found.push_back(value.constant.get<int64_t>());
    return found;
  }
};

// Methods of tensors, called with arguments `a`.
#define METHOD(name, ...)                                                   \
  {                                                                         \
    #name, [](const Arguments& a) { return name(a.tensor(), __VA_ARGS__); } \
  }
const std::map<std::string, Tensor (*)(const Arguments&)> methods = {
    METHOD(mean, a.integer(1, "dim", 0)),
    METHOD(reshape, a.integers()),
    {"view", [](const Arguments& a) { return reshape(a.tensor(), a.integers()); }},
    METHOD(permute, a.integers()),
    METHOD(squeeze, a.integer(1, "dim", 0)),
    METHOD(unsqueeze, a.integer(1, "dim", 0)),
    METHOD(transpose, a.integer(1, "dim0", 0), a.integer(2, "dim1", 1)),
    METHOD(flatten, a.integer(1, "start_dim", 0), a.integer(2, "end_dim", -1)),
};

// Names of the positional arguments of constructors, and of calls.
Words constructor_names(const std::string& type) {
  if (type == "Linear") return {"in_features", "out_features", "bias"};
  if (type == "Embedding") return {"num_embeddings", "embedding_dim", "padding_idx"};
  if (type == "LayerNorm") return {"normalized_shape"};
  return {"input_size", "hidden_size", "num_layers"};
}
Words input_names(const std::string& type) {
  if (type == "LSTM") return {"input", "h_0", "c_0"};
  if (type == "RNN" || type == "GRU") return {"input", "h_0"};
  return {"input", "target"};
}

// Flattens tuples: rnn(x, (h, c)).
void spread(const Value& value, std::vector<Tensor>& tensors) {
  if (value.items.empty()) tensors.push_back(value.tensor);
  for (const Value& item : value.items) spread(item, tensors);
}

Value call(const Value& layer, const Arguments& arguments) {
  const Words names = input_names(layer.type);
  std::vector<Tensor> placed;
  for (const Value& value : arguments.placed) spread(value, placed);
  check(layer.layer.call && placed.size() <= names.size(), layer.type, " is called with ", placed.size(),
        " tensors");
  std::map<std::string, Tensor> tensors;
  for (size_t i = 0; i < placed.size(); ++i) tensors[names[i]] = placed[i];
  const Inputs inputs(tensors);
  ValueList outputs;
  for (const Tensor& y : layer.layer.call(inputs)) outputs.push_back({.tensor = y});
  inputs.check_all_asked();
  if (outputs.size() == 1) return outputs[0];
  return {.items =
              layer.type == "LSTM" ? ValueList{outputs[0], {.items = {outputs[1], outputs[2]}}} : outputs};
}

// Builds a layer, or calls a loss with its named arguments as options.
Value make(const std::string& type, const Arguments& arguments) {
  const bool loss = std::islower(static_cast<unsigned char>(type[0]));
  const Words names = constructor_names(type);
  Json given = Json::object();
  check(arguments.placed.size() <= names.size(), type, " is made with ", arguments.placed.size(),
        " arguments");
  for (size_t i = 0; i < arguments.placed.size() && !loss; ++i)
    given[names[i]] = arguments.placed[i].constant;
  for (const auto& [name, value] : arguments.named) given[name] = value.constant;
  const Fields config("argument of " + type, given);
  const Value layer = {.type = type,
                       .layer = builds().at(type)(config, Fields("call argument", Json::object()))};
  const Value made = loss ? call(layer, arguments) : layer;
  if (type != "RNN" && type != "GRU" && type != "LSTM") config.check_all_asked();
  return made;
}

// Splits a text at separators outside of brackets, and removes spaces.
Words split(const std::string& text, char separator) {
  Words parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c == separator && depth == 0)
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c;
  }
  return parts;
}

// Parses and evaluates an expression from left to right.
class Reader {
 public:
  Reader(const std::string& text, const Names& names) : text_(text), names_(names) {}

  Value all() {
    Value value = expression();
    check(at_ == text_.size(), "cannot read ", text_.substr(at_), " in ", text_);
    return value;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(const std::string& what) {
    const bool there = text_.compare(at_, what.size(), what) == 0;
    if (there) at_ += what.size();
    return there;
  }
  std::string word() {
    const size_t start = at_;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_') ++at_;
    check(at_ > start, "cannot read ", text_.substr(at_), " in ", text_);
    return text_.substr(start, at_ - start);
  }

  Value expression() {
    Value value = atom();
    for (;;) {
      if (take("[")) {
        value = item(value);
      } else if (take("(")) {
        value = call(value, arguments());
      } else if (take(".")) {
        const std::string name = word();
        value = take("(") ? method(name, value) : member(name, value);
      } else {
        return value;
      }
    }
  }

  Value atom() {
    if (take("(")) {
      const Arguments tuple = arguments();
      check(tuple.named.empty(), "a name in a tuple in ", text_);
      return {.items = tuple.placed};
    }
    if (std::isdigit(static_cast<unsigned char>(peek())) || peek() == '-') {
      const std::string sign = take("-") ? "-" : "";
      return {.constant = Json::parse(sign + word())};
    }
    const std::string name = word();
    if (name == "F" && take(".")) return atom();
    if (name == "True" || name == "False") return {.constant = name == "True"};
    if (name == "last") return {.constant = -1};
    if (names_.contains(name)) return names_.at(name);
    check(take("(") && builds().contains(name), name, " in ", text_, " is not known");
    if (name != "Sequential") return make(name, arguments());
    const size_t start = at_;
    for (int depth = 1; depth > 0 && at_ < text_.size(); ++at_) depth += (peek() == '(') - (peek() == ')');
    const Fields layers("argument", {{"layers", split(text_.substr(start, at_ - 1 - start), ',')}});
    return {.type = name, .layer = builds().at(name)(layers, layers)};
  }

  Value method(const std::string& name, const Value& value) {
    Arguments all = arguments();
    all.placed.insert(all.placed.begin(), value);
    check(methods.contains(name), ".", name, "() in ", text_, " is not known");
    return {.tensor = methods.at(name)(all)};
  }

  Value member(const std::string& name, const Value& value) {
    const bool pair = value.items.size() == 2, two_states = pair && value.items[1].items.size() == 2;
    if (name == "output" && pair) return value.items[0];
    if (name == "h_n" && pair) return two_states ? value.items[1].items[0] : value.items[1];
    check(name == "c_n" && two_states, ".", name, " in ", text_, " is not known");
    return value.items[1].items[1];
  }

  // x[0], x[:, -1], x[..., :3]
  Value item(const Value& value) {
    std::vector<Index> where;
    do {
      std::optional<int64_t> start, end;
      if (take("...")) {
        where.emplace_back(ellipsis);
        continue;
      }
      if (peek() != ':') start = expression().constant.get<int64_t>();
      const bool range = take(":");
      if (range && peek() != ',' && peek() != ']') end = expression().constant.get<int64_t>();
      where.push_back(range ? Index(Slice{start, end}) : Index(*start));
    } while (take(","));
    check(take("]"), "a ] is missing in ", text_);
    if (value.tensor.defined()) return {.tensor = heed::index(value.tensor, where)};
    return value.items.at(static_cast<size_t>(where[0].position));
  }

  Arguments arguments() {
    Arguments found;
    while (!take(")")) {
      const size_t start = at_, equals = text_.find_first_of("=,()[", at_);
      if (equals != std::string::npos && text_[equals] == '=') {
        at_ = equals + 1;
        found.named[text_.substr(start, equals - start)] = expression();
      } else {
        found.placed.push_back(expression());
      }
      check(take(",") || peek() == ')', "a ) is missing in ", text_);
    }
    return found;
  }

  const std::string& text_;
  const Names& names_;
  size_t at_ = 0;
};

}  // namespace

Value evaluate(const std::string& expression, const Names& names) {
  const std::string text = split(expression, '\0')[0];  // without its spaces
  return Reader(text, names).all();
}

Program::Program(const std::string& text) {
  for (const std::string& statement : split(text, ';')) {
    Words names;
    for (const std::string& part : split(statement, ',')) {
      const Words sides = split(part, '=');
      const std::string& expression = sides.back();
      const bool layer =
          std::isupper(static_cast<unsigned char>(expression[0])) && !expression.starts_with("F.");
      if (sides.size() == 2) names.push_back(sides[0]);
      if (layer)
        layers_[sides.size() == 2 ? sides[0] : "model"] = evaluate(expression, layers_);
      else if (sides.size() == 2)
        statements_.emplace_back(names, expression);
      else
        names.push_back(expression);  // y, h = rnn(x)
      if (layer || sides.size() == 2) names.clear();
    }
    check(names.empty(), "cannot read ", statement);
  }
}

Tensor Program::forward(const std::map<std::string, Tensor>& inputs) const {
  Names names = layers_;
  for (const auto& [name, tensor] : inputs) names[name].tensor = tensor;
  for (const auto& [targets, expression] : statements_) {
    const Value value = evaluate(expression, names);
    check(targets.size() == 1 || targets.size() == value.items.size(), expression, " has ",
          value.items.size(), " parts");
    for (size_t i = 0; i < targets.size(); ++i)
      names[targets[i]] = targets.size() == 1 ? value : value.items[i];
  }
  check(names["loss"].tensor.defined(), "no statement computes the loss");
  return names["loss"].tensor;
}

void Program::visit(Visitor& v) {
  for (const auto& [name, value] : layers_)
    if (name == "model")
      value.layer.module->visit(v);
    else
      v(name, *value.layer.module);
}

}  // namespace heed::parity
