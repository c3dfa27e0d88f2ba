#pragma once

#include "tests/support/expect.h"

/// Modules shared by the tests of nn/module*.h and nn/state_dict.h.
namespace heed::test {

struct Scale : Layer<Scale> {
  explicit Scale(double value, int64_t size = 2) : weight(full({size}, value)) {}
  Tensor forward(const Tensor& x) const {
    check(x.size(-1) == weight.size(0), "scale: x is ", x.shape());
    return x * weight;
  }
  void visit(Visitor& v) override { v("weight", weight); }
  Parameter weight;
};

struct Counter : Layer<Counter> {
  Tensor forward(const Tensor& x) {
    calls = calls + 1;
    return x + calls;
  }
  void visit(Visitor& v) override {
    v("calls", calls);
    v("scratch", scratch, false);
  }
  Buffer calls{full({}, 0)};
  Buffer scratch{full({3}, 0)};
};

struct Shifter {  // not a module, but it has a parameter
  Tensor operator()(const Tensor& x) const { return x + shift; }
  void visit(Visitor& v) { v("shift", shift); }
  Parameter shift{full({}, 1)};
};

struct Model : Layer<Model> {
  Model() { layers.assign(2, Scale(2)); }
  Tensor forward(const Tensor& x) {
    Tensor y = x;
    for (const Scale& layer : layers) y = layer(y);
    if (extra) y = (*extra)(y);
    return counter(shifter(y));
  }
  /// The line in which forward() calls a layer.
  static std::string layer_call() { return std::string(__FILE__) + ":" + std::to_string(__LINE__ - 5); }
  void visit(Visitor& v) override {
    v("layers", layers);
    v("extra", extra);
    v("shifter", shifter);
    v("counter", counter);
    v("absent", absent);
    v("tied", layers[0].weight);
  }
  std::vector<Scale> layers;
  std::optional<Scale> extra;
  Shifter shifter;
  Counter counter;
  Parameter absent;
};

}  // namespace heed::test
