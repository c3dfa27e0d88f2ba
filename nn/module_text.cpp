// Modules as text.

#include <cxxabi.h>

#include <cstdlib>
#include <typeinfo>

#include "nn/module.h"
#include "tensor/utf8.h"

namespace heed {

std::string Module::type_name() const {
  const char* mangled = typeid(*this).name();
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), std::free);
  const std::string name = readable ? readable.get() : mangled;
  return name.substr(name.rfind(':', name.find('<')) + 1);  // without namespaces
}

std::string to_string(const Module& module) {
  struct Outline : Visitor {
    void member(const std::string& path, OwnedTensor& tensor, bool) override {
      members += (members.empty() ? "" : ", ") + path + " " + to_string(tensor.shape());
    }
    void module(const std::string& path, Module& child) override {
      children += "\n(" + path + "): " + to_string(child);
    }
    std::string members, children;
  } outline;
  const_cast<Module&>(module).visit(outline);
  const std::string start = module.type_name() + "(", &members = outline.members;
  if (outline.children.empty()) return start + members + ")";
  const std::string lines = (members.empty() ? "" : "\n" + members) + outline.children;
  return start + replaced(lines, "\n", "\n  ") + "\n)";
}

}  // namespace heed
