#include "autograd/debug/graph.h"

#include <unordered_map>

#include "autograd/graph_walk.h"

namespace heed {
namespace {

struct Numbered {
  std::vector<const Node*> nodes;
  std::unordered_map<const Node*, size_t> number;
};

// Inputs before their users.
Numbered number_nodes(const Tensor& y) {
  Numbered graph;
  if (!y.requires_grad()) return graph;
  std::vector<detail::WalkStep> stack;
  detail::walk(
      *Node::of(y), stack, [&](Node& node) { return graph.number.emplace(&node, 0).second; },
      [&](Node& node) {
        graph.number[&node] = graph.nodes.size();
        graph.nodes.push_back(&node);
      });
  return graph;
}

std::string value_of(const Node& node) { return to_string(node.shape) + " " + name_of(node.dtype); }

std::string line_of(const Node& node) {
  return is_user_code(node.line) ? node.line.file_name() + (":" + std::to_string(node.line.line())) : "";
}

// Text inside the quotes of a DOT label.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::vector<const Node*> graph_nodes(const Tensor& y) { return number_nodes(y).nodes; }

std::vector<const Node*> graph_leaves(const Tensor& y) {
  std::vector<const Node*> nodes = graph_nodes(y);
  std::erase_if(nodes, [](const Node* node) { return !node->is_leaf(); });
  return nodes;
}

std::string graph_text(const Tensor& y) {
  const Numbered graph = number_nodes(y);
  std::string text;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = *graph.nodes[i];
    text += std::to_string(i) + "  " + node.name + " " + value_of(node);
    for (int32_t k = 0; k < node.input_count; ++k) {
      const Node* input = node.inputs()[k].node.get();
      text += (k ? ", " : "  <- ") + (input ? std::to_string(graph.number.at(input)) : "-");
    }
    if (*node.module) text += std::string("  in ") + node.module;
    if (const std::string line = line_of(node); !line.empty()) text += "  at " + line;
    text += "\n";
  }
  return text;
}

std::string graph_dot(const Tensor& y) {
  const Numbered graph = number_nodes(y);
  std::string dot = "digraph heed {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = *graph.nodes[i];
    const std::string self = "n" + std::to_string(i);
    dot += "  " + self + " [label=\"" + escaped(node.name) + "\\n" + value_of(node);
    for (const std::string& more : {std::string(node.module), line_of(node)})
      if (!more.empty()) dot += "\\n" + escaped(more);
    dot += node.is_leaf() ? "\", style=filled, fillcolor=lightgrey];\n" : "\"];\n";
    for (int32_t k = 0; k < node.input_count; ++k)
      if (const Node* input = node.inputs()[k].node.get())
        dot += "  n" + std::to_string(graph.number.at(input)) + " -> " + self + ";\n";
  }
  return dot + "}\n";
}

}  // namespace heed
