#include "autograd/debug/graph.h"

#include <unordered_map>
#include <unordered_set>

#include "autograd/graph_walk.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace heed {
namespace {

using detail::text;

// Calls f(node, its number, the numbers of its inputs), inputs first; an input without gradient has "-".
void for_each_node(const Tensor& y, auto&& f) {
  std::unordered_map<const Node*, std::string> number{{nullptr, "-"}};
  for (const Node* node : graph_nodes(y)) {
    const std::string& own = number[node] = std::to_string(number.size() - 1);
    std::vector<std::string> inputs;
    for (int32_t k = 0; k < node->input_count; ++k) inputs.push_back(number[node->inputs()[k].node.get()]);
    f(*node, own, inputs);
  }
}

// Escapes text for a quoted DOT label.
std::string escaped(const std::string& text) { return replaced(replaced(text, "\\", "\\\\"), "\"", "\\\""); }

}  // namespace

std::vector<const Node*> graph_nodes(const Tensor& y) {
  std::vector<const Node*> nodes;
  if (!y.requires_grad()) return nodes;
  std::unordered_set<const Node*> seen;
  std::vector<detail::WalkStep> stack;
  detail::walk(
      *Node::of(y), stack, [&](Node& node) { return seen.insert(&node).second; },
      [&](Node& node) { nodes.push_back(&node); });
  return nodes;
}

std::vector<const Node*> graph_leaves(const Tensor& y) {
  std::vector<const Node*> nodes = graph_nodes(y);
  std::erase_if(nodes, [](const Node* node) { return !node->is_leaf(); });
  return nodes;
}

std::string graph_text(const Tensor& y) {
  std::string lines;
  for_each_node(y, [&](const Node& node, const auto& number, const auto& inputs) {
    lines += text(number, "  ", node.name, " ", node.shape, " ", node.dtype);
    if (!inputs.empty()) lines += "  <- " + detail::listed(inputs);
    if (*node.module) lines += text("  in ", node.module);
    if (const std::string line = detail::user_line(node.line); !line.empty()) lines += "  at " + line;
    lines += "\n";
  });
  return lines;
}

std::string graph_dot(const Tensor& y) {
  std::string dot = "digraph heed {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for_each_node(y, [&](const Node& node, const auto& number, const auto& inputs) {
    dot += text("  n", number, " [label=\"", escaped(node.name), "\\n", node.shape, " ", node.dtype);
    for (const std::string& more : {std::string(node.module), detail::user_line(node.line)})
      if (!more.empty()) dot += "\\n" + escaped(more);
    dot += node.is_leaf() ? "\", style=filled, fillcolor=lightgrey];\n" : "\"];\n";
    for (const std::string& input : inputs)
      if (input != "-") dot += text("  n", input, " -> n", number, ";\n");
  });
  return dot + "}\n";
}

}  // namespace heed
