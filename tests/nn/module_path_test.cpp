#include "tests/nn/modules.h"

using namespace heed;
using test::Model;

TEST_CASE("operations know the path of their module, also after it was copied or moved") {
  struct Probe : Layer<Probe> {
    std::string forward() const { return detail::module_path; }
  };
  struct Holder : Layer<Holder> {
    Texts forward() const {
      Texts paths;
      for (const Probe& probe : probes) paths.push_back(probe());
      paths.push_back(Probe()());  // not a member
      return paths;
    }
    void visit(Visitor& v) override { v("probes", probes); }
    std::vector<Probe> probes = std::vector<Probe>(2);
  };
  struct Top : Layer<Top> {
    Texts forward() const { return holder(); }
    void visit(Visitor& v) override { v("holder", holder); }
    Holder holder;
  };
  CHECK(Probe()() == "");
  Top top;
  CHECK(top() == Texts{"holder.probes.0", "holder.probes.1", "holder"});
  CHECK(top() == Texts{"holder.probes.0", "holder.probes.1", "holder"});
  CHECK(top.holder() == Texts{"probes.0", "probes.1", ""});
  top.holder.probes.emplace_back();
  CHECK(top()[2] == "holder.probes.2");
  std::swap(top.holder.probes[0], top.holder.probes[1]);
  CHECK(top()[0] == "holder.probes.0");
  top.holder.probes.erase(top.holder.probes.begin());
  CHECK(top() == Texts{"holder.probes.0", "holder.probes.1", "holder"});
  const Top copy = top;
  CHECK(copy.holder() == Texts{"probes.0", "probes.1", ""});
  CHECK(std::string(detail::module_path) == "");

  Model model;
  const Tensor y = model.layers[0](full({2}, 1));
  CHECK(std::string(Node::of(y)->module) == "");
  const Tensor z = model(full({2}, 1));
  CHECK(std::string(Node::of(z)->module) == "counter");
}
