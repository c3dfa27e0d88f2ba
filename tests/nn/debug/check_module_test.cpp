#include "nn/debug/check_module.h"

#include "heed.h"
#include "tests/support/report.h"

namespace {

Tensor input() {
  Generator generator(3);
  return randn({4, 3}, float32, &generator);
}

// Base class of broken layers; the correct layer computes x * weight.
template <class Self>
struct Weighted : Layer<Self> {
  void visit(Visitor& v) override { v("weight", weight); }
  Parameter weight = from_vector<float>({0.5F, -2, 3}, {3});
};

// A layer whose forward is f(layer, x).
template <class F>
struct With : Weighted<With<F>> {
  explicit With(F f) : f(f) {}
  Tensor forward(const Tensor& x) const { return f(*this, x); }
  F f;
};

struct Sound : Weighted<Sound> {
  Tensor forward(const Tensor& x) const { return x * weight; }
};
struct Forgets : Weighted<Forgets> {  // visit does not name a member
  Tensor forward(const Tensor& x) const { return x * weight + bias; }
  Parameter bias = ones({3});
};
struct Twice : Weighted<Twice> {  // gives two members the same name
  Tensor forward(const Tensor& x) const { return x * weight + bias; }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("weight", bias);
  }
  Parameter bias = ones({3});
};
struct ReadsMemory : Weighted<ReadsMemory> {  // reads strided memory as if it were contiguous
  Tensor forward(const Tensor& x) const {
    static const auto copy = function(
        "copy",
        [](const Tensor& v) {
          Tensor y = zeros(v.shape(), v.dtype());
          if (v.dtype() == float32)
            std::copy_n(TensorImpl::of(v).storage->data + TensorImpl::of(v).offset * 4, v.numel() * 4,
                        TensorImpl::of(y).storage->data);
          else
            copy_(y, v);
          return y;
        },
        [](const Tensor& g, const Tensor&) { return g; });
    return copy(x) * weight;
  }
};
struct Remembers : Weighted<Remembers> {  // keeps state from call to call
  Tensor forward(const Tensor& x) const { return x * weight + static_cast<double>(++calls); }
  mutable int calls = 0;
};
struct Shares : Layer<Shares> {  // copies share the parameter
  Tensor forward(const Tensor& x) const { return (*inner)(x); }
  void visit(Visitor& v) override { v("inner", inner); }
  std::shared_ptr<Sound> inner = std::make_shared<Sound>();
};
struct Leaks : Weighted<Leaks> {
  explicit Leaks(bool in_training) : in_training(in_training) {}
  Tensor forward(const Tensor& x) const {
    const Tensor y = x * weight;
    if (training() == in_training) kept->push_back(y);
    return y;
  }
  bool in_training;
  std::shared_ptr<Tensors> kept = std::make_shared<Tensors>();
};
struct Stale : Weighted<Stale> {  // computes once from its weight and keeps it
  Tensor forward(const Tensor& x) const {
    if (this->training() || grad_enabled()) return x * weight * 2;
    if (!doubled.defined() || doubled.dtype() != x.dtype()) doubled = weight.detach() * 2;
    return x * doubled;
  }
  mutable Tensor doubled;
};
struct Volatile : Weighted<Volatile> {  // uses a buffer that is not saved
  Tensor forward(const Tensor& x) const { return x * weight + shift; }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("shift", shift, false);
  }
  Buffer shift = ones({3});
};

struct KeepsMask : Weighted<KeepsMask> {  // uses the mask of the first input for all later ones
  Tensor forward(const Tensor& x) const {
    if (!mask.defined() || mask.shape() != x.shape()) mask = (x > 0).detach();
    return where(mask, x * weight, 0);
  }
  mutable Tensor mask;
};
struct Counts : Weighted<Counts> {  // counts its calls in train()
  Tensor forward(const Tensor& x) { return x * weight * (1 + 0.1 * (calls += this->training())); }
  int calls = 0;
};
struct CopiedRandom : Weighted<CopiedRandom> {  // draws from a generator of its own
  Tensor forward(const Tensor& x) const {
    return this->training() ? x * weight * rand({1}, x.dtype(), &generator) : x * weight;
  }
  mutable Generator generator{1};
};
template <class Self>
struct Running : Weighted<Self> {
  void visit(Visitor& v) override {
    v("weight", this->weight);
    v("running", running);
  }
  Buffer running = ones({3});
};
struct StoresNaN : Running<StoresNaN> {  // stores the mean of no rows
  Tensor forward(const Tensor& x) {
    if (!this->training()) return (x - running) * weight;
    const Tensor m = mean(x, 0);
    unrecorded([&] { running = running * 0.9 + m * 0.1; });
    return (x - m) * weight;
  }
};
struct BatchNorm : Running<BatchNorm> {  // stores the variance of one row, 0 / 0
  Tensor forward(const Tensor& x) {
    if (!this->training()) return x / heed::sqrt(running + 1e-5) * weight;
    if (x.size(0) < least) throw Error("BatchNorm: too few rows");
    if (x.size(0) > 0) {
      const NoGrad guard;
      running = running * 0.9 + var(x, 0) * 0.1;
    }
    return x / heed::sqrt(mean(x * x, 0) + 1e-5) * weight;
  }
  int64_t least = 0;
};
struct Hidden : Weighted<Hidden> {  // random state that no file holds
  Hidden() : Hidden(3) {}
  explicit Hidden(int64_t n) {
    for (int64_t i = 0; i < n; ++i) noise.push_back(static_cast<float>(rand({1}).item()));
  }
  Tensor forward(const Tensor& x) const { return x * weight + heed::to(from_vector(noise, {3}), x.dtype()); }
  std::vector<float> noise;
};
struct HiddenOf : Hidden {  // without a default constructor
  explicit HiddenOf(int64_t n) : Hidden(n) {}
};

}  // namespace

TEST_CASE("check_module finds the fault of each broken layer") {
  const auto check = [](const auto& layer) { return failures(check_module(layer, {input()})); };
  const auto report_of = [](auto f) { return check_module(With(f), {input()}); };
  const auto with = [&](auto f) { return failures(report_of(f)); };
  // x * weight squared, with a gradient rule.
  const auto with_rule = [&](auto rule) {
    static const auto square = function(
        "square", [](const Tensor& v) { return v * v; }, rule);
    return with([](auto& l, auto& x) { return square(x * l.weight); });
  };
  CHECK(check(Sound()) == Texts{});
  CHECK(check(Forgets()) == Texts{"gradients reach"});
  CHECK(check(Twice()).front() == "names");
  CHECK(with([](auto& l, auto& x) { return x * l.weight.detach(); }) == Texts{"gradients reach"});
  CHECK(with([](auto& l, auto& x) { return x * l.weight + Parameter(ones({3}, x.dtype())); }) ==
        Texts{"gradients reach"});
  CHECK(with_rule([](const Tensor& g, const Tensor& v) { return g * v; }) == Texts{"first derivative"});
  CHECK(with_rule([](const Tensor& g, const Tensor& v) { return g * 2 * v.detach(); }) ==
        Texts{"second derivative"});
  const ModuleReport detached = report_of([](auto& l, auto& x) { return x * l.weight * x.detach(); });
  CHECK(failures(detached) == Texts{"first derivative", "second derivative"});
  CHECK(detached["second derivative"].cause == "the cause of the wrong first derivative");
  CHECK(check(ReadsMemory()) == Texts{"strided input"});
  CHECK(with([](auto& l, auto& x) {
          return x * l.weight / (x.size(0) > 0 ? 1.0 : throw Error("no rows"));
        }) == Texts{"empty batch"});
  CHECK(with([](auto& l, auto& x) { return (x - unsqueeze(mean(x, 0), 0)) * l.weight; }).front() ==
        "batch independence");
  CHECK(with([](auto& l, auto& x) { return F::dropout(x * l.weight, 0.5, true); }) == Texts{"evaluation"});
  CHECK(check(Remembers()) == Texts{"evaluation"});
  CHECK(check(KeepsMask()) == Texts{"evaluation"});
  CHECK(with([](auto& l, auto& x) {  // the generator ignores the seed
          static Generator generator(1);
          return l.training() ? x * l.weight * rand({1}, x.dtype(), &generator) : x * l.weight;
        })
            .front() == "training");
  CHECK(check(CopiedRandom()) == Texts{"training"});
  CHECK(check(Counts()) == Texts{"training"});
  [[maybe_unused]] static const auto in_place = [](const Tensor& x, bool write) {
    const NoGrad guard;
    if (write) mul_(x, 2);
    return x;
  };
  CHECK(with([](auto& l, auto& x) { return in_place(x, !x.requires_grad()) * l.weight; }) ==
        Texts{"evaluation"});
  CHECK(with([](auto& l, auto& x) { return in_place(x, l.training()) * l.weight; }) == Texts{"training"});
  CHECK(check(Shares()) == Texts{"copies"});
  CHECK(with([](auto& l, auto& x) { return heed::to(x * l.weight, float32); }).front() == "dtypes");
  const ModuleReport constant = report_of([](auto& l, auto& x) { return x * l.weight + full({3}, 0.1); });
  CHECK(failures(constant).front() == "dtypes");
  CHECK(contains(constant["dtypes"].cause, "a constant is made in one dtype"));
  CHECK(with([](auto& l, auto& x) { return x * l.weight * (1 + num_threads() * 1e-3); }) == Texts{"threads"});
  for (const bool in_training : {true, false}) CHECK(check(Leaks(in_training)) == Texts{"leaks"});
  CHECK(contains(to_string(check_module(Stale(), {input()})), "FAILED   saved and loaded"));
  CHECK(check(Volatile()) == Texts{"saved and loaded"});
  CHECK(check(StoresNaN()) == Texts{"empty batch"});
  CHECK(check(BatchNorm()) == Texts{"single example"});
  const ModuleReport root = report_of(  // the derivative of sqrt(0) is infinite
      [](auto& l, auto& x) { return heed::sqrt(mean(square((x - mean(x, 0)) * l.weight), 0)) + x; });
  CHECK(contains(root["single example"].found, "the gradient of weight holds NaN"));
  BatchNorm strict;
  strict.least = 2;
  CHECK(check_module(strict, {input()})["single example"].verdict == ModuleCheck::Verdict::passed);
  CHECK(check(Hidden()) == Texts{"saved and loaded"});
  CHECK(check(HiddenOf(3)) == Texts{});  // it is not known how to construct another one
  CHECK(check([] { return HiddenOf(3); }) == Texts{"saved and loaded"});
}

TEST_CASE("check_module raises no false alarm for the layers of heed") {
  Generator random(5);
  const auto x = [&](const Shape& shape) { return randn(shape, float32, &random); };
  const auto check = [](const auto& layer, const Tensors& in, const CheckModuleOptions& options = {}) {
    const ModuleReport report = check_module(layer, in, options);
    CHECK_MESSAGE(report.ok(), to_string(report));
  };
  check(Dropout(0.4), {x({3, 4})});
  check(Linear(3, 2), {x({4, 3})});
  check(Linear(3, 2, {.bias = false}), {x({2, 2, 3})});
  check(Embedding(5, 3), {tensor({{0, 4, 2}, {1, 1, 3}}, int64)});
  check(LayerNorm(3), {x({4, 3})});
  check(LayerNorm({2, 3}), {x({3, 2, 3})});
  check(RMSNorm(3), {x({4, 3})});
  check(Sequential{Linear(3, 4), LayerNorm(4), Dropout(0.2), Linear(4, 1)}, {x({3, 3})});
  check(SinusoidalPosition(4), {x({2, 3, 4})});
  check(LearnedPosition(5, 4), {x({2, 3, 4})});
  check(RotaryPosition(4), {x({2, 3, 4})});
  check(MultiheadAttention(4, 2), {x({2, 3, 4})});
  check(MultiheadAttention(4, 2), {x({2, 3, 4}), x({2, 2, 4}), x({2, 2, 4})});
  check(MultiheadAttention(4, 2, {.dropout = 0.3}), {x({2, 3, 4})});
  check(AttentionPooling(AdditiveScore(3, 2, 4)), {x({2, 2, 3}), x({2, 3, 2}), x({2, 3, 5})});
  check(AttentionPooling(ScaledDotScore()), {x({2, 2, 3}), x({2, 3, 3}), x({2, 3, 5})});
  check(NadarayaWatson(), {x({4}), x({5}), x({5})}, {.batch_dim = -1});
  check(RNN(3, 2, {.batch_first = true}), {x({2, 3, 3})});
  check(GRU(3, 2, {.batch_first = true}), {x({2, 3, 3})});
  check(LSTM(3, 2, {.batch_first = true}), {x({2, 3, 3})});
  check(RNNCell(3, 2), {x({2, 3}), x({2, 2})});
  check(GRUCell(3, 2), {x({2, 3}), x({2, 2})});
  check(TransformerEncoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0.1}), {x({2, 3, 4})});
  check(TransformerDecoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0.1}), {x({2, 3, 4}), x({2, 2, 4})});
}

TEST_CASE("check_module prints a report and does not change the module") {
  Forgets layer;
  layer.eval();
  manual_seed(8);
  const uint64_t position = default_generator().position();
  const ModuleReport report = check_module(layer, {input()});
  CHECK(!layer.training());
  CHECK(default_generator().position() == position);
  CHECK(!layer.weight.grad().defined());
  CHECK(layer.weight.dtype() == float32);
  CHECK(!report);
  CHECK(to_string(report) ==
        "Forgets: 1 of 15 checks failed\n"
        "  passed   names\n"
        "  passed   evaluation\n"
        "  passed   training\n"
        "  FAILED   gradients reach\n"
        "             a leaf of shape [3] is not in parameters()\n"
        "             likely: visit does not name a member; or forward creates a new one in each call, which "
        "never learns\n"
        "  passed   copies\n"
        "  passed   strided input\n"
        "  passed   batch independence\n"
        "  passed   empty batch\n"
        "  passed   single example\n"
        "  skipped  dtypes: \"gradients reach\" failed\n"
        "  passed   threads\n"
        "  skipped  first derivative: \"gradients reach\" failed\n"
        "  skipped  second derivative: \"gradients reach\" failed\n"
        "  passed   saved and loaded\n"
        "  passed   leaks");
  CHECK(report["leaks"].verdict == ModuleCheck::Verdict::passed);
  CHECK_ERROR(report["luck"], "ModuleReport: there is no check \"luck\" of Forgets");
  const std::string less = to_string(check_module(Sound(), {input()}, {.batch_dim = -1, .skip = {"leaks"}}));
  for (const char* part : {"Sound: sound\n", "  skipped  leaks: left out by the caller",
                           "  skipped  batch independence: there are no rows"})
    CHECK(contains(less, part));
  CHECK_ERROR(check_module(Sound(), {input(), input()}),
              "check_module: Sound cannot be called with 2 tensors");
  CHECK_ERROR_HAS(check_module(Sound(), {}), "give one to four, or a call");
  const ModuleReport wrong = check_module(Linear(5, 2), {input()});
  CHECK(failures(wrong) == Texts{"evaluation"});
  CHECK(contains(wrong["evaluation"].found, "linear"));
}

TEST_CASE("check_training lists parameters that lack a gradient, a name or an optimizer") {
  Forgets layer;
  Sequential model{Linear(3, 3), Linear(3, 2)};
  SGD sgd(model.parameters());
  F::mse_loss(model(input()), zeros({4, 2})).backward();
  const Tensor loss = F::mse_loss(model(input()), zeros({4, 2}));
  CHECK(check_training(model, sgd, loss).empty());
  const Sequential copy = model;
  const std::string other = check_training(copy, sgd, loss);
  for (const char* part : {"0.weight [3, 3] has no gradient", "0.weight [3, 3] is not held by SGD",
                           "a leaf of shape [3, 3] is not in parameters()", "that is none of the model's"})
    CHECK(contains(other, part));
  SGD own(layer.parameters());
  const Tensor y = sum(layer(input()));
  y.backward();
  CHECK(contains(check_training(layer, own, y),
                 "the loss depends on what the model does not name: a leaf of shape [3]"));
}
