#include "nn/debug/check_module.h"

#include <cmath>
#include <set>

#include "autograd/debug/gradcheck.h"
#include "autograd/debug/graph.h"
#include "autograd/engine.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/optim/optimizer.h"
#include "tensor/create.h"
#include "tensor/index.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/reduce.h"
#include "tensor/memory.h"
#include "tensor/parallel.h"
#include "tensor/random.h"
#include "tensor/table.h"

namespace heed {
namespace {

using Tensors = std::vector<Tensor>;
using detail::CheckedModule;
using Verdict = ModuleCheck::Verdict;
using detail::text;

// Thrown to end a check.
struct Ended {
  Verdict verdict;
  std::string found, cause = {};
};

void expect(bool holds, const std::string& found, const std::string& cause) {
  if (!holds) throw Ended{Verdict::failed, found, cause};
}
void skip_if(bool condition, const std::string& why) {
  if (condition) throw Ended{Verdict::skipped, why};
}

std::string bytes_of(const Tensors& all) {
  std::string bytes;
  for (const Tensor& x : all)
    x.for_each([&](auto v) { bytes.append(reinterpret_cast<const char*>(&v), sizeof v); });
  return bytes;
}

Tensors each(const Tensors& all, const std::function<Tensor(const Tensor&)>& f) {
  Tensors found;
  for (const Tensor& x : all) found.push_back(f(x));
  return found;
}

// Where two lists of results differ most, relative to max(1, |b|); "" if they agree within the tolerance.
std::string max_difference_text(const Tensors& a, const Tensors& b, double tolerance) {
  if (a.size() != b.size()) return text(a.size(), " results and ", b.size());
  double most = tolerance;
  std::string found;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].shape() != b[k].shape()) return text("shapes ", a[k].shape(), " and ", b[k].shape());
    const auto x = a[k].to_vector<double>(), y = b[k].to_vector<double>();
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
      const double distance = std::abs(x[i] - y[i]) / std::max(1.0, std::abs(y[i]));
      if (distance <= most) continue;
      most = std::isnan(distance) ? INFINITY : distance;
      found = text(x[i], " and ", y[i], " at element ", i, " of ", a[k].shape(),
                   a.size() > 1 ? text(" of result ", k + 1) : "");
    }
  }
  return found;
}

void expect_equal(const Tensors& a, const Tensors& b, const std::string& what, const char* cause,
                  double tolerance = 0) {
  const std::string found = max_difference_text(a, b, tolerance);
  expect(found.empty(), what + ": " + found, cause);
}

std::vector<NamedTensor> named_members(const Module& module) {
  std::vector<NamedTensor> all = module.named_parameters();
  std::ranges::copy(module.named_buffers(), std::back_inserter(all));
  return all;
}
Tensors members(const Module& module) {
  Tensors all;
  for (const NamedTensor& member : named_members(module)) all.push_back(member.tensor.detach());
  return all;
}
// Writes only members that differ: other graphs may have saved the rest.
void write(const Module& module, const Tensors& values) {
  const Tensors now = members(module);
  for (size_t i = 0; i < std::min(now.size(), values.size()); ++i)
    if (bytes_of({now[i]}) != bytes_of({values[i]})) kernel::copy_into(now[i], values[i]);
}
// Changes the values of all floating members.
void scramble(const Module& module) {
  write(module, each(members(module), [](const Tensor& x) {
          return is_floating(x.dtype()) ? kernel::contiguous(x * 1.25 + 0.25) : x;
        }));
}

class ModuleChecker {
 public:
  ModuleChecker(const CheckedModule& subject, const std::function<CheckedModule()>& make,
                const Tensors& inputs, const CheckModuleOptions& options)
      : subject_(subject), make_(make), options_(options), inputs_(each(inputs, kernel::clone)) {}

  ModuleReport run() {
    report_.module = subject_.module->type_name();
    check("names", [&] { names(); });
    if (report_.ok()) check("evaluation", [&] { evaluation(); });
    if (!report_.ok()) return report_;  // the other checks would fail for the same reason
    check("training", [&] { training(); });
    check("gradients reach", [&] { reach(); });
    check("copies", [&] { copies(); });
    check("strided input", [&] { strided(); });
    check("batch independence", [&] { batch_independence(); });
    check("empty batch", [&] { empty_batch(); });
    check("single example", [&] { single_example(); });
    check("dtypes", [&] { dtypes(); });
    check("threads", [&] { threads(); });
    check("first derivative", [&] { derivative(gradcheck); });
    check("second derivative", [&] { derivative(gradgradcheck); });
    check("saved and loaded", [&] { saved_and_loaded(); });
    check("leaks", [&] { leaks(); });
    return report_;
  }

 private:
  void check(const char* name, const std::function<void()>& run) {
    ModuleCheck& one = report_.checks.emplace_back(ModuleCheck{name});
    try {
      skip_if(std::ranges::count(options_.skip, name), "left out by the caller");
      manual_seed(options_.seed);
      on_error_ = "the module threw an error; its message says where";
      run();
    } catch (const Ended& ended) {
      one = {name, ended.verdict, ended.found, ended.cause};
    } catch (const detail::NotCallable&) {
      throw;
    } catch (const std::exception& error) {
      one = {name, Verdict::failed, error.what(), on_error_};
    }
    restore();
  }

  // Undoes changes of the subject, which shares memory with a faulty copy.
  void restore() {
    set_num_threads(threads_);
    Module& module = *subject_.module;
    if (failed("names")) return;
    if (before_.empty()) before_ = each(members(module), kernel::clone);
    module.zero_grad();
    for (size_t i = 0; i < before_.size(); ++i)
      if (members(module)[i].dtype() != before_[i].dtype()) module.to(before_[i].dtype());
    write(module, before_);
  }

  // Skips the check if an earlier failure explains that of this one.
  void needs(const char* name) const { skip_if(failed(name), text("\"", name, "\" failed")); }
  bool failed(const char* name) const { return report_[name].verdict == Verdict::failed; }

  CheckedModule fresh(bool training) const {
    CheckedModule copy = subject_.copy();
    copy.module->train(training);
    return copy;
  }
  Tensors call(const CheckedModule& one, const Tensors& inputs) const {
    manual_seed(options_.seed);
    return one.call(inputs);
  }
  // Results in eval(), without a graph.
  Tensors evaluated(const CheckedModule& one, const Tensors& inputs) const {
    const NoGrad guard;
    one.module->eval();
    return call(one, inputs);
  }
  Tensors evaluated(const Tensors& inputs) const { return evaluated(fresh(false), inputs); }

  // A random combination of all floating results, with a weight of its own for each element.
  Tensor loss_of(const Tensors& results) const {
    Generator generator(options_.seed, 1);
    Tensor loss;
    for (const Tensor& y : results) {
      if (!is_floating(y.dtype()) || !y.requires_grad()) continue;
      const Tensor part = sum(y * randn(y.shape(), y.dtype(), &generator));
      loss = loss.defined() ? loss + part : part;
    }
    return loss;
  }
  // Copies of the inputs that require gradients.
  static Tensors leaves(const Tensors& inputs) {
    return each(inputs,
                [](const Tensor& x) { return is_floating(x.dtype()) ? clone(x).requires_grad_() : x; });
  }
  // The results of a forward and a backward pass, which leaves gradients in the parameters.
  Tensors train_on(const CheckedModule& one, const Tensors& in) const {
    one.module->zero_grad();
    Tensors results = call(one, in);
    if (const Tensor loss = loss_of(results); loss.defined()) loss.backward();
    return results;
  }
  // Those results and the gradients of the parameters.
  Tensors trained(const CheckedModule& one) const {
    const Tensors in = leaves(inputs_);
    Tensors all = train_on(one, in);
    expect(bytes_of(in) == bytes_of(inputs_), kInput, kWrites);
    for (const Tensor& p : one.module->parameters())
      if (p.grad().defined()) all.push_back(p.grad());
    return all;
  }

  // The number of independent examples; 0 if there are none.
  int64_t rows() const {
    for (const Tensor& x : inputs_)
      if (options_.batch_dim >= 0 && x.dim() > options_.batch_dim) return x.size(options_.batch_dim);
    return 0;
  }
  bool has_rows(const Tensor& x) const {
    return x.dim() > options_.batch_dim && x.size(options_.batch_dim) == rows();
  }
  Tensors some_rows(int64_t first, int64_t count) const {
    skip_if(rows() == 0, "there are no rows");
    return each(inputs_, [&](const Tensor& x) {
      return has_rows(x) ? narrow(x, options_.batch_dim, first, count) : x;
    });
  }

  void names() {
    const auto walk = [&] {
      std::string all;
      for (const NamedTensor& member : named_members(*subject_.module)) all += member.name + " ";
      return all;
    };
    const std::string first = walk(), again = walk();
    expect(again == first, "visit names " + first + "and then " + again,
           "visit depends on something that changes");
  }

  void evaluation() {
    const CheckedModule one = fresh(false), other = fresh(false);
    const Tensors inputs = each(inputs_, kernel::clone);
    const std::string held = bytes_of(members(*one.module));
    const Tensors first = evaluated(one, inputs);
    expect(!first.empty(), "no tensor is returned",
           "forward must return its results: a tensor, pair or struct");
    expect(bytes_of(inputs) == bytes_of(inputs_), kInput, kWrites);
    expect(bytes_of(members(*one.module)) == held, "parameters or buffers changed in eval()",
           "forward writes into its members although training() is false");
    {
      const NoGrad guard;
      expect_equal(one.call(inputs), first, "called twice in eval()",  // with other random numbers
                   "it draws random numbers without asking training(), or keeps state from call to call");
    }
    for (const Tensor& y : first)
      expect(kernel::first_anomaly(y, true) < 0, "the result holds NaN or an infinity",
             "choose other inputs, or find the operation with an AnomalyGuard");
    try {  // inputs of the same shapes, half as large and in the opposite order
      evaluated(other, each(inputs_, [&](const Tensor& x) {
                  const Tensor flipped = rows() > 0 && has_rows(x) ? flip(x, {options_.batch_dim}) : x;
                  return is_floating(x.dtype()) ? flipped * 0.5 : flipped;
                }));
    } catch (const Error&) {  // it does not accept them
      return;
    }
    expect_equal(
        evaluated(other, inputs_), first, "after a call with other inputs",
        "it keeps something computed from one input, such as a mask or a sum, and uses it for the next");
  }

  void training() {
    const char* keeps = "it draws from a generator of its own, or keeps state from call to call";
    const CheckedModule one = fresh(true);
    const Tensors first = trained(fresh(true)), held = each(members(*one.module), kernel::clone);
    expect_equal(trained(fresh(true)), first, "twice with one seed", keeps);
    for (int calls = 0; calls < 4; ++calls) {
      expect_equal(trained(one), first, "called again with one seed and equal members", keeps);
      write(*one.module, held);
    }
  }

  void reach() {
    const CheckedModule one = fresh(true);
    const Tensors in = leaves(inputs_);
    const Tensor loss = loss_of(call(one, in));
    skip_if(!loss.defined() && one.module->parameters().empty(), "no result has a gradient");
    expect(loss.defined(), "no result depends on a parameter by a gradient",
           "it computes with detach(), data() or under NoGrad");
    const std::string unregistered = detail::unregistered_leaves(loss, *one.module, in);
    expect(unregistered.empty(), unregistered,
           "visit does not name a member; or forward creates a new one in each call, which never learns");
    loss.backward();
    std::vector<std::string> without;
    for (const auto& [name, p] : one.module->named_parameters())
      if (p.requires_grad() && !p.grad().defined()) without.push_back(name);
    expect(without.empty(), "no gradient reaches " + detail::listed(without),
           "forward does not use it, or uses its values by detach(), data() or an earlier copy");
  }

  void copies() {
    const char* shared =
        "they share memory: declare members as Parameter, Buffer or modules, not as Tensor or "
        "shared pointer";
    const CheckedModule one = fresh(false), copy = one.copy();
    const Tensors want = evaluated(one, inputs_);
    expect_equal(evaluated(copy, inputs_), want, "a copy computes something else",
                 "the copy constructor omits a member");
    scramble(*copy.module);
    expect_equal(evaluated(one, inputs_), want, "when a copy changes, the original does", shared);
    copy.assign(one);
    expect_equal(evaluated(copy, inputs_), want, "assigned to another, it computes something else",
                 "the assignment omits a member");
    scramble(*copy.module);
    expect_equal(evaluated(one, inputs_), want, "after an assignment the two change together", shared);
  }

  void strided() {
    // Every second element of the memory, dimensions in the opposite order.
    const Tensors inputs = each(inputs_, [](const Tensor& x) {
      Shape reverse;
      for (int64_t d = x.dim() - 1; d >= 0; --d) reverse.push_back(d);
      const Tensor y = permute(x, reverse);
      return x.dim() < Shape::kMaxDim ? permute(stack({y, zeros_like(y)}, -1)[{ellipsis, 0}], reverse) : x;
    });
    expect_equal(evaluated(inputs), evaluated(inputs_), "the same numbers in another order of memory",
                 "it reads data() as if that were contiguous; call contiguous(x) first, or use operations",
                 options_.tolerance);
  }

  void batch_independence() {
    const int64_t n = rows();
    const Tensors whole = evaluated(inputs_);
    std::vector<Tensors> parts(whole.size());
    skip_if(n < 2, n == 0 ? "there are no rows" : "give at least two rows");
    for (int64_t i = 0; i < n; ++i) {
      const Tensors one = evaluated(some_rows(i, 1));
      expect(one.size() == whole.size(),
             text("one row gives ", one.size(), " results, the batch ", whole.size()), "");
      for (size_t k = 0; k < one.size(); ++k) parts[k].push_back(one[k]);
    }
    for (size_t k = 0; k < whole.size(); ++k) {
      const Tensor &all = whole[k], &one = parts[k][0];
      int64_t dim = 0;  // the rows lie along the dimension that has size n for the batch and 1 for a row
      while (dim < std::min(all.dim(), one.dim()) && (all.size(dim) != n || one.size(dim) != 1)) ++dim;
      expect(dim < std::min(all.dim(), one.dim()),
             text("one row gives ", one.shape(), " and ", n, " rows ", all.shape()),
             "results of different rows are combined; keep them apart, or set batch_dim = -1");
      expect_equal({cat(parts[k], dim)}, {all}, "row by row and all at once",
                   "rows of a batch affect one another: is a mean, a norm or a softmax taken over the batch?",
                   options_.tolerance);
    }
  }

  void empty_batch() {
    const CheckedModule one = fresh(true);
    const Tensors results = train_on(one, leaves(some_rows(0, 0)));
    for (const Tensor& y : results)
      expect(y.numel() == 0 || rows() == 1, text("no rows in, and ", y.shape(), " out"),
             "forward assumes a size; take it from the input");
    for (const auto& [name, p] : one.module->named_parameters())
      if (const Tensor g = p.grad(); g.defined())
        expect_equal({g}, {zeros(g.shape(), g.dtype())}, "no rows, and " + name + " has a gradient",
                     "something is divided by the number of rows");
    expect_finite(one, results, "no rows",
                  "it stores a mean over no rows; do not update the buffer if there are none");
  }

  void single_example() {
    const CheckedModule one = fresh(true);
    const Tensors in = leaves(some_rows(0, 1));
    Tensors results;
    try {
      results = train_on(one, in);
    } catch (const Error&) {  // it may reject such a batch
      return;
    }
    expect_finite(
        one, results, "one row in training",
        "a variance over one row divides by n - 1 = 0; throw an Error, or do not update the buffer");
  }

  static void expect_finite(const CheckedModule& one, const Tensors& results, const std::string& when,
                            const char* cause) {
    std::vector<NamedTensor> all = one.module->named_buffers();
    for (const Tensor& y : results) all.push_back({"a result", y});
    for (const auto& [name, x] : all)
      expect(!is_floating(x.dtype()) || kernel::first_anomaly(x, true) < 0,
             text(when, ", and ", name, " holds NaN or an infinity"), cause);
  }

  void dtypes() {
    needs("gradients reach");
    on_error_ = "a constant is made in one dtype, or visit does not name a buffer, so to(dtype) misses it";
    std::vector<Tensors> results;
    for (const DType dtype : {float32, float64}) {
      const CheckedModule one = fresh(false);
      one.module->to(dtype);
      results.push_back(evaluated(one, each(inputs_, [&](const Tensor& x) {
                                    return is_floating(x.dtype()) ? kernel::cast(x, dtype) : x;
                                  })));
      for (const Tensor& y : results.back())
        expect(!is_floating(y.dtype()) || y.dtype() == dtype,
               text("a result is ", y.dtype(), " although all inputs and members are ", dtype),
               "forward fixes a dtype; take it from the input");
    }
    expect_equal(results[0], results[1], "float32 and float64",
                 "a sum in float32 lost digits, or a constant has a fixed dtype", 1e-4);
  }

  void threads() {
    needs("training");
    set_num_threads(1);
    const Tensors want = trained(fresh(true));
    for (const int count : {2, 3}) {
      set_num_threads(count);
      expect_equal(
          trained(fresh(true)), want, text(count, " threads and one"),
          "sums are combined in the order in which threads finish; combine them in the order of blocks");
    }
  }

  void derivative(decltype(gradcheck)* derivative_check) {
    needs("training");
    needs("gradients reach");
    const CheckedModule one = fresh(true);
    one.module->to(float64);
    const Tensors in = leaves(
        each(inputs_, [](const Tensor& x) { return is_floating(x.dtype()) ? kernel::cast(x, float64) : x; }));
    Tensors all = in;
    const std::vector<NamedTensor> parameters = one.module->named_parameters();
    for (const NamedTensor& p : parameters) all.push_back(p.tensor);
    skip_if(std::ranges::none_of(all, &Tensor::requires_grad), "no input is floating");
    const auto results = [&](const Tensors&) { return call(one, in); };
    const GradcheckReport report =
        derivative_check(results, all, {.tolerance = options_.tolerance, .seed = options_.seed});
    std::string found = report.message;
    for (size_t i = 0; i < parameters.size(); ++i)
      if (report.where.starts_with(text("input ", in.size() + i, " ")))
        found += ", which is " + parameters[i].name;
    expect(report.ok, found,
           derivative_check == gradcheck
               ? "a gradient rule is wrong, or values are used without a graph: detach(), data(), NoGrad"
           : failed("first derivative")
               ? "the cause of the wrong first derivative"
               : "the gradient rule is right, but not its own derivative: write the rule "
                 "in public operations");
  }

  void saved_and_loaded() {
    const CheckedModule one = fresh(false), other = fresh(false);
    const Tensors want = evaluated(one, inputs_);
    StateDict state = one.module->state_dict();
    for (auto& [name, x] : state) x = kernel::clone(x);
    scramble(*other.module);
    evaluated(other, inputs_);  // what it keeps from call to call is now that of the scrambled module
    other.module->load_state_dict(state);
    expect_equal(evaluated(other, inputs_), want, "saved, and loaded into another",
                 "a buffer that matters is not persistent, or something computed from parameters is kept");
    if (!make_) return;
    std::vector<Tensors> results;
    try {
      for (const CheckedModule& built : {make_(), make_()}) {
        built.module->load_state_dict(state);
        results.push_back(evaluated(built, inputs_));
      }
    } catch (const std::exception&) {  // it is constructed with other shapes than the subject
      return;
    }
    expect_equal(
        results[0], results[1], "constructed twice and loaded with one state",
        "a member that is neither Parameter nor Buffer is random; make it a Buffer and name it in visit");
  }

  void leaks() {
    const CheckedModule one = fresh(true);
    const auto live_after = [&](int steps) {
      for (int i = 0; i < steps; ++i) {
        one.module->train();
        train_on(one, leaves(inputs_));
        one.module->zero_grad();
        evaluated(one, inputs_);
      }
      return memory_use().live;
    };
    constexpr int kSteps = 8;
    const size_t before = live_after(3), after = live_after(kSteps);
    expect(after < before + kSteps, text((after - before) / kSteps, " bytes stay after each call"),
           "a member collects results with their graphs, or a hook or closure holds its own result");
  }

  static constexpr const char* kInput = "an input has other values after the call";
  static constexpr const char* kWrites = "forward writes into its input; write into a clone";

  const CheckedModule& subject_;
  const std::function<CheckedModule()>& make_;
  const CheckModuleOptions& options_;
  const Tensors inputs_;
  Tensors before_;                  // the members' values
  const char* on_error_ = nullptr;  // likely cause of an error that the module throws
  const int threads_ = num_threads();
  ModuleReport report_;
};

}  // namespace

bool ModuleReport::ok() const { return !std::ranges::count(checks, Verdict::failed, &ModuleCheck::verdict); }

const ModuleCheck& ModuleReport::operator[](std::string_view name) const& {
  const auto found = std::ranges::find(checks, name, &ModuleCheck::name);
  check(found != checks.end(), "ModuleReport: there is no check \"", name, "\" of ", module);
  return *found;
}

std::string to_string(const ModuleReport& report) {
  const int64_t failed = std::ranges::count(report.checks, Verdict::failed, &ModuleCheck::verdict);
  std::string all = report.module + ": ";
  all += failed == 0 ? "sound" : text(failed, " of ", report.checks.size(), " checks failed");
  for (const ModuleCheck& check : report.checks) {
    const char* verdicts[] = {"  passed   ", "  FAILED   ", "  skipped  "};
    all += "\n" + std::string(verdicts[static_cast<int>(check.verdict)]) + check.name;
    if (check.verdict == Verdict::skipped) all += ": " + check.found;
    if (check.verdict != Verdict::failed) continue;
    std::string below = "\n" + check.found + (check.cause.empty() ? "" : "\nlikely: " + check.cause);
    for (const char c : below) all += c == '\n' ? "\n             " : std::string(1, c);
  }
  return all;
}

namespace detail {

ModuleReport check_module(const CheckedModule& subject, const std::function<CheckedModule()>& make,
                          const std::vector<Tensor>& inputs, const CheckModuleOptions& options) {
  struct Restore {
    Generator random = default_generator();
    ~Restore() { default_generator() = random; }
  } restore;
  return ModuleChecker(subject, make, inputs, options).run();
}

NotCallable::NotCallable(const Module& module, size_t inputs)
    : Error(0 < inputs && inputs <= 4
                ? text("check_module: ", module.type_name(), " cannot be called with ", inputs,
                       inputs == 1 ? " tensor" : " tensors")
                : text("check_module: ", inputs, " inputs; give one to four, or a call")) {}

std::string unregistered_leaves(const Tensor& output, const Module& module,
                                const std::vector<Tensor>& inputs) {
  std::set<const Node*> known;
  for (const Tensors& tensors : {module.parameters(), inputs})
    for (const Tensor& x : tensors) known.insert(Node::of(x));
  std::vector<std::string> found;
  for (const Node* leaf : graph_leaves(output))
    if (!known.contains(leaf))
      found.push_back(text("a leaf of shape ", leaf->shape, " is not in parameters()"));
  return listed(found);
}

std::string optimizer_mismatch(const Module& model, const Optimizer& optimizer) {
  Tensors held;
  for (size_t group = 0; group < optimizer.groups(); ++group)
    std::ranges::copy(optimizer.params(group), std::back_inserter(held));
  const auto among = [](const Tensors& all, const Tensor& p) {
    return std::ranges::any_of(all, [&](const Tensor& other) { return other.same_as(p); });
  };
  std::string lines;
  for (const auto& [name, p] : model.named_parameters())
    if (p.requires_grad() && !among(held, p))
      lines +=
          text("\n", name, " ", p.shape(), " is not held by ", optimizer.name(), ", which will not move it");
  const Tensors own = model.parameters();
  for (size_t i = 0; i < held.size(); ++i)
    if (!among(own, held[i]))
      lines += text("\n", optimizer.name(), " holds a parameter of shape ", held[i].shape(), ", number ", i,
                    ", that is none of the model's: was the model copied or replaced after it was made?");
  return lines.empty() ? "" : lines.substr(1);
}

}  // namespace detail

std::string check_training(const Module& model, const Optimizer& optimizer, const Tensor& loss) {
  std::string lines;
  for (const auto& [name, p] : model.named_parameters())
    if (p.requires_grad() && !p.grad().defined())
      lines += text("\n", name, " ", p.shape(),
                    " has no gradient: does forward use it, and was backward() called?");
  if (const std::string leaves = detail::unregistered_leaves(loss, model); !leaves.empty())
    lines += text("\nthe loss depends on what the model does not name: ", leaves,
                  "; is a line missing in visit, or does an input require a gradient?");
  if (const std::string mismatch = detail::optimizer_mismatch(model, optimizer); !mismatch.empty())
    lines += "\n" + mismatch;
  return lines.empty() ? "" : lines.substr(1);
}

}  // namespace heed
