// The memory of nodes: one block for each, freed without recursion.
#include <cstring>

#include "autograd/node.h"

namespace heed {

// Operations of heed's own layers count as written where the program called the layer.
Node::Node(const char* name, const Tensor& value, SourceLocation line, int32_t inputs, size_t bytes)
    : AutogradMeta(this),
      name(name),
      line(detail::module_line.line() == 0 || is_user_code(line) ? line : detail::module_line),
      shape(value.shape()),
      dtype(value.dtype()),
      input_count(inputs),
      bytes(static_cast<uint32_t>(bytes)),
      result_version(TensorImpl::of(value).storage->version) {}

// One block holds the node, its inputs, the rules and the name.
Node& Node::make(const char* name, const Tensor& value, SourceLocation line, size_t inputs,
                 size_t rule_bytes) {
  const size_t name_bytes = std::strlen(name) + 1;
  const size_t bytes = rule_space(sizeof(Node) + inputs * sizeof(Input)) + rule_bytes + name_bytes;
  char* block = static_cast<char*>(allocate(bytes));
  char* own_name = static_cast<char*>(std::memcpy(block + bytes - name_bytes, name, name_bytes));
  Node* node = new (block) Node(own_name, value, line, static_cast<int32_t>(inputs), bytes);
  for (size_t i = 0; i < inputs; ++i) new (node->inputs() + i) Input;
  return *node;
}

// Freeing a node frees its inputs, and so on down a chain of a million nodes: they wait in a list that one
// loop frees, instead of recursive calls.
void Node::release() noexcept {
  static thread_local constinit Node* waiting = nullptr;
  static thread_local constinit bool freeing = false;
  next_freed_ = waiting;
  waiting = this;
  if (freeing) return;
  freeing = true;
  while (Node* node = waiting) {
    waiting = node->next_freed_;
    node->release_saved();
    for (int32_t i = 0; i < node->input_count; ++i) node->inputs()[i].~Input();
    const size_t size = node->bytes;
    node->~Node();
    heed::release(node, size);
  }
  freeing = false;
}

}  // namespace heed
