// The state dict of a module: saving and loading.

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
    else  // a copy of what the first writes would change, and of what commit() could not read without memory
      writes.emplace_back(to, memory.contains(TensorImpl::of(value).storage.get())
                                  ? kernel::clone(value)
                                  : kernel::contiguous(value));
  }
  for (const Member& member : own) {
    if (given.contains(&TensorImpl::of(*member.tensor))) continue;
    if (report)
      report->missing.push_back(member.name);
    else
      misfits.add({"missing", member.name, shape(*member.tensor), "-"});
  }
  for (const auto& [name, value] : rest) {
    if (report)
      report->unexpected.push_back(name);
    else
      misfits.add({"unexpected", name, "-", value.defined() ? shape(value) : "-"});
  }
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

}  // namespace heed
