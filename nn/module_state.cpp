// The state of a module: saving, loading, conversion to another dtype.

#include <set>

#include "nn/module.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/table.h"

namespace heed {

StateDict Module::state_dict() const {
  StateDict state;
  for (const Member& member : members())
    if (member.persistent) state[member.name] = member.tensor->detach();
  return state;
}

LoadReport Module::load_state_dict(const StateDict& state, bool strict, SourceLocation line) {
  const OpScope scope("load_state_dict", line);
  LoadReport report;
  prepare_load(state, strict ? nullptr : &report, line).commit();
  return report;
}

PreparedLoad Module::prepare_load(const StateDict& state, LoadReport* report, SourceLocation line) {
  const OpScope scope("load_state_dict");
  std::vector<Member> own = members();
  std::erase_if(own, [](const Member& member) { return !member.persistent; });
  std::set<const Storage*> memory;
  for (const Member& member : own) memory.insert(TensorImpl::of(*member.tensor).storage.get());

  const auto kind = [](const Tensor& x) { return to_string(x.dtype()) + " " + to_string(x.shape()); };
  const auto shape = [](const Tensor& x) { return x.defined() ? to_string(x.shape()) : "undefined"; };
  std::vector<std::pair<Tensor, Tensor>> writes;  // a member, its new values
  std::set<const TensorImpl*> given;              // tied members need only one of their names
  StateDict rest = state;
  Table misfits({"", "name", "model", "given"});
  for (const Member& member : own) {
    const auto entry = rest.extract(member.name);
    if (entry.empty()) continue;
    const Tensor &to = *member.tensor, &value = entry.mapped();
    given.insert(&TensorImpl::of(to));
    if (!value.defined() || value.shape() != to.shape())
      misfits.add({"shape", member.name, shape(to), shape(value)});
    else if (value.dtype() != to.dtype() && !(is_floating(value.dtype()) && is_floating(to.dtype())))
      misfits.add({"dtype", member.name, kind(to), kind(value)});
    else  // commit() must not allocate, and its writes must not change values that it reads later
      writes.emplace_back(to, memory.contains(TensorImpl::of(value).storage.get())
                                  ? kernel::clone(value)
                                  : kernel::contiguous(value));
  }
  LoadReport unmatched;
  for (const Member& member : own)
    if (!given.contains(&TensorImpl::of(*member.tensor))) {
      unmatched.missing.push_back(member.name);
      if (!report) misfits.add({"missing", member.name, shape(*member.tensor), "-"});
    }
  for (const auto& [name, value] : rest) {
    unmatched.unexpected.push_back(name);
    if (!report) misfits.add({"unexpected", name, "-", value.defined() ? shape(value) : "-"});
  }
  if (report) *report = std::move(unmatched);
  check(misfits.rows() == 0, misfits.rows(), misfits.rows() == 1 ? " name does" : " names do", " not fit ",
        type_name(), "; nothing was changed", misfits,
        "\nwere they saved by another model, or by one with other options?");

  return PreparedLoad([writes = std::move(writes), line] {
    for (const auto& [to, value] : writes) {
      kernel::copy_into(to, value);
      TensorImpl::of(to).storage->wrote("load_state_dict", line);
    }
  });
}

void Module::to(DType dtype) {
  check(is_floating(dtype), "to: a module computes in float32 or float64, not in ", dtype);
  for (const Member& member : members())
    if (is_floating(member.tensor->dtype())) member.tensor->to_(dtype);
}

void OwnedTensor::to_(DType dtype) const {
  if (!defined() || dtype == this->dtype()) return;
  check(is_floating(this->dtype()) && is_floating(dtype), "to: a ", this->dtype(),
        " member of a module cannot become ", dtype, "; only floating ones change, to float32 or float64");
  const Tensor converted = kernel::cast(tensor_, dtype);
  // Continues to count versions, so that tensors saved before throw when read.
  TensorImpl::of(converted).storage->version = TensorImpl::of(tensor_).storage->version;
  TensorImpl::of(converted).storage->wrote("to", {});
  for (const Tensor& x : {save(tensor_)(), tensor_}) {  // also the alias that gradient rules save
    TensorImpl& own = TensorImpl::of(x);
    own.storage = TensorImpl::of(converted).storage;
    own.strides = converted.strides();
    own.contiguous = true;
    own.offset = 0;
    own.dtype = dtype;
  }
  if (!requires_grad()) return;
  Node::of(tensor_)->dtype = dtype;
  if (const Tensor g = tensor_.grad(); g.defined()) tensor_.set_grad(kernel::cast(g, dtype));
}

}  // namespace heed
