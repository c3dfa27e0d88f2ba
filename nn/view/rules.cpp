#include "nn/view/rules.h"

namespace heed {

std::string detail::with_names(const std::string& rule, const std::vector<std::string>& names,
                               const std::string& result) {
  size_t at = rule.find('$');
  std::string text = rule.substr(0, at);
  while (at != std::string::npos) {
    size_t length = 1;
    const std::string& name =
        rule[at + 1] == 'y' ? result : names.at(std::stoul(rule.substr(at + 1), &length) - 1);
    if (name.empty() && text.ends_with(' ')) text.pop_back();  // a factor that was not given
    const size_t rest = at + 1 + length;
    at = rule.find('$', rest);
    text += name + rule.substr(rest, at - rest);
  }
  return text;
}

// A text is a formula, or "definitions: formula". Definitions hold for all formulas of the node and may stand
// alone: "s = sigmoid($1): g s (1 + $1 (1 − s))", "each input gets its part of g: ".
std::string gradient_rule(const Node& node, const std::vector<std::string>& names,
                          const std::string& result) {
  std::string definitions, formulas;
  for (size_t i = 0; i < names.size(); ++i) {
    const Node::Input& input = node.inputs()[i];
    std::string formula = input.text ? input.text : "";
    if (const size_t colon = formula.find(": "); colon != std::string::npos) {
      definitions = formula.substr(0, colon);
      formula.erase(0, colon + 2);
    }
    if (!input.node || formula.empty()) continue;
    formulas +=
        (formulas.empty() ? "d" : ", d") + names[i] + " = " + detail::with_names(formula, names, result);
  }
  const std::string between = definitions.empty() || formulas.empty() ? "" : ": ";
  return detail::with_names(definitions, names, result) + between + formulas;
}

}  // namespace heed
