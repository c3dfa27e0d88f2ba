#include "nn/module.h"

#include <cxxabi.h>

#include <cstdlib>
#include <set>
#include <typeinfo>

#include "autograd/ops/shape.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/table.h"

namespace heed {

// Hooks on calls of a module. A graph may outlive the module, so backward hooks look here for it.
struct detail::ModuleHooks {
  const Module* module;
  Hooks<ForwardPreHook> before;
  Hooks<ForwardHook> after;
  Hooks<BackwardHook> backward;
};

namespace {

struct Member {
  std::string name;
  OwnedTensor* tensor;
  bool persistent;
};

// All that visit names, in its order: parameters and buffers under all their names, and each module once.
// Walking changes nothing by itself, so it serves const modules too.
class Walk : public Visitor {
 public:
  explicit Walk(const Module& module) { (*this)("", const_cast<Module&>(module)); }

  std::vector<Member> members;
  std::vector<NamedModule> modules;
  std::vector<Module*> children_first;

 protected:
  void member(const std::string& path, OwnedTensor& tensor, bool persistent) override {
    check(names_.insert(path).second, "visit: two members have the name \"", path,
          "\"; give every member a name of its own");
    members.push_back({path, &tensor, persistent});
  }
  void module(const std::string& path, Module& module) override {
    const bool first = seen_.insert(&module).second;
    if (first) modules.push_back({path, &module});
    module.visit(*this);
    if (first) children_first.push_back(&module);
  }

 private:
  std::set<std::string> names_;
  std::set<const Module*> seen_;
};

// A module as text: its type, the members that are its own, and each module in it as text.
class Outline : public Visitor {
 public:
  explicit Outline(const Module& module) : type_(module.type_name()) {
    const_cast<Module&>(module).visit(*this);
  }
  std::string text() const {
    if (children_.empty()) return type_ + "(" + members_ + ")";
    return type_ + "(" + (members_.empty() ? "" : "\n  " + members_) + children_ + "\n)";
  }

 protected:
  void member(const std::string& path, OwnedTensor& tensor, bool) override {
    members_ += (members_.empty() ? "" : ", ") + path + " " + to_string(tensor.shape());
  }
  void module(const std::string& path, Module& module) override {
    std::string child = Outline(module).text();
    for (size_t at = child.find('\n'); at != std::string::npos; at = child.find('\n', at + 1))
      child.insert(at + 1, "  ");
    children_ += "\n  (" + path + "): " + child;
  }

 private:
  std::string type_, members_, children_;
};

// A member as messages show it: "float32 [4, 3]".
std::string kind(const Tensor& x) { return to_string(x.dtype()) + " " + to_string(x.shape()); }

}  // namespace

void Visitor::inside(std::string_view name, const std::function<void()>& f) {
  const size_t length = path_.size();
  if (!path_.empty() && !name.empty()) path_ += '.';
  path_ += name;
  f();
  path_.resize(length);
}

void Visitor::tell(std::string_view name, OwnedTensor& tensor, bool persistent) {
  if (tensor.defined()) inside(name, [&] { member(path_, tensor, persistent); });
}

Module::Module(Module&& other) noexcept : training_(other.training_) {
  own_.hooks = std::move(other.own_.hooks);
  if (own_.hooks) own_.hooks->module = this;
}

std::vector<NamedTensor> Module::named(bool learned) const {
  std::set<const TensorImpl*> seen;  // tied ones count once, under their first name
  std::vector<NamedTensor> found;
  for (const Member& member : Walk(*this).members)
    if (member.tensor->learned() == learned && seen.insert(&TensorImpl::of(*member.tensor)).second)
      found.push_back({member.name, *member.tensor});
  return found;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> found;
  for (NamedTensor& parameter : named_parameters()) found.push_back(std::move(parameter.tensor));
  return found;
}

std::vector<NamedModule> Module::named_modules() { return Walk(*this).modules; }

std::vector<ConstNamedModule> Module::named_modules() const {
  std::vector<ConstNamedModule> found;
  for (const NamedModule& part : Walk(*this).modules) found.push_back({part.name, part.module});
  return found;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

StateDict Module::state_dict() const {
  StateDict state;
  for (const Member& member : Walk(*this).members)
    if (member.persistent) state[member.name] = member.tensor->detach();
  return state;
}

LoadReport Module::load_state_dict(const StateDict& state, bool strict, SourceLocation line) {
  const OpScope scope("load_state_dict", line);
  LoadReport report;
  prepare_load(state, strict, report)();
  return report;
}

std::function<void()> Module::prepare_load(const StateDict& state) {
  LoadReport report;
  return prepare_load(state, true, report);
}

std::function<void()> Module::prepare_load(const StateDict& state, bool strict, LoadReport& report) {
  std::vector<Member> members = Walk(*this).members;
  std::erase_if(members, [](const Member& member) { return !member.persistent; });
  std::set<const Storage*> memory;  // of the members
  for (const Member& member : members) memory.insert(TensorImpl::of(*member.tensor).storage.get());

  std::vector<std::pair<Tensor, Tensor>> writes;
  std::set<const TensorImpl*> given;
  StateDict unexpected = state;
  Table misfits({"", "name", "model", "given"});
  for (const Member& member : members) {
    const auto entry = unexpected.extract(member.name);
    if (entry.empty()) continue;
    const Tensor &own = *member.tensor, &value = entry.mapped();
    given.insert(&TensorImpl::of(own));
    if (!value.defined() || value.shape() != own.shape())
      misfits.add({"shape", member.name, to_string(own.shape()),
                   value.defined() ? to_string(value.shape()) : "undefined"});
    else if (value.dtype() != own.dtype() && !(is_floating(value.dtype()) && is_floating(own.dtype())))
      misfits.add({"dtype", member.name, kind(own), kind(value)});
    else  // values in a member's own memory must survive the first writes
      writes.push_back(
          {own, memory.contains(TensorImpl::of(value).storage.get()) ? kernel::clone(value) : value});
  }
  for (const Member& member : members)
    if (!given.contains(&TensorImpl::of(*member.tensor))) {
      report.missing.push_back(member.name);
      if (strict) misfits.add({"missing", member.name, to_string(member.tensor->shape()), "-"});
    }
  for (const auto& [name, value] : unexpected) {
    report.unexpected.push_back(name);
    if (strict) misfits.add({"unexpected", name, "-", value.defined() ? to_string(value.shape()) : "-"});
  }
  check(misfits.rows() == 0, "load_state_dict: ", misfits.rows(),
        misfits.rows() == 1 ? " name does" : " names do", " not fit ", type_name(), "; nothing was changed\n",
        misfits.to_string("  "), "\nwere they saved by another model, or by one with other options?");

  return [writes = std::move(writes)] {
    for (const auto& [own, value] : writes) {
      kernel::copy_into(own, value);
      TensorImpl::of(own).storage->wrote("load_state_dict", {});
    }
  };
}

void Module::train(bool training) {
  for (const NamedModule& part : named_modules()) part.module->training_ = training;
}

void Module::to(DType dtype) {
  check(is_floating(dtype), "to: a module computes in float32 or float64, not in ", dtype);
  for (const Member& member : Walk(*this).members)
    if (is_floating(member.tensor->dtype())) member.tensor->to_(dtype);
}

void Module::requires_grad_(bool requires_grad) {
  for (const Tensor& parameter : parameters()) parameter.requires_grad_(requires_grad);
}

void Module::zero_grad() {
  for (const Tensor& parameter : parameters())
    if (parameter.requires_grad()) parameter.set_grad(Tensor());
}

void Module::apply(const std::function<void(Module&)>& f) {
  for (Module* module : Walk(*this).children_first) f(*module);
}

detail::ModuleHooks& Module::hooks() {
  if (!own_.hooks) own_.hooks = std::make_shared<detail::ModuleHooks>(detail::ModuleHooks{this, {}, {}, {}});
  return *own_.hooks;
}

HookHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  return hooks().before.add(std::move(hook));
}
HookHandle Module::register_forward_hook(ForwardHook hook) { return hooks().after.add(std::move(hook)); }
HookHandle Module::register_backward_hook(BackwardHook hook) { return hooks().backward.add(std::move(hook)); }

std::string Module::type_name() const {
  const char* mangled = typeid(*this).name();
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), std::free);
  const std::string name = readable ? readable.get() : mangled;
  return name.substr(name.rfind(':', name.find('<')) + 1);  // all of it where there is no colon
}

std::string to_string(const Module& module) { return Outline(module).text(); }

namespace detail {
namespace {

// Paths live for ever, because nodes of graphs that outlive every module point to them. There are only as
// many as there are different texts.
const char* interned(const std::string& path) {
  static std::mutex mutex;
  static auto& paths = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return paths.insert(path).first->c_str();
}

// An Error that names its module already.
struct PlacedError : Error {
  using Error::Error;
};

}  // namespace

const char* ModuleCall::find_path(const Module& root) const {
  const uint64_t id = root.own_.id;
  const char* found = nullptr;
  for (const ConstNamedModule& part : root.named_modules()) {
    Own& own = part.module->own_;
    if (own.root.load(std::memory_order_acquire) != id) {
      own.path.store(interned(part.name), std::memory_order_relaxed);
      own.root.store(id, std::memory_order_release);
    }
    if (part.module == &module_) found = own.path.load(std::memory_order_relaxed);
  }
  return found ? found : module_path;  // not a member: it counts as part of the module that calls it
}

void ModuleCall::before(const std::vector<Tensor>& inputs) const {
  if (module_.own_.hooks) module_.own_.hooks->before.each([&](const auto& hook) { hook(module_, inputs); });
  if (CallObserver::current) CallObserver::current->before(module_, inputs);
}

Tensor ModuleCall::after(const std::vector<Tensor>& inputs, const Tensor& output) const {
  if (!output.defined()) return output;  // such as attention weights that nobody asked for
  if (CallObserver::current) CallObserver::current->after(module_, output);
  const std::shared_ptr<ModuleHooks>& hooks = module_.own_.hooks;
  if (!hooks) return output;
  Tensor y = output;
  const auto take = [](Tensor& x, Tensor replaced) {
    if (replaced.defined()) x = std::move(replaced);
  };
  hooks->after.each([&](const auto& hook) { take(y, hook(module_, inputs, y)); });
  if (!y.requires_grad() || !heed::grad_enabled() || hooks->backward.empty()) return y;
  // The hook sits on a node of this call's own: y may be a leaf, or an input that is returned as it came.
  y = alias(y);
  y.register_hook([hooks = std::weak_ptr(hooks), take](Tensor g) {
    if (const auto alive = hooks.lock())
      alive->backward.each([&](const auto& hook) { take(g, hook(*alive->module, g)); });
    return g;
  });
  return y;
}

void ModuleCall::rethrow() const {
  try {
    throw;
  } catch (const PlacedError&) {
    throw;
  } catch (const Error& error) {
    SourceLocation line = error.line();
    for (const ModuleCall* call = this; call && !is_user_code(line); call = call->outer_) line = call->line_;
    std::string message = error.what();
    if (is_user_code(line)) {
      const std::string before = "called " + at(error.line());
      const size_t place = message.rfind(before);
      if (place == std::string::npos)
        message.insert(std::min(message.find('\n'), message.size()), "; called " + at(line));
      else
        message.replace(place, before.size(), "called " + at(line));
    }
    const std::string where = outer_ ? path() : "";
    throw PlacedError(where.empty() ? message : "in " + where + ": " + message);
  }
}

}  // namespace detail
}  // namespace heed
