#include "tensor/error.h"

#include <charconv>

namespace heed {

std::string to_string(double value) {
  if (value != value) return "nan";  // whatever its sign
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// "in encoder: matmul: message; called at a.cpp:1; in the gradient rule of mul, called at a.cpp:2", and the
// table.
static std::string formatted(const Error::Parts& parts) {
  std::string text;
  if (parts.module && !parts.module->empty()) text += "in " + *parts.module + ": ";
  if (!parts.operation.empty()) text += parts.operation + ": ";
  text += parts.message;
  if (parts.line.line() != 0) text += "; called " + at(parts.line);
  if (!parts.rule.empty())
    text += "; in the gradient rule of " + parts.rule + ", called " + at(parts.rule_line);
  return text + parts.table;
}

Error::Error(Parts parts)
    : std::runtime_error(formatted(parts)), parts_(std::make_shared<const Parts>(std::move(parts))) {}

void detail::raise(ErrorText text, const char* operation) {
  Error::Parts parts{.message = std::move(text.message), .table = std::move(text.table)};
  const OpScope *scope = current_scope, *rule = OpScope::rule();
  if (operation || scope) parts.operation = operation ? operation : scope->name;
  if (rule && *rule->module) parts.module = rule->module;
  if (scope != rule) parts.line = scope->line;
  if (rule && (!operation || scope != rule)) {  // else the message names the rule's operation and lines
    parts.rule = rule->name;
    parts.rule_line = rule->line;
  }
  throw Error(std::move(parts));
}

}  // namespace heed
