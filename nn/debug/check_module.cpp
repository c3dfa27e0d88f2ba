#include "nn/debug/check_module.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "autograd/debug/gradcheck.h"
#include "autograd/debug/graph.h"
#include "autograd/engine.h"
#include "autograd/ops/arithmetic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/files/safetensors.h"
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
using Checked = detail::CheckedModule;
using Verdict = ModuleCheck::Verdict;
using detail::text;

// A check ends by one of these, or well.
struct Failed {
  std::string found, cause;
};
struct Skipped {
  std::string why;
};

struct Lines {
  template <class... Parts>
  void add(const Parts&... parts) {
    all += text(all.empty() ? "" : "\n", parts...);
  }
  std::string all;
};

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

// Where two results are farthest apart, relative to the larger of 1 and the value; "" within the tolerance.
std::string apart(const Tensors& a, const Tensors& b, double tolerance) {
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

class Examination {
 public:
  Examination(Checked& subject, const Tensors& inputs, const CheckModuleOptions& options)
      : subject_(subject),
        options_(options),
        inputs_(each(inputs, [](const Tensor& x) { return x.detach(); })) {
    report.module = subject.module().type_name();
    try {
      before_ = each(members(subject.module()), kernel::clone);
    } catch (const Error&) {  // "names" will say it
    }
  }
  ModuleReport report;

  void run() {
    examine("names", &Examination::names);
    if (report.ok()) examine("evaluation", &Examination::evaluation);
    if (!report.ok()) return;  // nothing else would say more
    examine("training", &Examination::training);
    examine("gradients reach", &Examination::reach);
    examine("copies", &Examination::copies);
    examine("strided input", &Examination::strided);
    examine("batch independence", &Examination::batches);
    examine("empty batch", &Examination::empty);
    examine("dtypes", &Examination::dtypes);
    examine("threads", &Examination::threads);
    examine("first derivative", [](Examination& e) { e.derivative(gradcheck, false); });
    examine("second derivative", [](Examination& e) { e.derivative(gradgradcheck, true); });
    examine("saved and loaded", &Examination::files);
    examine("leaks", &Examination::leaks);
  }

 private:
  static constexpr const char* kInput = "an input has other values after the call";
  static constexpr const char* kWrites = "forward writes into its input; write into a clone";

  template <class F>
  void examine(const std::string& name, F check) {
    ModuleCheck& one = report.checks.emplace_back(ModuleCheck{name});
    try {
      if (std::ranges::count(options_.skip, name)) throw Skipped{"left out by the caller"};
      manual_seed(options_.seed);
      std::invoke(check, *this);
    } catch (const Skipped& skipped) {
      one.verdict = Verdict::skipped;
      one.found = skipped.why;
    } catch (const Failed& failed) {
      one.verdict = Verdict::failed;
      one.found = failed.found;
      one.cause = failed.cause;
    } catch (const std::exception& error) {
      one.verdict = Verdict::failed;
      one.found = error.what();
      one.cause = "an error came out of the module; its message says where";
    }
    restore();
  }

  // A copy that shares memory with what it was copied from has changed that, too.
  void restore() {
    if (before_.empty()) return;
    subject_.module().zero_grad();
    Module& module = subject_.module();
    const Tensors now = members(module);
    for (size_t i = 0; i < std::min(now.size(), before_.size()); ++i) {
      if (now[i].dtype() != before_[i].dtype()) return module.to(before_[i].dtype()), restore();
      if (bytes_of({now[i]}) != bytes_of({before_[i]})) kernel::copy_into(now[i], before_[i]);
    }
  }

  bool failed(const char* name) const { return report[name].verdict == Verdict::failed; }
  // What comes of a fault that another check has named, such as a member that visit leaves out, is said once.
  void need(const char* name) const {
    if (failed(name)) throw Skipped{text("until \"", name, "\" is mended")};
  }

  std::unique_ptr<Checked> fresh(bool training) const {
    auto copy = subject_.copy();
    copy->module().train(training);
    return copy;
  }
  Tensors call(Checked& one, const Tensors& inputs) const {
    manual_seed(options_.seed);
    return one.call(inputs);
  }
  // Results without history.
  Tensors evaluated(Checked& one, const Tensors& inputs) const {
    const NoGrad guard;
    one.module().eval();
    return call(one, inputs);
  }
  Tensors evaluated(const Tensors& inputs) const { return evaluated(*fresh(false), inputs); }

  // A number that every floating result has a part in, other for each of them.
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
  // Inputs of their own that require gradients.
  static Tensors leaves(const Tensors& inputs) {
    return each(inputs,
                [](const Tensor& x) { return is_floating(x.dtype()) ? clone(x).requires_grad_() : x; });
  }
  // The results of a call in training, and the gradients of the parameters.
  Tensors trained() const { return trained(*fresh(true)); }
  Tensors trained(Checked& one) const {
    const Tensors in = leaves(inputs_);
    const std::string before = bytes_of(in);
    one.module().zero_grad();
    Tensors all = call(one, in);
    if (bytes_of(in) != before) throw Failed{kInput, kWrites};
    if (const Tensor loss = loss_of(all); loss.defined()) loss.backward();
    for (const NamedTensor& p : one.module().named_parameters())
      if (p.tensor.grad().defined()) all.push_back(p.tensor.grad());
    return all;
  }
  static void scramble(Module& module, double by) {
    const NoGrad guard;
    const auto change = [&](const NamedTensor& member) {
      if (is_floating(member.tensor.dtype())) kernel::copy_into(member.tensor, member.tensor * (1 + by) + by);
    };
    for (const NamedTensor& member : module.named_parameters()) change(member);
    for (const NamedTensor& member : module.named_buffers()) change(member);
  }
  static Tensors members(const Module& module) {
    Tensors all;
    for (const NamedTensor& member : module.named_parameters()) all.push_back(member.tensor.detach());
    for (const NamedTensor& member : module.named_buffers()) all.push_back(member.tensor.detach());
    return all;
  }
  // How many rows there are: 0 where there are none that are independent.
  int64_t rows() const {
    if (options_.batch_dim < 0) return 0;
    for (const Tensor& x : inputs_)
      if (x.dim() > options_.batch_dim) return x.size(options_.batch_dim);
    return 0;
  }
  Tensors some_rows(int64_t first, int64_t count) const {
    const int64_t n = rows();
    return each(inputs_, [&](const Tensor& x) {
      const bool has = x.dim() > options_.batch_dim && x.size(options_.batch_dim) == n;
      return has ? narrow(x, options_.batch_dim, first, count) : x;
    });
  }

  void evaluation() {
    const auto one = fresh(false);
    const Tensors inputs = each(inputs_, kernel::clone);
    const std::string before = bytes_of(inputs), held = bytes_of(members(one->module()));
    const Tensors first = evaluated(*one, inputs);
    if (first.empty())
      throw Failed{"no tensor is returned", "forward returns what it computes: a tensor, a pair, a struct"};
    if (bytes_of(inputs) != before) throw Failed{kInput, kWrites};
    if (bytes_of(members(one->module())) != held)
      throw Failed{"parameters or buffers changed in eval()",
                   "forward writes into its members also when training() is false"};
    const NoGrad guard;
    const Tensors again = one->call(inputs);  // with other random numbers
    if (const std::string found = apart(again, first, 0); !found.empty())
      throw Failed{"called twice in eval(): " + found,
                   "it draws random numbers, or keeps something from call to call; ask training() first"};
    for (const Tensor& y : first)
      if (kernel::first_anomaly(y, true) >= 0)
        throw Failed{"the result holds NaN or an infinity",
                     "choose other inputs, or look with an AnomalyGuard"};
    // The same inputs after others of the same shapes: half as large, rows in the opposite order.
    const auto other = fresh(false);
    try {
      evaluated(*other, each(inputs_, [&](const Tensor& x) {
        const Tensor turned = rows() > 0 && x.dim() > options_.batch_dim ? flip(x, {options_.batch_dim}) : x;
        return is_floating(x.dtype()) ? turned * 0.5 : turned;
      }));
    } catch (const Error&) {  // such inputs are not for it
      return;
    }
    if (const std::string found = apart(evaluated(*other, inputs_), first, 0); !found.empty())
      throw Failed{
          "after a call with other inputs: " + found,
          "it keeps what it computed for one input, such as a mask or a sum, and uses it for the next"};
  }

  void names() {
    Module& module = subject_.module();
    const auto listed = [&] {
      std::string all;
      for (const NamedTensor& one : module.named_parameters()) all += one.name + " ";
      for (const NamedTensor& one : module.named_buffers()) all += one.name + " ";
      return all;
    };
    const std::string first = listed();
    if (const std::string again = listed(); again != first)
      throw Failed{"visit names " + first + "and then " + again, "visit depends on something that changes"};
  }

  void training() {
    const Tensors first = trained();
    const char* keeps = "it draws from a generator of its own, or keeps something from call to call";
    if (const std::string found = apart(trained(), first, 0); !found.empty())
      throw Failed{"twice with one seed: " + found, keeps};
    const auto one = fresh(true);
    const Tensors held = each(members(one->module()), kernel::clone);
    for (int calls = 0; calls < 4; ++calls) {
      if (const std::string found = apart(trained(*one), first, 0); !found.empty())
        throw Failed{"called again with one seed, its members as before: " + found, keeps};
      const Tensors now = members(one->module());
      for (size_t i = 0; i < std::min(now.size(), held.size()); ++i) kernel::copy_into(now[i], held[i]);
    }
  }

  void copies() {
    const auto one = fresh(false);
    const Tensors want = evaluated(*one, inputs_);
    auto copy = one->copy();
    if (const std::string found = apart(evaluated(*copy, inputs_), want, 0); !found.empty())
      throw Failed{"a copy computes something else: " + found,
                   "a member is left out by the copy constructor"};
    scramble(copy->module(), 0.25);
    const char* shared =
        "they share memory: hold members as Parameter, Buffer or modules, not as Tensor or by a shared "
        "pointer";
    if (const std::string found = apart(evaluated(*one, inputs_), want, 0); !found.empty())
      throw Failed{"when a copy changes, the original does: " + found, shared};
    copy->assign(*one);
    if (const std::string found = apart(evaluated(*copy, inputs_), want, 0); !found.empty())
      throw Failed{"assigned to another, it computes something else: " + found,
                   "the assignment leaves a member out"};
    scramble(copy->module(), 0.25);
    if (const std::string found = apart(evaluated(*one, inputs_), want, 0); !found.empty())
      throw Failed{"after an assignment the two change together: " + found, shared};
  }

  void strided() {
    const Tensors want = evaluated(inputs_);
    // Every second element of memory that holds others between them, dimensions in the opposite order.
    const Tensors inputs = each(inputs_, [](const Tensor& x) {
      if (x.dim() == 0) return x;
      Shape turned, order;
      for (int64_t d = x.dim() - 1; d >= 0; --d) {
        turned.push_back(x.size(d) * (d + 1 == x.dim() ? 2 : 1));
        order.push_back(d);
      }
      Tensor view = permute(zeros(turned, x.dtype()), order)[{ellipsis, Slice({}, {}, 2)}];
      kernel::copy_into(view, x);
      return view;
    });
    if (const std::string found = apart(evaluated(inputs), want, options_.tolerance); !found.empty())
      throw Failed{"the same numbers in another order of memory: " + found,
                   "it reads data() as if that were contiguous; call contiguous(x) first, or use operations"};
  }

  void batches() {
    const int64_t n = rows();
    if (n < 2) throw Skipped{n == 0 ? "there are no rows" : "give at least two rows"};
    const Tensors whole = evaluated(inputs_);
    std::vector<Tensors> parts(whole.size());
    for (int64_t i = 0; i < n; ++i) {
      const Tensors one = evaluated(some_rows(i, 1));
      if (one.size() != whole.size())
        throw Failed{text("one row gives ", one.size(), " results, the batch ", whole.size()), ""};
      for (size_t k = 0; k < one.size(); ++k) parts[k].push_back(one[k]);
    }
    for (size_t k = 0; k < whole.size(); ++k) {
      // The dimension in which the results of the rows lie side by side: where a row has one, and the batch
      // all.
      int64_t dim = -1;
      for (int64_t d = 0; d < std::min(whole[k].dim(), parts[k][0].dim()) && dim < 0; ++d)
        if (whole[k].size(d) == n && parts[k][0].size(d) == 1) dim = d;
      if (dim < 0)
        throw Failed{text("one row gives ", parts[k][0].shape(), " and ", n, " rows ", whole[k].shape()),
                     "the rows are joined to one result; leave them apart, or say batch_dim = -1"};
      if (const std::string found = apart({cat(parts[k], dim)}, {whole[k]}, options_.tolerance);
          !found.empty())
        throw Failed{"row by row and all at once: " + found,
                     "rows of a batch see one another: is a mean, a norm or a softmax taken over the batch?"};
    }
  }

  void empty() {
    if (rows() == 0) throw Skipped{"there are no rows"};
    const auto one = fresh(true);
    const Tensors in = leaves(some_rows(0, 0)), results = call(*one, in);
    for (const Tensor& y : results)
      if (y.numel() != 0 && rows() > 1)
        throw Failed{text("no rows in, and ", y.shape(), " out"),
                     "a size is fixed in forward; take it from the input"};
    if (const Tensor loss = loss_of(results); loss.defined()) loss.backward();
    for (const NamedTensor& p : one->module().named_parameters())
      if (const Tensor g = p.tensor.grad();
          g.defined() && !apart({g}, {zeros(g.shape(), g.dtype())}, 0).empty())
        throw Failed{"no rows, and " + p.name + " has a gradient",
                     "something is divided by the number of rows"};
    for (const NamedTensor& b : one->module().named_buffers())
      if (is_floating(b.tensor.dtype()) && kernel::first_anomaly(b.tensor, true) >= 0)
        throw Failed{"no rows, and " + b.name + " holds NaN or an infinity",
                     "a mean of nothing is gathered; leave the buffer alone where there are no rows"};
  }

  void dtypes() {
    need("gradients reach");
    std::vector<Tensors> results;
    for (const DType dtype : {float32, float64}) {
      const auto one = fresh(false);
      one->module().to(dtype);
      try {
        results.push_back(evaluated(*one, each(inputs_, [&](const Tensor& x) {
          return is_floating(x.dtype()) ? kernel::cast(x, dtype) : x;
        })));
      } catch (const Error& error) {
        throw Failed{
            text(dtype, ": ", error.what()),
            "a constant is made in one dtype, or visit does not name a buffer, which to(dtype) passes by"};
      }
      for (const Tensor& y : results.back())
        if (is_floating(y.dtype()) && y.dtype() != dtype)
          throw Failed{text("a result is ", y.dtype(), " where all that goes in is ", dtype),
                       "a dtype is fixed in forward; take it from the input"};
    }
    if (const std::string found = apart(results[0], results[1], 1e-4); !found.empty())
      throw Failed{"float32 and float64: " + found,
                   "a sum in float32 lost digits, or a constant is fixed to one dtype"};
  }

  void threads() {
    need("training");
    const int before = num_threads();
    struct Restore {
      int count;
      ~Restore() { set_num_threads(count); }
    } restore{before};
    Tensors want;
    for (const int count : {1, 2, 3}) {
      set_num_threads(count);
      const Tensors all = trained();
      if (count == 1)
        want = all;
      else if (const std::string found = apart(all, want, 0); !found.empty())
        throw Failed{text(count, " threads and one: ", found),
                     "sums are joined in the order in which threads end; join them in that of the blocks"};
    }
  }

  void reach() {
    const auto one = fresh(true);
    const Tensors in = leaves(inputs_);
    const Tensor loss = loss_of(call(*one, in));
    if (!loss.defined()) {
      if (one->module().parameters().empty()) throw Skipped{"nothing of the result has a gradient"};
      throw Failed{"no result depends on a parameter by a gradient",
                   "it computes with detach(), data() or under NoGrad"};
    }
    const std::string forgotten = detail::unregistered_leaves(loss, one->module(), in);
    if (!forgotten.empty())
      throw Failed{
          forgotten,
          "visit does not name a member; or forward makes one anew in each call, which never learns"};
    loss.backward();
    std::string without;
    for (const NamedTensor& p : one->module().named_parameters())
      if (p.tensor.requires_grad() && !p.tensor.grad().defined())
        without += (without.empty() ? "" : ", ") + p.name;
    if (!without.empty())
      throw Failed{
          "no gradient reaches " + without,
          "forward does not use it, or uses its values by detach(), data() or a copy that was made earlier"};
  }

  void derivative(GradcheckReport (*check)(const CheckedFunction&, const Tensors&, GradcheckOptions),
                  bool second) {
    need("training");
    need("gradients reach");
    const auto one = fresh(true);
    one->module().to(float64);
    Tensors in, moved;
    for (const Tensor& x : inputs_) {
      in.push_back(is_floating(x.dtype()) ? kernel::clone(kernel::cast(x, float64)).requires_grad_() : x);
      if (in.back().requires_grad()) moved.push_back(in.back());
    }
    const size_t own = moved.size();
    std::vector<std::string> names;
    for (const NamedTensor& p : one->module().named_parameters())
      if (p.tensor.requires_grad()) {
        moved.push_back(p.tensor);
        names.push_back(p.name);
      }
    if (moved.empty()) throw Skipped{"nothing floating goes in"};
    const auto results = [&](const Tensors&) {
      Tensors floating;
      for (const Tensor& y : call(*one, in))
        if (is_floating(y.dtype())) floating.push_back(y);
      return floating;
    };
    const GradcheckReport checked =
        check(results, moved, {.tolerance = options_.tolerance, .seed = options_.seed});
    if (checked) return;
    std::string found = checked.message;
    for (size_t i = 0; i < names.size(); ++i)
      if (checked.where.starts_with(text("input ", own + i, " "))) found += "; that is " + names[i];
    throw Failed{
        found,
        !second
            ? "a gradient rule is wrong, or values are used without their history: detach(), data(), NoGrad"
        : failed("first derivative") ? "what makes the first derivative wrong"
                                     : "the gradient rule is right, and its own derivative is not: write the "
                                       "rule in public operations"};
  }

  void files() {
    const std::string file = (std::filesystem::temp_directory_path() /
                              text("heed-check-", static_cast<int64_t>(getpid()), ".safetensors"))
                                 .string();
    const auto one = fresh(false);
    const Tensors want = evaluated(*one, inputs_);
    save_safetensors(file, one->module().state_dict());
    const Safetensors read = load_safetensors(file);
    std::filesystem::remove(file);
    const auto other = fresh(false);
    scramble(other->module(), 0.25);
    evaluated(*other, inputs_);  // whatever it keeps from call to call is of the scrambled one now
    other->module().load_state_dict(read.tensors);
    if (const std::string found = apart(evaluated(*other, inputs_), want, 0); !found.empty())
      throw Failed{"saved, and loaded into another: " + found,
                   "a buffer is not persistent but matters, or something computed from parameters is kept "
                   "and not made anew"};
  }

  void leaks() {
    const auto one = fresh(true);
    const auto step = [&] {
      const Tensors in = leaves(inputs_);
      if (const Tensor loss = loss_of(call(*one, in)); loss.defined()) loss.backward();
      one->module().zero_grad();
      evaluated(*one, inputs_);
      one->module().train();
    };
    for (int i = 0; i < 3; ++i) step();
    const size_t before = memory_use().live;
    constexpr int kSteps = 8;
    for (int i = 0; i < kSteps; ++i) step();
    if (const size_t after = memory_use().live; after >= before + kSteps)
      throw Failed{text((after - before) / kSteps, " bytes stay after each call"),
                   "a member gathers results with their graphs, or a hook or closure holds its own result"};
  }

  Checked& subject_;
  const CheckModuleOptions& options_;
  const Tensors inputs_;
  Tensors before_;  // the members' values
};

}  // namespace

bool ModuleReport::ok() const {
  return std::ranges::none_of(checks,
                              [](const ModuleCheck& check) { return check.verdict == Verdict::failed; });
}

const ModuleCheck& ModuleReport::operator[](std::string_view name) const& {
  const auto found = std::ranges::find(checks, name, &ModuleCheck::name);
  check(found != checks.end(), "ModuleReport: there is no check \"", name, "\" of ", module);
  return *found;
}

std::string to_string(const ModuleReport& report) {
  const int64_t failed = std::ranges::count(report.checks, Verdict::failed, &ModuleCheck::verdict);
  std::string card = report.module + ": " +
                     (failed == 0 ? "sound"
                                  : std::to_string(failed) + " of " + std::to_string(report.checks.size()) +
                                        " checks failed");
  for (const ModuleCheck& check : report.checks) {
    const char* verdicts[] = {"  passed   ", "  FAILED   ", "  skipped  "};
    card += "\n" + std::string(verdicts[static_cast<int>(check.verdict)]) + check.name;
    if (check.verdict == Verdict::skipped) card += ": " + check.found;
    if (check.verdict != Verdict::failed) continue;
    std::string below = "\n" + check.found;
    if (!check.cause.empty()) below += "\nlikely: " + check.cause;
    for (const char c : below) card += c == '\n' ? "\n             " : std::string(1, c);
  }
  return card;
}

namespace detail {

ModuleReport check_module(std::unique_ptr<CheckedModule> subject, const std::vector<Tensor>& inputs,
                          const CheckModuleOptions& options) {
  const Generator random = default_generator();
  Examination examination(*subject, inputs, options);
  examination.run();
  default_generator() = random;
  return std::move(examination.report);
}

void not_callable(const Module& module, size_t inputs) {
  fail("check_module: ", module.type_name(), " cannot be called with ", inputs,
       inputs == 1 ? " tensor" : " tensors");
}

std::string unregistered_leaves(const Tensor& output, const Module& module,
                                const std::vector<Tensor>& inputs) {
  std::set<const Node*> known;
  for (const Tensor& parameter : module.parameters())
    if (parameter.requires_grad()) known.insert(Node::of(parameter));
  for (const Tensor& input : inputs)
    if (input.requires_grad()) known.insert(Node::of(input));
  std::string forgotten;
  for (const Node* leaf : graph_leaves(output))
    if (!known.contains(leaf))
      forgotten +=
          text(forgotten.empty() ? "" : ", ", "a leaf of shape ", leaf->shape, " is not in parameters()");
  return forgotten;
}

std::string optimizer_mismatch(const Module& model, const Optimizer& optimizer) {
  Lines found;
  Tensors held;
  for (size_t group = 0; group < optimizer.groups(); ++group)
    std::ranges::copy(optimizer.params(group), std::back_inserter(held));
  const auto among = [](const Tensors& all, const Tensor& p) {
    return std::ranges::any_of(all, [&](const Tensor& other) { return other.same_as(p); });
  };
  for (const auto& [name, p] : model.named_parameters())
    if (p.requires_grad() && !among(held, p))
      found.add(name, " ", p.shape(), " is not held by ", optimizer.name(), ", which will not move it");
  const Tensors own = model.parameters();
  for (size_t i = 0; i < held.size(); ++i)
    if (!among(own, held[i]))
      found.add(optimizer.name(), " holds a parameter of shape ", held[i].shape(), ", number ", i,
                ", that is none of the model's: was the model copied or replaced after it was made?");
  return found.all;
}

}  // namespace detail

std::string check_training(const Module& model, const Optimizer& optimizer, const Tensor& loss) {
  Lines found;
  for (const auto& [name, p] : model.named_parameters())
    if (p.requires_grad() && !p.grad().defined())
      found.add(name, " ", p.shape(), " has no gradient: does forward use it, and was backward() called?");
  if (const std::string leaves = detail::unregistered_leaves(loss, model); !leaves.empty())
    found.add("the loss depends on what the model does not name: ", leaves,
              "; is a line missing in visit, or does an input require a gradient?");
  if (const std::string apart = detail::optimizer_mismatch(model, optimizer); !apart.empty())
    found.add(apart);
  return found.all;
}

}  // namespace heed
