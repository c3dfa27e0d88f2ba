#include "tests/autograd/op_checks.h"

#include "autograd/ops/elementwise.h"
#include "tests/support/difference.h"
#include "tests/support/expect.h"

namespace heed::test {
namespace {

enum class Layout { contiguous, transposed, stepped, repeated };
constexpr std::pair<Layout, const char*> layouts[] = {
    {Layout::transposed, "transposed"}, {Layout::stepped, "stepped"}, {Layout::repeated, "repeated"}};

// An uninitialized tensor of this shape and layout.
Tensor room_for(const Shape& shape, DType dtype, Layout layout) {
  const int64_t rank = shape.dim(), last = rank - 1;
  Shape stored = shape;
  if (layout == Layout::transposed && rank >= 2) {
    std::swap(stored[last - 1], stored[last]);
    return transpose(Tensor::empty(stored, dtype));
  }
  if (layout == Layout::stepped && rank == 0)
    return TensorImpl::view(Tensor::empty({3}, dtype), shape, {}, 1);
  if (layout == Layout::stepped) {
    stored[last] = 2 * stored[last] + 1;
    return heed::slice(Tensor::empty(stored, dtype), last, 1, stored[last], 2);
  }
  if (layout == Layout::repeated && rank > 0 && shape[0] > 1) {
    stored[0] = 1;
    return expand(Tensor::empty(stored, dtype), shape);
  }
  return Tensor::empty(shape, dtype);
}

// The inputs of a row, the same in each call. All values are exact in float32.
Inputs make(const OpCase& row, const std::vector<Input>& inputs, DType dtype = float64) {
  Generator generator(7);
  Inputs made;
  for (const Input& input : inputs) {
    const bool own_range = input.low < input.high;
    const double low = own_range ? input.low : row.low, high = own_range ? input.high : row.high;
    const DType type = input.kind == Input::Kind::positions ? int64
                       : input.kind == Input::Kind::mask    ? boolean
                                                            : dtype;
    Values numbers(static_cast<size_t>(numel(input.shape)));
    for (double& v : numbers) {
      v = static_cast<float>(low + (high - low) * generator.uniform());
      if (input.integral()) v = std::floor(v);
    }
    made.push_back(from_vector(numbers, input.shape, type));
  }
  return made;
}

Inputs make(const OpCase& row) { return make(row, row.inputs); }

// A copy in another layout. Repeated memory keeps the first value of each.
Tensor laid_out(const Tensor& x, Layout layout) {
  Tensor y = room_for(x.shape(), x.dtype(), layout);
  visit_dtype(x.dtype(), [&]<class T>(Type<T>) {
    const std::vector<T> values = x.to_vector<T>();
    if (values.empty()) return;
    T* out = y.mutable_data<T>();
    std::vector<int64_t> offsets;
    for_each_offset(y.shape(), y.strides(), [&](int64_t offset) { offsets.push_back(offset); });
    for (size_t i = values.size(); i-- > 0;) out[offsets[i]] = values[i];
  });
  return y;
}

// A set of inputs that require gradients: bit i for input i.
using Subset = uint64_t;

Subset all_differentiable(const std::vector<Input>& inputs) {
  Subset subset = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].differentiable()) subset |= Subset{1} << i;
  return subset;
}

Inputs leaves_of(const Inputs& in, Subset wanted) {
  Inputs leaves;
  for (size_t i = 0; i < in.size(); ++i)
    if (wanted >> i & 1) leaves.push_back(in[i].requires_grad_());
  return leaves;
}

// Irregular numbers, the same for every layout and dtype.
Tensor cotangent(const Tensor& y) { return to(cos(3.7 * counted(y.shape(), float64) + 1), y.dtype()); }

// Gradients of the sum over outputs of <output, cotangent>; zeros for unused inputs.
Inputs gradients(const Outputs& outputs, const Inputs& leaves, bool create_graph = false) {
  Inputs used, incoming, found(leaves.size());
  for (const Tensor& y : outputs)
    if (y.requires_grad()) {
      used.push_back(y);
      incoming.push_back(cotangent(y));
    }
  if (!used.empty())
    found =
        grad(used, leaves, {.grad_outputs = incoming, .create_graph = create_graph, .allow_unused = true});
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i].defined()) found[i] = zeros_like(leaves[i]);
  return found;
}

struct Result {
  Inputs outputs, grads;
};

// Includes the gradients of all differentiable inputs.
Result run(const OpCase& row, const Inputs& in, bool create_graph = false) {
  const GradMode mode(grad_enabled() && !row.in_place);
  const Inputs leaves = leaves_of(in, row.in_place ? 0 : all_differentiable(row.inputs));
  const Outputs outputs = row.call(in);
  return {outputs, gradients(outputs, leaves, create_graph)};
}

}  // namespace

class Report {
 public:
  explicit Report(const OpCase& row) : row_(row) {}
  template <class... Parts>
  void found(const Parts&... parts) {
    std::string text = heed::test::name_of(row_) + ": ";
    (detail::append(text, parts), ...);
    findings.push_back(std::move(text));
  }
  /// Runs a check. An exception is a finding of its own kind.
  template <class F>
  void guard(const std::string& what, F&& check) {
    try {
      check();
    } catch (const std::exception& error) {
      found(what, " threw: ", error.what());
    }
  }
  void compare(const std::string& what, const Inputs& got, const Inputs& want, double tolerance) {
    if (got.size() != want.size()) return found(what, ": ", got.size(), " tensors, not ", want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const std::string difference = parity::difference(got[i], want[i], {tolerance, tolerance});
      if (!difference.empty()) found(what, " ", i, " ", difference);
    }
  }
  void compare(const std::string& what, const Result& got, const Result& want, double tolerance) {
    compare(what + ", output", got.outputs, want.outputs, tolerance);
    compare(what + ", gradient", got.grads, want.grads, tolerance);
  }

  Findings findings;

 private:
  const OpCase& row_;
};

namespace {

bool has_gradient(const OpCase& row) { return !row.in_place && all_differentiable(row.inputs) != 0; }

std::string describe(Subset subset) {
  std::string text = "gradient of";
  for (int i = 0; subset >> i; ++i)
    if (subset >> i & 1) text += " " + std::to_string(i);
  return text;
}

template <class F>
void check_both_orders(Report& report, const std::string& what, const F& call, const Inputs& in) {
  for (const bool second : {false, true})
    report.guard(what, [&] {
      const GradcheckReport got = second ? gradgradcheck(call, in) : gradcheck(call, in);
      if (!got) report.found(what, ": ", got.message);
    });
}

}  // namespace

void check_gradients(const OpCase& row, Report& report) {
  if (!has_gradient(row)) return;
  const Subset all = all_differentiable(row.inputs);
  for (Subset subset = all; subset != 0; subset = (subset - 1) & all) {
    const Inputs in = make(row);
    leaves_of(in, subset);
    check_both_orders(report, describe(subset), row.call, in);
  }

  const auto same = [&](const Input& input) { return input.shape == row.inputs[0].shape; };
  if (row.inputs.size() > 1 && (all & 1) && std::all_of(row.inputs.begin(), row.inputs.end(), same) &&
      all == (Subset{1} << row.inputs.size()) - 1) {
    const auto call = [&](const Inputs& x) -> Inputs { return row.call(Inputs(row.inputs.size(), x[0])); };
    check_both_orders(report, "one tensor for all", call, {make(row)[0].requires_grad_()});
  }
}

void check_broadcast(const OpCase& row, Report& report) {
  if (!row.broadcasts) return;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    std::vector<Shape> smaller = {{}};
    for (int64_t d = 0; d < row.inputs[i].shape.dim(); ++d) {
      Shape shape = row.inputs[i].shape;
      shape[d] = 1;
      smaller.push_back(shape);
    }
    if (row.inputs[i].shape.dim() > 0) {
      smaller.push_back(row.inputs[i].shape);
      smaller.back().erase(0);
    }
    for (const Shape& shape : smaller) {
      std::vector<Input> inputs = row.inputs;
      inputs[i].shape = shape;
      const std::string what = "input " + std::to_string(i) + " of shape " + to_string(shape);
      const Subset all = all_differentiable(inputs);
      if (all == 0 || row.in_place) {
        report.guard(what, [&] { row.call(make(row, inputs)); });
      } else {
        const Inputs in = make(row, inputs);
        leaves_of(in, all);
        check_both_orders(report, what, row.call, in);
      }
      // Broadcasting equals expanding first.
      if (row.in_place) continue;
      report.guard(what, [&] {
        const Inputs small = make(row, inputs);
        Inputs big = small;
        big[i] = laid_out(broadcast_to(small[i], row.inputs[i].shape), Layout::contiguous);
        report.compare(what, row.call(small), row.call(big), 1e-12);
      });
    }
  }
}

void check_layouts(const OpCase& row, Report& report) {
  for (const auto& [layout, name] : layouts)
    for (size_t which = 0; which <= row.inputs.size(); ++which) {  // each input alone, then all
      const bool everyone = which == row.inputs.size();
      if (everyone && row.inputs.size() == 1) continue;
      if (row.in_place && layout == Layout::repeated && (which == 0 || everyone)) continue;
      const std::string what = std::string(name) + (everyone ? " inputs" : " input " + std::to_string(which));
      const std::string error = whole_message([&] {
        Inputs strided = make(row), plain;
        for (size_t i = 0; i < strided.size(); ++i)
          if (everyone || i == which) strided[i] = laid_out(strided[i], layout);
        for (const Tensor& x : strided) plain.push_back(laid_out(x, Layout::contiguous));
        report.compare(what, run(row, strided), run(row, plain), 1e-12);
      });
      if (!error.empty() && !row.refuses_strides) report.found(what, ": ", error);
    }
}

void check_empty(const OpCase& row, Report& report) {
  std::vector<Input> inputs = row.empty;
  if (inputs.empty()) {
    inputs = row.inputs;
    if (inputs.empty() || inputs[0].shape.empty()) return;
    const int64_t first = inputs[0].shape[0];
    for (Input& input : inputs)
      if (!input.shape.empty() && input.shape[0] == first) input.shape[0] = 0;
  }
  const std::string error = whole_message([&] {
    const Result result = run(row, make(row, inputs));
    if (row.refuses_empty) report.found("empty: gave a result instead of an Error");
    for (const Tensor& g : result.grads)
      g.for_each([&](auto value) {
        if (value != 0) report.found("empty: a gradient of shape ", g.shape(), " is not zero");
      });
  });
  if (!error.empty() && !row.refuses_empty) report.found("empty: ", error);
}

void check_precision(const OpCase& row, Report& report) {
  report.guard("float32", [&] {
    const Result single = run(row, make(row, row.inputs, float32));
    const Result reference = run(row, make(row));
    const auto widened = [](Inputs all) {
      for (Tensor& x : all)
        if (is_floating(x.dtype())) x = to(x.detach(), float64);
      return all;
    };
    report.compare("float32", {widened(single.outputs), widened(single.grads)}, reference,
                   row.float_tolerance);
  });
}

void check_fused(const OpCase& row, Report& report) {
  report.guard("fused", [&] {
    const Result fused = run(row, make(row));
    report.compare("one pass against recorded", fused, run(row, make(row), true), 1e-10);
    const Reference switched(!reference_mode());
    report.compare("operation against reference", fused, run(row, make(row)), 1e-10);
  });
}

namespace {

// Ways to overwrite a tensor, with the name that the message must contain.
struct Writer {
  const char* name;
  void (*write)(const Tensor& x);
};

const Writer writers[] = {
    {"add_", [](const Tensor& x) { add_(x, 1); }},
    {"mul_", [](const Tensor& x) { mul_(x, 3); }},
    {"fill_", [](const Tensor& x) { fill_(x, 0); }},
    {"copy_", [](const Tensor& x) { copy_(x, ones(x.shape(), x.dtype())); }},
    {"mutable_data",
     [](const Tensor& x) {
       visit_dtype(x.dtype(),
                   [&]<class T>(Type<T>) { *x.mutable_data<T>() = static_cast<T>(*x.data<T>() == 0); });
     }},
    {"fill_",  // through a view
     [](const Tensor& x) { fill_(x.dim() > 0 ? select(x, 0, 0) : x.detach(), 0); }},
};

// Whether the message begins with the name of the operation or of another that the row allows.
bool names(const OpCase& row, const std::string& message) {
  const std::string op = message.substr(0, message.find(':'));
  return op == row.op || contains(" " + std::string(row.records) + " ", " " + op + " ");
}

// The gradient must be exact, or the message must name the operation, the writer and their lines.
void check_overwrite(Report& report, const OpCase& row, const std::string& what, const Writer& writer,
                     const Inputs& want, const std::function<Inputs()>& gradient) {
  Inputs got;
  const std::string message = whole_message([&] { got = gradient(); });
  if (!message.empty()) {
    const std::string file = std::string(row.call.line.file_name()) + ":";
    if (!contains(message, std::string(writer.name) + " at " + __FILE__ ":"))
      report.found(what, ": the message lacks the write by ", writer.name, " or its line: ", message);
    // Operations of a reference implementation have other names.
    if (!(names(row, message) || reference_mode()) || !contains(message, file))
      report.found(what, ": the message lacks the save by ", row.op, " or its line: ", message);
    return;
  }
  report.compare(what + ", gradient", got, want, 1e-12);
}

}  // namespace

void check_overwritten(const OpCase& row, Report& report) {
  if (!has_gradient(row)) return;
  const Subset wanted = all_differentiable(row.inputs);
  const Result exact = run(row, make(row));
  const size_t victims = row.inputs.size() + exact.outputs.size();
  const auto victim_of = [&](size_t i, const Inputs& in, const Outputs& out) {
    return i < in.size() ? in[i] : out[i - in.size()];
  };
  const auto write = [&](const Writer& writer, const Tensor& x) {
    const NoGrad guard;
    // A bool cannot be multiplied, and a repeated tensor cannot be written.
    return whole_message([&] { writer.write(x); }).empty();
  };

  for (size_t v = 0; v < victims; ++v)
    for (const Writer& writer : writers) {
      const std::string what = (v < row.inputs.size() ? "input " + std::to_string(v)
                                                      : "output " + std::to_string(v - row.inputs.size())) +
                               " overwritten by " + writer.name;
      report.guard(what, [&] {
        for (const bool create_graph : {false, true}) {
          const Inputs in = make(row), leaves = leaves_of(in, wanted);
          const Outputs out = row.call(in);
          if (!write(writer, victim_of(v, in, out))) return;
          check_overwrite(report, row, what, writer, exact.grads,
                          [&] { return gradients(out, leaves, create_graph); });
        }
      });
      report.guard(what + " before the second derivative", [&] {
        const auto second = [&](bool overwrite) {
          const Inputs in = make(row), leaves = leaves_of(in, wanted);
          const Outputs out = row.call(in);
          const Inputs first = gradients(out, leaves, true);
          if (overwrite) write(writer, victim_of(v, in, out));
          return gradients(first, leaves);
        };
        Inputs got;
        const std::string error = whole_message([&] { got = second(true); });
        if (!error.empty()) {
          if (!contains(error, std::string(writer.name) + " at "))
            report.found(what, " before the second derivative: ", error);
          return;
        }
        report.compare(what + " before the second derivative, gradient", got, second(false), 1e-12);
      });
    }
}

void check_plain(const OpCase& row, Report& report) {
  if (!row.plain) return;
  report.guard("plain", [&] {
    const NoGrad guard;
    const Outputs want = row.plain(make(row));
    const Inputs in = make(row);
    const Outputs got = row.call(in);
    report.compare("against plain numbers, output", got, want, 1e-12);
    if (row.in_place && !got[0].same_as(in[0])) report.found("does not return its operand");
  });
  if (!row.in_place) return;
  const Inputs in = make(row);
  const int64_t version = TensorImpl::of(in[0]).storage->version;
  if (whole_message([&] { row.call(in); }).empty()) report.found("writes while operations are recorded");
  report.guard("in place", [&] {
    const NoGrad guard;
    row.call(in);
    if (TensorImpl::of(in[0]).storage->version == version) report.found("does not increment the version");
  });
}

void check_refusals(const OpCase& row, Report& report) {
  const NoGrad guard;
  const std::string file = std::string("; called at ") + row.call.line.file_name() + ":";
  using namespace std::string_literals;
  int refusals = 0;
  for (size_t i = 0; i < row.inputs.size(); ++i)
    for (const char* wrong : {"undefined", "dtype", "shape"}) {
      Inputs in = make(row);
      const DType dtype = in[i].dtype(), other = is_floating(dtype) ? boolean : float64;
      in[i] = wrong == "undefined"s ? Tensor()
              : wrong == "dtype"s   ? zeros(in[i].shape(), other)
                                    : zeros({7, 5, 11, 13}, dtype);
      const std::string text = whole_message([&] { row.call(in); });
      if (text.empty()) continue;
      const size_t at = text.find(file);
      const int first = static_cast<int>(row.call.line.line());
      const int line = at == std::string::npos ? 0 : std::atoi(text.c_str() + at + file.size());
      const std::string said = text.substr(0, at);
      const bool shown = wrong == "undefined"s || contains(said, "[") || contains(said, heed::name_of(other));
      if (!names(row, said) || line < first || line > first + 4 || !shown)
        report.found("input ", i, ", ", wrong, ": the message lacks a name or the line: ", text);
      ++refusals;
    }
  if (refusals == 0 && !row.inputs.empty()) report.found("throws for no invalid argument");
}

void check_row(const OpCase& row, Report& report) {
  for (Check* check : {check_gradients, check_broadcast, check_layouts, check_empty, check_precision,
                       check_fused, check_overwritten, check_plain, check_refusals})
    report.guard("failed", [&] { check(row, report); });
}

std::vector<Tensor> inputs_of(const OpCase& row) {
  const Inputs inputs = make(row);
  leaves_of(inputs, all_differentiable(row.inputs));
  return inputs;
}

Findings findings(const OpCase& row, Check* check) {
  Report report(row);
  check(row, report);
  return report.findings;
}

}  // namespace heed::test
