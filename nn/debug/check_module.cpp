#include "nn/debug/check_module.h"

#include "autograd/debug/gradcheck.h"
#include "autograd/debug/graph.h"
#include "autograd/ops/basic.h"
#include "nn/optim/optimizer.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/reduce.h"
#include "tensor/parallel.h"

namespace heed {
namespace {

using Tensors = std::vector<Tensor>;
using Verdict = ModuleCheck::Verdict;
using detail::CheckedModule, detail::mapped, detail::text;

// These two end the running check: they throw its verdict.
void expect(bool holds, const std::string& found, const std::string& cause) {
  if (!holds) throw ModuleCheck{"", Verdict::failed, found, cause};
}
void skip_if(bool condition, const std::string& reason) {
  if (condition) throw ModuleCheck{"", Verdict::skipped, reason};
}

Tensors clones(const Tensors& all) { return mapped(all, kernel::clone); }
Tensors each_floating(const Tensors& all, const auto& f) {
  return mapped(all, [&](const Tensor& x) { return is_floating(x.dtype()) ? f(x) : x; });
}
Tensors converted(const Tensors& all, DType dtype) {
  return each_floating(all, [&](const Tensor& x) { return kernel::cast(x, dtype); });
}
// Copies that require gradients where they are floating.
Tensors leaves(const Tensors& all) {
  return each_floating(all, [](const Tensor& x) { return clone(x).requires_grad_(); });
}

// Fails with the largest difference between two lists, relative to max(1, |b|), unless it is within the
// tolerance.
void expect_equal(const Tensors& a, const Tensors& b, const std::string& what, const char* cause,
                  double tolerance = 0) {
  expect(a.size() == b.size(), text(what, ": ", a.size(), " results and ", b.size()), cause);
  std::string found;
  for (size_t k = 0; k < a.size(); ++k) {
    const Shape &shape = a[k].shape(), &other = b[k].shape();
    expect(shape == other, text(what, ": shapes ", shape, " and ", other), cause);
    const auto x = a[k].to_vector<double>(), y = b[k].to_vector<double>();
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
      const double difference = std::abs(x[i] - y[i]) / std::max(1.0, std::abs(y[i]));
      if (difference <= tolerance) continue;
      tolerance = std::isnan(difference) ? INFINITY : difference;
      found = text(what, ": ", x[i], " and ", y[i], " at element ", i, " of ", shape,
                   a.size() > 1 ? text(" of result ", k + 1) : "");
    }
  }
  expect(found.empty(), found, cause);
}

Tensors members(const Module& module) {
  Tensors all = module.parameters();
  for (const NamedTensor& buffer : module.named_buffers()) all.push_back(buffer.tensor);
  return all;
}
void write(Module& module, const Tensors& values) {
  const Tensors now = members(module);
  for (size_t i = 0; i < std::min(now.size(), values.size()); ++i) {
    if (now[i].dtype() != values[i].dtype()) module.to(values[i].dtype());
    kernel::copy_into(now[i], values[i]);
  }
}
// Changes the values of all floating members.
void scramble(Module& module) {
  const NoGrad guard;
  write(module, each_floating(members(module), [](const Tensor& x) { return x * 1.25 + 0.25; }));
}

// Results in eval(), without a graph.
Tensors evaluated(const CheckedModule& one, const Tensors& inputs) {
  const NoGrad guard;
  one.module->eval();
  return one.call(inputs);
}

// A forward and a backward pass in train(). It leaves gradients in the parameters.
struct Pass {
  Tensors inputs, results;
  Tensor loss;  // undefined if no result requires a gradient
};

struct ModuleChecker {
  const CheckedModule& subject;
  const CheckModuleOptions& options;
  const std::function<CheckedModule()>& make;  // null if unknown
  const Tensors inputs;
  const int threads_before = num_threads();
  const Generator generator_before = default_generator();
  Tensors values_before = {};  // of the subject's members
  ModuleReport report = {subject.module->type_name(), {}};

  struct Check {
    const char* name;
    void (ModuleChecker::*run)(const CheckedModule& one) const;  // `one` is a copy of the subject
    std::vector<const char*> needs = {};  // checks whose failure explains that of this one
    const char* cause_of_error = "the module threw an error; its message says where";
  };

  ~ModuleChecker() { default_generator() = generator_before; }

  ModuleReport run() {
    const Check checks[] = {
        {"names", &ModuleChecker::names},
        {"evaluation", &ModuleChecker::evaluation},
        {"training", &ModuleChecker::training},
        {"gradients reach", &ModuleChecker::reach},
        {"copies", &ModuleChecker::copies},
        {"strided input", &ModuleChecker::strided},
        {"batch independence", &ModuleChecker::batch_independence},
        {"empty batch", &ModuleChecker::empty_batch},
        {"single example", &ModuleChecker::single_example},
        {"dtypes", &ModuleChecker::dtypes, {"gradients reach"}, kMixedDtypes},
        {"threads", &ModuleChecker::threads, {"training"}},
        {"first derivative", &ModuleChecker::derivative<1>, {"training", "gradients reach"}},
        {"second derivative", &ModuleChecker::derivative<2>, {"training", "gradients reach"}},
        {"saved and loaded", &ModuleChecker::saved_and_loaded},
        {"leaks", &ModuleChecker::leaks},
    };
    for (const Check& check : checks) {
      report.checks.push_back(result_of(check));
      restore();
      if (report.checks.size() <= 2 && !report.ok()) break;  // the others would fail for the same reason
    }
    return report;
  }

  ModuleCheck result_of(const Check& check) const try {
    skip_if(std::ranges::count(options.skip, check.name), "left out by the caller");
    for (const char* name : check.needs) skip_if(failed(name), text("\"", name, "\" failed"));
    manual_seed(options.seed);
    (this->*check.run)(subject.copy());
    return {check.name};
  } catch (const ModuleCheck& ended) {
    return {check.name, ended.verdict, ended.found, ended.cause};
  } catch (const detail::NotCallable&) {
    throw;
  } catch (const std::exception& error) {
    return {check.name, Verdict::failed, error.what(), check.cause_of_error};
  }
  bool failed(const char* name) const { return report[name].verdict == Verdict::failed; }

  // Undoes changes of the subject, which shares memory with a faulty copy.
  void restore() {
    set_num_threads(threads_before);
    if (failed("names")) return;
    if (values_before.empty()) values_before = clones(members(*subject.module));
    subject.module->zero_grad();
    write(*subject.module, values_before);
  }

  Pass train(const CheckedModule& one, const Tensors& in) const {
    Pass pass{leaves(in), {}, {}};
    one.module->train();
    one.module->zero_grad();
    manual_seed(options.seed);
    pass.results = one.call(pass.inputs);
    Generator generator(options.seed, 1);
    for (const Tensor& y : pass.results) {
      if (!y.requires_grad()) continue;
      const Tensor part = sum(y * randn(y.shape(), y.dtype(), &generator));
      pass.loss = pass.loss.defined() ? pass.loss + part : part;
    }
    if (pass.loss.defined()) pass.loss.backward();
    return pass;
  }
  // The results of a pass and the gradients of the parameters.
  Tensors trained(const CheckedModule& one) const {
    Pass pass = train(one, inputs);
    expect_unchanged(pass.inputs);
    for (const Tensor& p : one.module->parameters())
      if (p.grad().defined()) pass.results.push_back(p.grad());
    return pass.results;
  }
  void expect_unchanged(const Tensors& in) const {
    expect_equal(in, inputs, "an input has other values after the call",
                 "forward writes into its input; write into a clone");
  }

  // The number of independent examples; 0 if there are none.
  int64_t rows() const {
    for (const Tensor& x : inputs)
      if (options.batch_dim >= 0 && x.dim() > options.batch_dim) return x.size(options.batch_dim);
    return 0;
  }
  bool has_rows(const Tensor& x) const {
    return rows() > 0 && x.dim() > options.batch_dim && x.size(options.batch_dim) == rows();
  }
  Tensors some_rows(int64_t first, int64_t count) const {
    skip_if(rows() == 0, "there are no rows");
    return mapped(inputs, [&](const Tensor& x) {
      return has_rows(x) ? narrow(x, options.batch_dim, first, count) : x;
    });
  }

  // ---- The checks

  void names(const CheckedModule&) const {
    std::string walks[2];
    for (std::string& walk : walks)
      for (const auto& list : {subject.module->named_parameters(), subject.module->named_buffers()})
        for (const NamedTensor& member : list) walk += member.name + " ";
    expect(walks[0] == walks[1], "visit names " + walks[0] + "and then " + walks[1],
           "visit depends on something that changes");
  }

  void evaluation(const CheckedModule& one) const {
    const CheckedModule other = subject.copy();
    const Tensors in = clones(inputs), before = clones(members(*one.module)), first = evaluated(one, in);
    expect(!first.empty(), "no tensor is returned",
           "forward must return its results: a tensor, pair or struct");
    expect_unchanged(in);
    expect_equal(members(*one.module), before, "parameters or buffers changed in eval()",
                 "forward writes into its members although training() is false");
    expect_equal(evaluated(one, in), first, "called twice in eval()",
                 "it draws random numbers without asking training(), or keeps state from call to call");
    for (const Tensor& y : first)
      expect(kernel::first_anomaly(y, true) < 0, "the result holds NaN or an infinity",
             "choose other inputs, or find the operation with an AnomalyGuard");
    const Tensors flipped =
        mapped(inputs, [&](const Tensor& x) { return has_rows(x) ? flip(x, {options.batch_dim}) : x; });
    try {
      evaluated(other, each_floating(flipped, [](const Tensor& x) { return x * 0.5; }));
    } catch (const Error&) {  // it does not accept these inputs
      return;
    }
    expect_equal(
        evaluated(other, inputs), first, "after a call with other inputs",
        "it keeps something computed from one input, such as a mask or a sum, and uses it for the next");
  }

  void training(const CheckedModule& one) const {
    const char* cause = "it draws from a generator of its own, or keeps state from call to call";
    const Tensors before = clones(members(*one.module)), first = trained(one);
    expect_equal(trained(subject.copy()), first, "twice with one seed", cause);
    for (int calls = 0; calls < 4; ++calls) {
      write(*one.module, before);
      expect_equal(trained(one), first, "called again with one seed and equal members", cause);
    }
  }

  void reach(const CheckedModule& one) const {
    const Pass pass = train(one, inputs);
    skip_if(!pass.loss.defined() && one.module->parameters().empty(), "no result has a gradient");
    expect(pass.loss.defined(), "no result depends on a parameter by a gradient",
           "it computes with detach(), data() or under NoGrad");
    const std::string unregistered = detail::unregistered_leaves(pass.loss, *one.module, pass.inputs);
    expect(unregistered.empty(), unregistered,
           "visit does not name a member; or forward creates a new one in each call, which never learns");
    std::vector<std::string> without;
    for (const auto& [name, p] : one.module->named_parameters())
      if (p.requires_grad() && !p.grad().defined()) without.push_back(name);
    expect(without.empty(), "no gradient reaches " + detail::listed(without),
           "forward does not use it, or uses its values by detach(), data() or an earlier copy");
  }

  void copies(const CheckedModule& one) const {
    const CheckedModule copy = one.copy();
    const Tensors want = evaluated(one, inputs);
    const auto compare = [&](const char* differs, const char* cause, const char* shares) {
      expect_equal(evaluated(copy, inputs), want, differs, cause);
      scramble(*copy.module);
      expect_equal(evaluated(one, inputs), want, shares,
                   "they share memory: declare members as Parameter, Buffer or modules, not as Tensor or "
                   "shared pointer");
    };
    compare("a copy computes something else", "the copy constructor omits a member",
            "when a copy changes, the original does");
    copy.assign(one);
    compare("assigned to another, it computes something else", "the assignment omits a member",
            "after an assignment the two change together");
  }

  void strided(const CheckedModule& one) const {
    // Every second element of the memory, dimensions in reverse order.
    const Tensors strided = mapped(inputs, [](const Tensor& x) {
      if (x.dim() == Shape::kMaxDim) return x;
      Shape reverse = check_dims(x.dim(), {});
      std::reverse(reverse.begin(), reverse.end());
      const Tensor y = permute(x, reverse);
      return permute(stack({y, zeros_like(y)}, -1)[{ellipsis, 0}], reverse);
    });
    expect_equal(evaluated(one, strided), evaluated(one, inputs),
                 "the same numbers in another order of memory",
                 "it reads data() as if that were contiguous; call contiguous(x) first, or use operations",
                 options.tolerance);
  }

  void batch_independence(const CheckedModule& one) const {
    const int64_t n = rows();
    skip_if(n < 2, n == 0 ? "there are no rows" : "give at least two rows");
    const Tensors whole = evaluated(one, inputs);
    for (int64_t i = 0; i < n; ++i) {
      const Tensors row = evaluated(one, some_rows(i, 1));
      expect(row.size() == whole.size(),
             text("one row gives ", row.size(), " results, the batch ", whole.size()), "");
      Tensors part = whole;  // row i of each result
      for (size_t k = 0; k < whole.size(); ++k) {
        const Tensor &all = whole[k], &single = row[k];
        const int64_t dims = std::min(all.dim(), single.dim());
        int64_t dim = 0;  // the rows lie along the dimension that has size n for the batch and 1 for a row
        while (dim < dims && (all.size(dim) != n || single.size(dim) != 1)) ++dim;
        expect(dim < dims, text("one row gives ", single.shape(), " and ", n, " rows ", all.shape()),
               "results of different rows are combined; keep them apart, or set batch_dim = -1");
        part[k] = narrow(all, dim, i, 1);
      }
      expect_equal(row, part, "row by row and all at once",
                   "rows of a batch affect one another: is a mean, a norm or a softmax taken over the batch?",
                   options.tolerance);
    }
  }

  // Trains on the first `count` rows.
  Tensors train_on_few(const CheckedModule& one, int64_t count, const char* when, const char* cause) const {
    Tensors results = train(one, some_rows(0, count)).results;
    std::vector<NamedTensor> all = one.module->named_buffers();
    for (const Tensor& y : results) all.push_back({"a result", y});
    for (const auto& [name, p] : one.module->named_parameters())
      all.push_back({"the gradient of " + name, p.grad()});
    for (const auto& [name, x] : all)
      expect(!x.defined() || kernel::first_anomaly(x, true) < 0,
             text(when, ", and ", name, " holds NaN or an infinity"), cause);
    return results;
  }

  void empty_batch(const CheckedModule& one) const {
    for (const Tensor& y : train_on_few(one, 0, "no rows",
                                        "it divides by the number of rows, or stores a mean over no rows; do "
                                        "not update the buffer if there are none"))
      expect(y.numel() == 0 || rows() == 1, text("no rows in, and ", y.shape(), " out"),
             "forward assumes a size; take it from the input");
    for (const auto& [name, p] : one.module->named_parameters())
      if (const Tensor g = p.grad(); g.defined())
        expect_equal({g}, {zeros_like(g)}, "no rows, and " + name + " has a gradient",
                     "something is divided by the number of rows");
  }

  void single_example(const CheckedModule& one) const try {
    train_on_few(one, 1, "one row in training",
                 "a variance over one row divides by n - 1 = 0; throw an Error, or do not update the buffer");
  } catch (const Error&) {  // it may reject such a batch
  }

  static constexpr const char* kMixedDtypes =
      "a constant is made in one dtype, or visit does not name a buffer, so to(dtype) misses it";
  void dtypes(const CheckedModule& one) const {
    std::vector<Tensors> results;
    for (const DType dtype : {float32, float64}) {
      const CheckedModule module = one.copy();
      module.module->to(dtype);
      results.push_back(evaluated(module, converted(inputs, dtype)));
      for (const Tensor& y : results.back())
        expect(!is_floating(y.dtype()) || y.dtype() == dtype,
               text("a result is ", y.dtype(), " although all inputs and members are ", dtype),
               "forward fixes a dtype; take it from the input");
    }
    expect_equal(results[0], results[1], "float32 and float64",
                 "a sum in float32 lost digits, or a constant has a fixed dtype", 1e-4);
  }

  void threads(const CheckedModule& one) const {
    set_num_threads(1);
    const Tensors want = trained(one);
    for (const int count : {2, 3}) {
      set_num_threads(count);
      expect_equal(
          trained(subject.copy()), want, text(count, " threads and one"),
          "sums are combined in the order in which threads finish; combine them in the order of blocks");
    }
  }

  template <int order>
  void derivative(const CheckedModule& one) const {
    one.module->to(float64);
    one.module->train();
    const Tensors in = leaves(converted(inputs, float64));
    const std::vector<NamedTensor> parameters = one.module->named_parameters();
    Tensors all = in;
    for (const NamedTensor& p : parameters) all.push_back(p.tensor);
    skip_if(std::ranges::none_of(all, &Tensor::requires_grad), "no input is floating");
    const auto call = [&](const Tensors&) { return manual_seed(options.seed), one.call(in); };
    const GradcheckReport found = (order == 1 ? gradcheck : gradgradcheck)(
        call, all, {.tolerance = options.tolerance, .seed = options.seed});
    std::string name;
    for (size_t i = 0; i < parameters.size(); ++i)
      if (found.where.starts_with(text("input ", in.size() + i, " ")))
        name = ", which is " + parameters[i].name;
    expect(
        found.ok, found.message + name,
        order == 1 ? "a gradient rule is wrong, or values are used without a graph: detach(), data(), NoGrad"
        : failed("first derivative")
            ? "the cause of the wrong first derivative"
            : "the gradient rule is right, but not its own derivative: write the rule in public operations");
  }

  void saved_and_loaded(const CheckedModule& one) const {
    const CheckedModule other = subject.copy();
    const Tensors want = evaluated(one, inputs);
    StateDict state = one.module->state_dict();
    for (auto& [name, x] : state) x = kernel::clone(x);
    scramble(*other.module);
    evaluated(other, inputs);  // what it keeps from call to call is now that of the scrambled module
    other.module->load_state_dict(state);
    expect_equal(evaluated(other, inputs), want, "saved, and loaded into another",
                 "a buffer that matters is not persistent, or something computed from parameters is kept");
    if (!make) return;
    Tensors results[2];
    try {
      for (Tensors& result : results) {
        const CheckedModule built = make();
        built.module->load_state_dict(state);
        result = evaluated(built, inputs);
      }
    } catch (const std::exception&) {  // it is constructed with other shapes than the subject
      return;
    }
    expect_equal(
        results[0], results[1], "constructed twice and loaded with one state",
        "a member that is neither Parameter nor Buffer is random; make it a Buffer and name it in visit");
  }

  void leaks(const CheckedModule& one) const {
    const auto live_after = [&](size_t steps) {
      for (size_t i = 0; i < steps; ++i) {
        train(one, inputs);
        one.module->zero_grad();
        evaluated(one, inputs);
      }
      return memory_use().live;
    };
    constexpr size_t kSteps = 8;
    const size_t before = live_after(3), after = live_after(kSteps);
    expect(after < before + kSteps, text((after - before) / kSteps, " bytes stay after each call"),
           "a member collects results with their graphs, or a hook or closure holds its own result");
  }
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
    const std::string below = "\n" + check.found + (check.cause.empty() ? "" : "\nlikely: " + check.cause);
    for (const char c : below) all += c == '\n' ? "\n             " : std::string(1, c);
  }
  return all;
}

ModuleReport detail::check_module(const CheckedModule& subject, const Tensors& inputs,
                                  const CheckModuleOptions& options,
                                  const std::function<CheckedModule()>& make) {
  return ModuleChecker{subject, options, make, clones(inputs)}.run();
}

detail::NotCallable::NotCallable(const Module& module, size_t inputs)
    : Error(0 < inputs && inputs <= 4
                ? text("check_module: ", module.type_name(), " cannot be called with ", inputs,
                       inputs == 1 ? " tensor" : " tensors")
                : text("check_module: ", inputs, " inputs; give one to four, or a call")) {}

bool detail::is_among(const Tensors& all, const Tensor& x) {
  return std::ranges::any_of(all, [&](const Tensor& other) { return other.same_as(x); });
}

std::string detail::unregistered_leaves(const Tensor& output, const Module& module, const Tensors& inputs) {
  std::vector<const Node*> unknown = graph_leaves(output);
  for (const Tensors& known : {module.parameters(), inputs})
    for (const Tensor& x : known) std::erase(unknown, Node::of(x));
  return listed(mapped(unknown, [](const Node* leaf) {
    return text("a leaf of shape ", leaf->shape, " is not in parameters()");
  }));
}

std::string detail::optimizer_mismatch(const Module& model, const Optimizer& optimizer) {
  const Tensors held = optimizer.params(), own = model.parameters();
  std::string lines;
  for (const auto& [name, p] : model.named_parameters())
    if (p.requires_grad() && !is_among(held, p))
      lines +=
          text("\n", name, " ", p.shape(), " is not held by ", optimizer.name(), ", which will not move it");
  for (size_t i = 0; i < held.size(); ++i)
    if (!is_among(own, held[i]))
      lines += text("\n", optimizer.name(), " holds a parameter of shape ", held[i].shape(), ", number ", i,
                    ", that is none of the model's: was the model copied or replaced after it was made?");
  return lines.substr(!lines.empty());
}

std::string check_training(const Module& model, const Optimizer& optimizer, const Tensor& loss) {
  std::string lines;
  for (const auto& [name, p] : model.named_parameters())
    if (p.requires_grad() && !p.grad().defined())
      lines += text("\n", name, " ", p.shape(),
                    " has no gradient: does forward use it, and was backward() called?");
  if (const std::string unregistered = detail::unregistered_leaves(loss, model); !unregistered.empty())
    lines += text("\nthe loss depends on what the model does not name: ", unregistered,
                  "; is a line missing in visit, or does an input require a gradient?");
  if (const std::string mismatch = detail::optimizer_mismatch(model, optimizer); !mismatch.empty())
    lines += "\n" + mismatch;
  return lines.substr(!lines.empty());
}

}  // namespace heed
