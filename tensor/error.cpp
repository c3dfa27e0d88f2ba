#include "tensor/error.h"

#include <charconv>

namespace heed {

std::string to_string(double value) {
  if (value != value) return "nan";  // whatever its sign
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string at(SourceLocation line) {
  if (line.line() == 0) return "at an unknown line";
  return std::string("at ") + line.file_name() + ":" + std::to_string(line.line());
}

bool is_user_code(SourceLocation line) {
  const std::string_view file = line.file_name();
  for (std::string_view root : {__FILE__, detail::header_path}) {
    root = root.substr(0, root.rfind("tensor/error."));
    for (const std::string_view room : {"tensor/", "autograd/", "nn/"})
      if (file.starts_with(root) && file.substr(root.size()).starts_with(room)) return false;
  }
  return line.line() != 0;
}

void detail::raise(std::string message) {
  const OpScope *scope = current_scope, *rule = OpScope::rule();
  if (!scope) throw Error(message);
  const std::string name = std::string(scope->name) + ": ";
  const bool named = message.starts_with(name);
  if (named && scope == rule) throw Error(message);  // says all itself
  if (!named) message = name + message;
  std::string where;
  if (scope != rule && scope->line.line() != 0) where += "; called " + at(scope->line);
  if (rule) where += std::string("; in the gradient rule of ") + rule->name + ", called " + at(rule->line);
  message.insert(std::min(message.find('\n'), message.size()), where);
  throw Error(message, scope != rule ? scope->line : SourceLocation());
}

}  // namespace heed
