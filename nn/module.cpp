#include "nn/module.h"

#include <set>

#include "tensor/lists.h"

namespace heed {

// Everything that visit names, in its order: parameters and buffers under all their names, each module once.
// It changes nothing, so it also walks const modules.
class Module::Walk : public Visitor {
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

std::vector<Module::Member> Module::members() const { return Walk(*this).members; }

std::vector<NamedTensor> Module::named(bool learned) const {
  std::set<const TensorImpl*> seen;  // a tied member is listed once
  std::vector<NamedTensor> found;
  for (const Member& member : members())
    if (member.tensor->learned() == learned && seen.insert(&TensorImpl::of(*member.tensor)).second)
      found.push_back({member.name, *member.tensor});
  return found;
}

std::vector<Tensor> Module::parameters() const {
  return detail::mapped(named_parameters(), &NamedTensor::tensor);
}

std::vector<NamedModule> Module::named_modules() { return Walk(*this).modules; }

std::vector<ConstNamedModule> Module::named_modules() const {
  const auto as_const = [](const NamedModule& part) { return ConstNamedModule{part.name, part.module}; };
  return detail::mapped(Walk(*this).modules, as_const);
}

void Module::apply(const std::function<void(Module&)>& f) {
  for (Module* module : Walk(*this).children_first) f(*module);
}

}  // namespace heed
