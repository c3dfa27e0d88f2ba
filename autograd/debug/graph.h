#pragma once

#include "tensor/tensor.h"

/// The graph behind a tensor, as a list, a text or a drawing.
namespace heed {

class Node;

/// The operations and leaves behind y, each once, inputs before what uses them. None if y needs no gradient.
std::vector<const Node*> graph_nodes(const Tensor& y);

/// The leaves among them: Node::of(x) of every tensor x that a backward from y gives a gradient to.
std::vector<const Node*> graph_leaves(const Tensor& y);

/// The graph as text, a line for each node: its number, operation, shape and dtype, the numbers of its inputs
/// (- for one without a gradient), the module that ran it, and the line that called it.
///
///   0  leaf [3, 2] float32
///   1  linear [4, 3] float32  <- -, 0  in layers.0  at train.cpp:12
std::string graph_text(const Tensor& y);

/// The same in the DOT language: `dot -Tsvg graph.dot -o graph.svg` draws it.
std::string graph_dot(const Tensor& y);

}  // namespace heed
