// Runs every check on every row of the table, and on planted faults that the checks must detect.

#include "autograd/ops/activation.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/moments.h"
#include "autograd/ops/scan.h"
#include "tests/autograd/op_checks.h"
#include "tests/support/expect.h"

using namespace heed::test;

TEST_CASE("operators: every row passes every check") {
  for (const OpCase& row : op_cases())
    for (const std::string& finding : findings(row, check_row)) FAIL_CHECK(finding);
}

namespace {

bool finds(Check* check, const OpCase& row, const std::string& text) {
  return std::ranges::any_of(findings(row, check), [&](auto& finding) { return contains(finding, text); });
}

// A row for an operation with a planted fault.
OpCase planted(Call call, std::vector<Input> inputs = {{2, 3}}) {
  return {.op = "planted", .call = call, .inputs = std::move(inputs)};
}

#define PLANTED(...) planted([](auto& in) -> Tensor { return __VA_ARGS__; })

// Operations with one fault each.

Tensor plain_square(const Tensor& x) {
  const NoGrad guard;
  return x * x;
}

// The rule forgets the factor 2.
Tensor wrong_rule(Operand x) {
  return record("planted", plain_square(x), {{x, [x = save(x)](const Tensor& g) { return g * x(); }}});
}

// The gradient is correct but has no history.
Tensor wrong_second(Operand x) {
  return record("planted", plain_square(x),
                {{x, [x = save(x)](const Tensor& g) { return g * (2 * x().detach()); }}});
}

// The gradient of b equals that of a.
Tensor wrong_pair(Operand a, Operand b) {
  const auto rule = [&] { return [b = save(b)](const Tensor& g) { return g * b(); }; };
  return record("planted", clone(mul(a->detach(), b->detach())), {{a, rule()}, {b, rule()}});
}

// Correct for operands of one shape; takes one row of the gradient of a broadcast operand.
Tensor wrong_broadcast(Operand a, Operand b) {
  const Tensor y = a->detach() * b->detach();
  return record("planted", y,
                {{a, [b = save(b)](const Tensor& g) { return g * b(); }},
                 {b, [a = save(a), b = save(b)](const Tensor& g) {
                    const Tensor d = g * a();
                    return d.shape() == b().shape() ? d : reshape(d.dim() > 0 ? select(d, 0, 0) : d, {-1});
                  }}});
}

// Ignores the strides.
Tensor wrong_strides(Operand x) {
  Tensor y = Tensor::empty(x->shape(), x->dtype());
  visit_floating(x->dtype(), [&]<class T>(Type<T>) {
    for (int64_t i = 0; i < y.numel(); ++i)
      y.mutable_data<T>()[i] = 3 * x->data<T>()[std::min<int64_t>(i, 1)];
  });
  return y;
}

// Computes in float32 for every dtype.
Tensor wrong_precision(Operand x) {
  return record("planted", to(exp(to(x->detach(), float32)), x->dtype()),
                {{x, [](const Tensor& g, const Tensor& y) { return g * y; }}});
}

// Inaccurate in float32: 1 - cos(x) for small x.
Tensor cancels(Operand x) { return (1 - cos(x)) / square(x); }

// Captures the operand without save().
Tensor wrong_save(Operand x) {
  return record("planted", plain_square(x), {{x, [x = x.tensor()](const Tensor& g) { return g * (2 * x); }}});
}

// Throws without names and lines.
Tensor wrong_message(Operand x) {
  const int64_t version = TensorImpl::of(x).storage->version;
  return record("planted", plain_square(x), {{x, [x = x.tensor(), version](const Tensor& g) {
                                                if (TensorImpl::of(x).storage->version != version)
                                                  throw Error("overwritten");
                                                return g * (2 * x);
                                              }}});
}

// The fused and the recorded gradient differ.
Tensor wrong_one_pass(Operand x) {
  return record("planted", plain_square(x), {{x, [x = save(x)](const Tensor& g) {
                                                if (!grad_enabled()) return g * (2.001 * x());
                                                return g * (2 * x());
                                              }}});
}

// The reference implementation is another function.
Tensor wrong_reference(Operand x) {
  const ReferenceFunction reference = [](const Tensors& in) { return in[0] * in[0] * in[0]; };
  if (reference_mode()) return reference({x});
  return record(
      "planted", plain_square(x), {x},
      [x = save(x)](const Tensor& g, const Tensor&) -> Gradients { return {g * (2 * x())}; }, reference);
}

// Throws for empty inputs.
Tensor wrong_empty(Operand x) {
  check(x->numel() > 0, "planted: nothing there");
  return clone(x);
}

// The gradient is NaN for empty inputs.
Tensor wrong_empty_gradient(Operand x, Operand weight) {
  return record(
      "planted", x->detach() * weight->detach(),
      {{weight, [x = save(x)](const Tensor& g) { return sum(g * x(), 0) / (x().numel() ? 1 : 0); }}});
}

Tensor wrong_in_place(Operand x) {
  visit_floating(x->dtype(), [&]<class T>(Type<T>) {
    T* out = const_cast<T*>(x->data<T>());
    for (int64_t i = 0; i < x->numel(); ++i) out[i] = 7;
  });
  return x;
}

}  // namespace

TEST_CASE("operators: the checks detect planted faults") {
  const OpCase good = {"square", [](auto& in) { return square(in[0]); }, {{2, 3}}};
  CHECK(findings(good, check_row).empty());

  CHECK(finds(check_gradients, PLANTED(wrong_rule(in[0])), "numeric gradient"));

  const OpCase second = PLANTED(wrong_second(in[0]));
  CHECK_FALSE(finds(check_gradients, second, "gradient of 0: input"));
  CHECK(finds(check_gradients, second, "of the gradient: "));

  const OpCase pair = planted([](auto& in) { return wrong_pair(in[0], in[1]); }, {{2, 3}, {2, 3}});
  CHECK(finds(check_gradients, pair, "gradient of 1:"));
  CHECK(finds(check_gradients, pair, "gradient of 0 1:"));
  CHECK_FALSE(finds(check_gradients, pair, "gradient of 0:"));

  OpCase broadcast = planted([](auto& in) { return wrong_broadcast(in[0], in[1]); }, {{2, 3}, {2, 3}});
  broadcast.broadcasts = true;
  CHECK(findings(broadcast, check_gradients).empty());
  CHECK(finds(check_broadcast, broadcast, "input 1 of shape [3]"));

  // A row that claims to broadcast.
  OpCase shapes = planted([](auto& in) { return mm(in[0], in[1]); }, {{2, 2}, {2, 2}});
  shapes.broadcasts = true;
  CHECK_FALSE(findings(shapes, check_broadcast).empty());

  const OpCase strides = PLANTED(wrong_strides(in[0]));
  CHECK(finds(check_layouts, strides, "transposed input 0"));
  CHECK(finds(check_layouts, strides, "stepped input 0"));

  CHECK(finds(check_gradients, PLANTED(wrong_precision(in[0])), "numeric gradient"));

  const OpCase inexact = planted([](auto& in) { return cancels(in[0]); }, {between(0.01, 0.02, {2, 3})});
  CHECK(finds(check_precision, inexact, "float32, output"));

  const OpCase saves = PLANTED(wrong_save(in[0]));
  for (const char* writer : {"add_", "mul_", "fill_", "copy_", "mutable_data"})
    CHECK(finds(check_overwritten, saves, std::string("input 0 overwritten by ") + writer + ", gradient"));

  const OpCase message = PLANTED(wrong_message(in[0]));
  CHECK(finds(check_overwritten, message, "lacks the write by add_"));
  CHECK(finds(check_overwritten, message, "lacks the save by planted"));

  CHECK(finds(check_fused, PLANTED(wrong_one_pass(in[0])), "one pass against recorded, gradient"));

  const OpCase reference = PLANTED(wrong_reference(in[0]));
  CHECK(finds(check_fused, reference, "operation against reference, output"));
  if (!reference_mode())  // in reference mode there is nothing to compare with
    CHECK(finds(check_gradients, reference, "of the gradient: "));

  CHECK(finds(check_empty, PLANTED(wrong_empty(in[0])), "nothing there"));
  OpCase lenient = PLANTED(clone(in[0]));
  lenient.refuses_empty = true;
  CHECK(finds(check_empty, lenient, "instead of an Error"));
  const OpCase gradient = planted([](auto& in) { return wrong_empty_gradient(in[0], in[1]); }, {{2, 3}, {3}});
  CHECK(finds(check_empty, gradient, "is not zero"));

  OpCase in_place = PLANTED(wrong_in_place(in[0]));
  in_place.plain = [](auto& in) { return full(in[0].shape(), 7, in[0].dtype()); };
  in_place.in_place = true;
  CHECK(finds(check_plain, in_place, "writes while operations are recorded"));
  CHECK(finds(check_plain, in_place, "does not increment the version"));

  OpCase comparison =
      planted([](auto& in) { return in[0] <= in[1]; }, {integers(0, 2, {3, 4}), integers(0, 2, {3, 4})});
  comparison.plain = [](auto& in) { return in[0] < in[1]; };
  CHECK(finds(check_plain, comparison, "against plain numbers"));
}

TEST_CASE("operators: an error names the operation, its operands and the line of the call") {
  const Tensor a = ones({2, 3}), b = ones({4}), mask = ones({2, 4}, boolean);
  const std::string rule =
      ": they do not broadcast; aligned at the right, sizes must be equal or 1, and 3 meets 4";
  const std::string picture = "\n  a  [2, 3]\n  b     [4]\n         ^";
  const int line = __LINE__ + 1;
  const std::string whole = whole_message([&] { a + b; });
  CHECK(whole ==
        "add: a is [2, 3], b is [4]" + rule + "; called at " __FILE__ ":" + std::to_string(line) + picture);
  CHECK_ERROR(maximum(a, b), "maximum: a is [2, 3], b is [4]" + rule + picture);
  CHECK_ERROR(masked_fill(a, mask, 0), "masked_fill: x is [2, 3], mask is [2, 4]" + rule +
                                           "\n  x     [2, 3]\n  mask  [2, 4]\n            ^");
  CHECK_ERROR(a * ones({2}, float64),
              "mul: a is float32 [2, 3], b is float64 [2]; operands must have one dtype, convert one with "
              "to(x, float64)");
}

TEST_CASE("operators: an error inside a gradient rule names the operation, the rule and both lines") {
  const auto faulty = [](Operand x) {
    const OpScope scope("faulty", x.line());
    return record("faulty", clone(x->detach()), {{x, [](const Tensor& g) { return g + ones({7}); }}});
  };
  const int inner = __LINE__ - 2, outer = __LINE__ + 1;
  const Tensor y = faulty(ones({2, 3}).requires_grad_());
  const std::string file = std::string(" called at ") + __FILE__ + ":";
  CHECK(whole_message([&] { sum(y).backward(); }) ==
        "add: a is [2, 3], b is [7]: they do not broadcast; aligned at the right, sizes must be equal or 1, "
        "and 3 meets 7;" +
            file + std::to_string(inner) + "; in the gradient rule of faulty," + file +
            std::to_string(outer) + "\n  a  [2, 3]\n  b     [7]\n         ^");
}

TEST_CASE("operators: an unexpected exception is a finding") {
  const OpCase throws =
      planted([](auto& in) -> Tensor { throw std::runtime_error(in.empty() ? "" : "thrown"); });
  CHECK(finds(check_gradients, throws, "thrown"));
  CHECK(finds(check_precision, throws, "thrown"));
}

TEST_CASE("max and min: several NaN share the gradient") {
  for (Tensor (*most)(Operand) :
       {static_cast<Tensor (*)(Operand)>(max), static_cast<Tensor (*)(Operand)>(min)}) {
    const Tensor x = tensor({1, std::nan(""), 3, std::nan("")}).requires_grad_();
    most(x).backward();
    CHECK(values(x.grad()) == Values{0, 0.5, 0, 0.5});
  }
}

TEST_CASE("prod and cat of empty tensors keep the history") {
  const Tensor x = ones({3, 0}).requires_grad_(), y = ones({0}).requires_grad_();
  CHECK(values(prod(x, 1)) == Values{1, 1, 1});
  sum(prod(x, 1)).backward();
  CHECK(x.grad().shape() == Shape{3, 0});
  sum(cat({y, ones({2, 2})}, 1)).backward();
  CHECK(y.grad().shape() == Shape{0});
}

TEST_CASE("fractions for int64 tensors throw instead of being truncated") {
  const Tensor x = ones({2}, int64);
  const NoGrad guard;
  const std::string why = " does not fit a int64 tensor";
  CHECK_ERROR_HAS(add(x, x, 0.5), "add: the number 0.5" + why);
  CHECK_ERROR_HAS(sub(x, x, 0.5), "sub: the number 0.5" + why);
  CHECK_ERROR_HAS(add_(x, x, 0.5), "add_: the number 0.5" + why);
  CHECK_ERROR_HAS(sub_(x, x, 0.5), "sub_: the number 0.5" + why);
  CHECK_ERROR_HAS(fill_(x, 2.7), "fill_: the number 2.7" + why);
  CHECK_ERROR_HAS(copy_(x, 2.7), "copy_: the number 2.7" + why);
  CHECK_ERROR_HAS(pad(x, {1, 1}, 2.7), "pad: the number 2.7" + why);
  CHECK_ERROR_HAS(clamp(x, 0.5), "clamp: the number 0.5" + why);
  CHECK_ERROR_HAS(masked_fill(x, x > 0, 2.7), "masked_fill: the number 2.7" + why);
  CHECK_ERROR_HAS(where(x > 0, x, 2.7), "where: the number 2.7" + why);
  CHECK(add(x, x, 2).to_vector<int64_t>() == std::vector<int64_t>{3, 3});
  CHECK(values(x) == Values{1, 1});
}

TEST_CASE("positions and dims are checked even if no element is read") {
  const Tensor five = tensor({5}, int64);
  CHECK_ERROR_HAS(index_select(ones({2, 0}), 0, five), "position 5 is out of range");
  CHECK_ERROR_HAS(embedding(ones({2, 0}), five), "position 5 is out of range");
  CHECK_ERROR_HAS(flip(ones({2, 0}), {0, 0}), "same dimension twice");
  CHECK_ERROR_HAS(flip(ones({2, 0}), {2}), "out of range");
}

TEST_CASE("gelu is accurate near zero and keeps its sign") {
  for (const Gelu kind : {Gelu::none, Gelu::tanh})
    for (const bool backward : {false, true}) {
      const Tensor x = linspace(-9, 9, 20001).requires_grad_(),
                   exact = to(x.detach(), float64).requires_grad_();
      const Tensor y = gelu(x, kind), want = gelu(exact, kind);
      sum(y).backward();
      sum(want).backward();
      const Values at = values(x);
      const Values got = values(backward ? x.grad() : y), true_ = values(backward ? exact.grad() : want);
      for (size_t i = 0; i < got.size(); ++i) {
        const double digits = kind == Gelu::none && !backward && std::abs(at[i]) < 1 ? 2.4e-7 : 1e-5;
        // The derivative is 0 near -0.75, where terms cancel; its error is relative to them.
        const double scale =
            backward ? std::max(std::abs(true_[i]), std::abs(at[i]) < 2 ? 0.1 : 0.0) : std::abs(true_[i]);
        if (!(std::abs(got[i] - true_[i]) <= digits * scale + 1e-44))
          FAIL("gelu ", backward ? "gradient" : "value", " at ", at[i], ": ", got[i], " instead of ",
               true_[i]);
      }
    }
}

TEST_CASE("atan2 and log2 at the edges") {
  const Tensor a = leaf({1, -1, 0, 0, 0}), b = leaf({-1, -1, -1, 0, 2}), y = atan2(a, b);
  CHECK(largest_difference(values(y), {2.356194490192345, -2.356194490192345, 3.141592653589793, 0, 0}) <
        1e-15);
  sum(y * (counted({5}, float64) + 1)).backward();
  CHECK(values(a.grad()) == Values{-0.5, -1, -3, 0, 2.5});
  CHECK(values(b.grad()) == Values{-0.5, 1, 0, 0, 0});
  CHECK(largest_difference(values(log2(tensor({8, 0, 1e-300, -1}, float64))),
                           {3, -kInf, -996.5784284662087, kNaN}) < 1e-12);
}
