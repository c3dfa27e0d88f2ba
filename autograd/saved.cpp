#include "autograd/saved.h"

namespace heed {

void Saved::throw_overwritten() const {
  const OpScope* rule = OpScope::rule();
  const Storage& storage = *TensorImpl::of(tensor_).storage;
  fail_in(rule ? rule->name : "a gradient rule", "a tensor of shape ", tensor_.shape(), ", saved ",
          at(rule ? rule->line : SourceLocation()), " for the gradient, was overwritten by ", storage.writer,
          " ", at(storage.writer_line), "; write into a clone, or after backward()");
}

}  // namespace heed
