#pragma once

#include "tensor/tensor.h"

/// The graph of a tensor as a list, as text and as a drawing.
namespace heed {

class Node;

/// The operations and leaves that y was computed from, each once, inputs before the nodes that use them.
/// Empty if y does not require a gradient.
std::vector<const Node*> graph_nodes(const Tensor& y);

/// The leaves among graph_nodes(y): Node::of(x) of every tensor x that receives a gradient in y.backward().
std::vector<const Node*> graph_leaves(const Tensor& y);

/// The graph as text, one line for each node: its number, operation, shape and dtype, the numbers of its
/// inputs (- for an input without gradient), the module, and the line of the call.
///
///   0  leaf [3, 2] float32
///   1  linear [4, 3] float32  <- -, 0  in layers.0  at train.cpp:12
std::string graph_text(const Tensor& y);

/// The graph in the DOT language: `dot -Tsvg graph.dot -o graph.svg` draws it.
std::string graph_dot(const Tensor& y);

}  // namespace heed
