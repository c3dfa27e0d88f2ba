// Compares programs of operations with a plain interpreter: every element of a tensor has a place in a vector
// of doubles, and every operation computes its elements with explicit indices. Views share places, so that
// they see writes in place.

#include "tests/support/random_program.h"

#include <numeric>
#include <set>

#include "autograd/engine.h"
#include "autograd/ops.h"
#include "tensor/create.h"

using namespace heed;

namespace {

using Values = std::vector<double>;

constexpr double kLargest = 10;
struct SkipStep {};  // thrown for a step near a discontinuity, with large values, or invalid for its operands

template <class F>
void each(const Shape& shape, F&& f) {
  Shape at = Shape::filled(shape.dim(), 0);
  for (int64_t left = numel(shape); left > 0; --left) {
    f(at);
    for (int64_t d = shape.dim() - 1; d >= 0 && ++at[d] == shape[d]; --d) at[d] = 0;
  }
}

struct Plain {
  double& operator[](size_t i) const { return (*memory)[places[i]]; }
  double& operator()(const Shape& at) const { return (*memory)[place(at)]; }
  size_t place(const Shape& at) const {
    int64_t i = 0;
    for (int64_t d = 0; d < shape.dim(); ++d) i = i * shape[d] + at[d];
    return places[static_cast<size_t>(i)];
  }

  DType dtype;
  Shape shape;
  std::shared_ptr<Values> memory = std::make_shared<Values>();
  std::vector<size_t> places = {};  // positions of the elements in the memory, in row-major order
};
using P = const Plain&;
using T = const Tensor&;

// A new tensor with the elements value(at).
template <class F>
Plain make(DType dtype, const Shape& shape, F&& value) {
  Plain y{dtype, shape};
  each(shape, [&](const Shape& at) {
    const double v = value(at);
    y.places.push_back(y.memory->size());
    y.memory->push_back(dtype == float32 ? static_cast<float>(v) : v);
  });
  return y;
}
// A view whose element at `at` is x(source(at)).
template <class F>
Plain view(P x, const Shape& shape, F&& source) {
  Plain y{x.dtype, shape, x.memory};
  each(shape, [&](const Shape& at) { y.places.push_back(x.place(source(at))); });
  return y;
}
Plain copy(P x) {
  return make(x.dtype, x.shape, [&](const Shape& at) { return x(at); });
}
Plain expanded(P x, const Shape& shape) {
  return view(x, shape, [&](const Shape& at) {
    Shape from = x.shape;
    for (int64_t d = 0; d < from.dim(); ++d) from[d] = from[d] == 1 ? 0 : at[at.dim() - from.dim() + d];
    return from;
  });
}
Shape broadcast(Shape a, Shape b) {
  if (a.dim() < b.dim()) std::swap(a, b);
  while (b.dim() < a.dim()) b.insert(0, 1);
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (a[d] != b[d] && a[d] != 1 && b[d] != 1) throw SkipStep();
    a[d] = a[d] == 1 ? b[d] : a[d];
  }
  return a;
}
template <class F>
Plain zip(DType dtype, P a, P b, F&& f) {
  const Shape shape = broadcast(a.shape, b.shape);
  const Plain x = expanded(a, shape), y = expanded(b, shape);
  return make(dtype, shape, [&](const Shape& at) { return f(x(at), y(at)); });
}
Tensor to_tensor(P x) { return to(from_vector(*copy(x).memory, x.shape), x.dtype); }

struct Step {
  std::string name;
  size_t a, b;  // its operands
  std::function<Plain(P, P)> plain;
  std::function<Tensor(T, T)> call;
};

// What heed computes from the operands x and y.
#define CALL(...) [=](T x, [[maybe_unused]] T y) -> Tensor { return __VA_ARGS__; }

// A step with a new result of the elements element(x, y, at).
template <class Element, class Call>
Step made(const char* name, size_t a, size_t b, DType dtype, const Shape& shape, Element element, Call call) {
  const auto plain = [=](P x, P y) {
    return make(dtype, shape, [&](const Shape& at) { return element(x, y, at); });
  };
  return {name, a, b, plain, call};
}
// A step on elements at the same position, after broadcasting.
template <class F, class Call>
Step zipped(const char* name, size_t a, size_t b, DType dtype, F f, Call call) {
  return {name, a, b, [=](P x, P y) { return zip(dtype, x, y, f); }, call};
}
// Softmax in place.
void normalize(Values& line) {
  double sum = 0;
  for (double& v : line) sum += v = std::exp(v);
  for (double& v : line) v /= sum;
}
// A step that moves elements: a view, or a copy of one.
enum class Memory { shared, own };
template <class Source, class Call>
Step moved(const char* name, Memory memory, size_t a, const Shape& shape, Source source, Call call) {
  const auto plain = [=](P x, P) {
    const Plain y = view(x, shape, [&](Shape at) { return source(at), at; });
    return memory == Memory::shared ? y : copy(y);
  };
  return {name, a, a, plain, call};
}

template <class Plainly, class Call>
struct Function {
  const char* name;
  Plainly plain;
  Call call;
  bool smooth, of_integers;
};
const Function<double (*)(double), Tensor (*)(Operand)> unary[] = {
    {"neg", [](double v) { return -v; }, neg, true, true},
    {"square", [](double v) { return v * v; }, square, true, true},
    {"abs", [](double v) { return std::abs(v); }, abs, false, true},
    {"tanh", [](double v) { return std::tanh(v); }, tanh, true, false},
    {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }, sigmoid, true, false},
    {"relu", [](double v) { return std::max(v, 0.0); }, relu, false, false}};
double quotient(double a, double b) { return std::abs(b) < 0.5 ? throw SkipStep() : a / b; }
const Function<double (*)(double, double), Tensor (*)(Operand, Operand)> binary[] = {
    {"add", [](double a, double b) { return a + b; }, [](Operand a, Operand b) { return a + b; }, true, true},
    {"sub", [](double a, double b) { return a - b; }, [](Operand a, Operand b) { return a - b; }, true, true},
    {"mul", [](double a, double b) { return a * b; }, mul, true, true},
    {"div", quotient, [](Operand a, Operand b) { return a / b; }, true, false},
    {"maximum", [](double a, double b) { return std::max(a, b); }, maximum, false, true}};

class Program {
 public:
  // A smooth program has a derivative everywhere and writes nothing in place.
  Program(const std::function<uint64_t()>& choose, bool smooth) : smooth_(smooth), choose_(choose) {
    Shape shape = Shape::filled(1 + below(3), 0);
    for (int64_t& n : shape) n = below(12) ? 1 + below(4) : 0;
    for (const DType dtype :
         {float64, float64, float64, smooth ? float64 : float32, smooth ? boolean : int64}) {
      Shape own = shape;
      if (below(2)) own.erase(0);
      for (int64_t& n : own) n = below(5) ? n : 1;
      plains.push_back(random_values(dtype, own, 5));
      tensors.push_back(to_tensor(plains.back()).requires_grad_(smooth && is_floating(dtype)));
    }
    leaves = plains.size();
    for (int tries = 0; steps.size() < 12 && tries < 200; ++tries) try_step();
  }

  std::string text() const {
    std::string all;
    for (size_t i = 0; i < plains.size(); ++i) {
      all += "\n  " + std::to_string(i) + " = ";
      if (i >= leaves) {
        const Step& step = steps[i - leaves];
        all += step.name + " of " + std::to_string(step.a) + ", " + std::to_string(step.b) + ": ";
      }
      all += to_string(plains[i].dtype) + " " + to_string(plains[i].shape);
    }
    return all;
  }
  // sum_i,k c_ik x_ik over all floating values, by the interpreter and by heed.
  double loss(std::vector<Plain> all) const {
    for (const Step& step : steps) all.push_back(step.plain(all[step.a], all[step.b]));
    double sum = 0;
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t k = 0; k < all[i].places.size() && all[i].dtype == float64; ++k)
        sum += all[i][k] * std::cos(static_cast<double>(i + 3 * k));
    return sum;
  }
  Tensor loss() const {
    Tensor total = zeros({}, float64);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (const Tensor& x = tensors[i]; x.dtype() == float64) {
        const Tensor place = reshape(arange(0, static_cast<double>(x.numel()), 1, float64), x.shape());
        total = total + sum(x * cos(static_cast<double>(i) + 3 * place));
      }
    return total;
  }

  std::vector<Plain> plains;
  std::vector<Tensor> tensors;
  std::vector<Step> steps;  // each adds a value
  size_t leaves = 0;

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(choose_() % static_cast<uint64_t>(n)); }
  // Numbers from -2 to 2, integers from 0 to n - 1, or bools.
  Plain random_values(DType dtype, const Shape& shape, int64_t n) {
    return make(dtype, shape, [&](const Shape&) {
      if (is_floating(dtype)) return static_cast<double>(below(4001)) / 1000 - 2;
      return static_cast<double>(below(dtype == boolean ? 2 : n));
    });
  }

  void try_step() {
    try {
      const Step step = propose();
      const Plain y = step.plain(plains[step.a], plains[step.b]);
      for (size_t i = 0; i < y.places.size(); ++i)
        if (std::abs(y[i]) > kLargest || y.places.size() > 200) throw SkipStep();
      plains.push_back(y);
      steps.push_back(step);
      tensors.push_back(step.call(tensors[step.a], tensors[step.b]));
    } catch (const SkipStep&) {
    } catch (const Error& error) {
      throw Error(error.what() + text());
    }
  }

  Step propose() {
    const size_t a = static_cast<size_t>(below(static_cast<int64_t>(plains.size())));
    std::vector<size_t> alike;  // operands with the dtype of `a`
    for (size_t i = 0; i < plains.size(); ++i)
      if (plains[i].dtype == plains[a].dtype) alike.push_back(i);
    const size_t b = alike[static_cast<size_t>(below(static_cast<int64_t>(alike.size())))];
    using P_ = Program;
    static constexpr Step (Program::*kinds[])(size_t, size_t) = {
        &P_::elementwise, &P_::elementwise, &P_::viewed,    &P_::viewed,
        &P_::reduced,     &P_::by_lines,    &P_::positions, &P_::tiled,
        &P_::bordered,    &P_::product_of,  &P_::in_place,  &P_::of_other_dtype};
    return (this->*kinds[below(smooth_ ? 10 : 12)])(a, b);
  }

  Step elementwise(size_t a, size_t b) {
    const DType dtype = plains[a].dtype;
    const auto fits = [&](const auto& f) {
      if (!(is_floating(dtype) || (dtype == int64 && f.of_integers)) || (smooth_ && !f.smooth))
        throw SkipStep();
      return f;
    };
    if (below(3) == 0) {
      const auto f = fits(unary[below(std::size(unary))]);
      const auto element = [=](P x, P, const Shape& at) { return f.plain(x(at)); };
      return made(f.name, a, a, dtype, plains[a].shape, element, CALL(f.call(x)));
    }
    if (below(6) == 0) {
      const Plain mask = random_values(boolean, plains[a].shape, 2);
      const Tensor condition = to_tensor(mask);
      const auto plain = [=](P x, P y) {
        const Plain yes = zip(dtype, mask, x, std::multiplies());
        const Plain no = zip(dtype, mask, y, [](double on, double v) { return (1 - on) * v; });
        return zip(dtype, yes, no, std::plus());
      };
      return {"where", a, b, plain, CALL(where(condition, x, y))};
    }
    const auto f = fits(binary[below(std::size(binary))]);
    return zipped(f.name, a, b, dtype, f.plain, CALL(f.call(x, y)));
  }

  Step viewed(size_t a, size_t) {
    Shape shape = plains[a].shape;
    const int64_t rank = shape.dim(), d = rank ? below(rank) : 0, n = rank ? shape[d] : 1;
    const auto step = [&](const char* name, auto source, auto call) {
      return moved(name, Memory::shared, a, shape, source, call);
    };
    const int64_t kind = below(rank ? 6 : 2);
    if (kind < 2 && rank == Shape::kMaxDim) throw SkipStep();
    switch (kind) {
      case 0:
        shape.insert(d, 1);
        return step(
            "unsqueeze", [=](Shape& at) { at.erase(d); }, CALL(unsqueeze(x, d)));
      case 1:
        for (int64_t& size : shape) size = size == 1 ? 1 + below(3) : size;
        shape.insert(0, 1 + below(3));
        return {"expand", a, a, [=](P x, P) { return expanded(x, shape); }, CALL(expand(x, shape))};
      case 2: {
        const int64_t e = below(rank);
        std::swap(shape[d], shape[e]);
        return step(
            "transpose", [=](Shape& at) { std::swap(at[d], at[e]); }, CALL(transpose(x, d, e)));
      }
      case 3: {
        const int64_t start = below(n + 1), by = 1 + below(2);
        shape[d] = (n - start + by - 1) / by;
        return step(
            "slice", [=](Shape& at) { at[d] = start + at[d] * by; }, CALL(slice(x, d, start, n, by)));
      }
      case 4: {
        if (n == 0) throw SkipStep();
        const int64_t i = below(n);
        shape.erase(d);
        return step(
            "select", [=](Shape& at) { at.insert(d, i); }, CALL(select(x, d, i)));
      }
      default: {  // a view if the strides allow it
        const int64_t all = numel(shape);
        shape = all % 2 ? Shape{all} : Shape{2, all / 2};
        const Tensor &from = tensors[a], found = reshape(from, shape);
        const bool shares = TensorImpl::of(found).storage.get() == TensorImpl::of(from).storage.get();
        const auto plain = [=](P x, P) {
          const Plain y{x.dtype, shape, x.memory, x.places};
          return shares ? y : copy(y);
        };
        return {"reshape", a, a, plain, CALL(reshape(x, shape))};
      }
    }
  }

  // repeat, with additional leading dimensions
  Step tiled(size_t a, size_t) {
    const Shape from = plains[a].shape;
    const int64_t lead = below(Shape::kMaxDim + 1 - from.dim());
    Shape sizes = Shape::filled(lead + from.dim(), 1), shape = sizes;
    for (int64_t d = 0; d < shape.dim(); ++d) {
      if (below(3) == 0) sizes[d] = below(4);
      shape[d] = sizes[d] * (d < lead ? 1 : from[d - lead]);
    }
    if (numel(shape) > 300) throw SkipStep();
    const auto source = [=](Shape& at) {
      for (int64_t d = 0; d < lead; ++d) at.erase(0);
      for (int64_t d = 0; d < from.dim(); ++d) at[d] %= from[d];
    };
    return moved("repeat", Memory::own, a, shape, source, CALL(repeat(x, sizes)));
  }

  // pad
  Step bordered(size_t a, size_t) {
    const Shape from = plains[a].shape;
    Shape shape = from, before = from;
    IntList pads;
    for (int64_t d = from.dim() - 1; d >= 0; --d) {
      for (int i = 0; i < 2; ++i) pads.push_back(below(3) ? 0 : below(4) - 1);
      before[d] = pads[pads.size() - 2];
      shape[d] += before[d] + pads.back();
      if (shape[d] < 0) throw SkipStep();
    }
    if (numel(shape) > 300) throw SkipStep();
    const auto element = [=](P x, P, Shape at) {
      for (int64_t d = 0; d < from.dim(); ++d) {
        at[d] -= before[d];
        if (at[d] < 0 || at[d] >= from[d]) return 1.0;
      }
      return x(at);
    };
    return made("pad", a, a, plains[a].dtype, shape, element, CALL(pad(x, pads, 1)));
  }

  Step reduced(size_t a, size_t) {
    static const char* const names[] = {"sum", "mean", "amax"};
    const Shape shape = plains[a].shape;
    const DType dtype = plains[a].dtype;
    const int64_t kind = below(smooth_ ? 2 : 3);
    const bool keepdim = below(2);
    Shape kept = shape, result, dims;
    for (int64_t d = 0; d < shape.dim(); ++d) {
      if (below(2)) {
        dims.push_back(d);
        kept[d] = 1;
        if (!keepdim) continue;
      }
      result.push_back(kept[d]);
    }
    if (dims.empty() || dtype == boolean || (kind == 1 && dtype == int64)) throw SkipStep();
    if (kind > 0 && plains[a].places.empty()) throw SkipStep();
    const double share = kind == 1 ? static_cast<double>(numel(kept)) / static_cast<double>(numel(shape)) : 1;
    const auto plain = [=](P x, P) {
      const Plain y = make(float64, kept, [&](auto&) { return kind == 2 ? -kLargest : 0; });
      each(shape, [&](Shape at) {
        const double v = x(at);
        for (const int64_t d : dims) at[d] = 0;
        y(at) = kind == 2 ? std::max(y(at), v) : y(at) + v * share;
      });
      return copy(Plain{dtype, result, y.memory, y.places});
    };
    static constexpr Tensor (*calls[])(Operand, Dims, bool) = {sum, mean, amax};
    return {names[kind], a, a, plain, CALL(calls[kind](x, dims, keepdim))};
  }

  // Functions of whole lines along a dimension.
  Step by_lines(size_t a, size_t b) {
    const Shape shape = plains[a].shape;
    if (shape.empty()) throw SkipStep();
    const int64_t d = below(shape.dim()), n = shape[d];
    const auto step = [=](const char* name, auto change, auto call) {
      const auto plain = [=](P x, P) {
        Shape outer = shape;
        outer[d] = std::min<int64_t>(n, 1);
        const Plain y = copy(x);
        each(outer, [&](Shape at) {
          Values line;
          for (at[d] = 0; at[d] < n; ++at[d]) line.push_back(x(at));
          change(line);
          for (at[d] = 0; at[d] < n; ++at[d]) y(at) = line[at[d]];
        });
        return copy(y);
      };
      return Step{name, a, a, plain, call};
    };
    switch (below(4)) {
      case 0:
        return moved(
            "flip", Memory::own, a, shape, [=](Shape& at) { at[d] = n - 1 - at[d]; }, CALL(flip(x, {d})));
      case 1:
        if (plains[a].dtype == boolean) throw SkipStep();
        return step(
            "cumsum", [](Values& line) { std::partial_sum(line.begin(), line.end(), line.begin()); },
            CALL(cumsum(x, d)));
      case 2:
        if (!is_floating(plains[a].dtype)) throw SkipStep();
        return step("softmax", normalize, CALL(softmax(x, d)));
      default: {
        Shape both = shape, other = plains[b].shape;
        if (other.dim() != shape.dim()) throw SkipStep();
        both[d] += std::exchange(other[d], n);
        if (other != shape) throw SkipStep();
        const auto element = [=](P x, P y, Shape at) { return at[d] < n ? x(at) : (at[d] -= n, y(at)); };
        return made("cat", a, b, plains[a].dtype, both, element, CALL(cat(std::vector<Tensor>{x, y}, d)));
      }
    }
  }

  // Indexing along a dimension: index_select, a mask, gather, scatter_add.
  Step positions(size_t a, size_t b) {
    Shape shape = plains[a].shape;
    if (shape.empty()) throw SkipStep();
    const int64_t kind = below(4), d = kind == 1 ? 0 : below(shape.dim()), n = shape[d];
    if (n == 0) throw SkipStep();
    shape[d] = below(5);
    if (kind == 1) {
      const Plain mask = random_values(boolean, {n}, 2);
      std::vector<int64_t> rows;
      for (int64_t i = 0; i < n; ++i)
        if (mask({i})) rows.push_back(i);
      shape[0] = static_cast<int64_t>(rows.size());
      const Tensor chosen = to_tensor(mask);
      return moved(
          "mask", Memory::own, a, shape, [rows](Shape& at) { at[0] = rows[at[0]]; }, CALL(x[chosen]));
    }
    const Plain places = random_values(int64, kind ? shape : Shape{shape[d]}, n);
    const Tensor index = to_tensor(places);
    const auto redirect = [=](Shape& at) {
      at[d] = static_cast<int64_t>(kind ? places(at) : places({at[d]}));
    };
    if (kind == 0)
      return moved("index_select", Memory::own, a, shape, redirect, CALL(index_select(x, d, index)));
    if (kind == 2) return moved("gather", Memory::own, a, shape, redirect, CALL(gather(x, d, index)));
    if (plains[a].dtype == boolean || plains[b].shape != shape) throw SkipStep();
    const auto plain = [=](P x, P y) {
      const Plain sum = copy(x);
      each(shape, [&](Shape at) {
        const double v = y(at);
        redirect(at);
        sum(at) += v;
      });
      return copy(sum);
    };
    return {"scatter_add", a, b, plain, CALL(scatter_add(x, d, index, y))};
  }

  // x y^T over the last two dimensions.
  Step product_of(size_t a, size_t b) {
    Shape shape = plains[a].shape, right = plains[b].shape;
    const int64_t last = shape.dim() - 1;
    if (!is_floating(plains[a].dtype) || last < 1 || right.dim() != shape.dim()) throw SkipStep();
    const int64_t columns = std::exchange(right[last - 1], shape[last - 1]), n = shape[last];
    if (right != shape) throw SkipStep();
    shape[last] = columns;
    const auto element = [=](P x, P y, Shape row) {
      Shape column = row;
      column[last - 1] = row[last];
      double sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        row[last] = column[last] = k;
        sum += x(row) * y(column);
      }
      return sum;
    };
    return made("matmul", a, b, plains[a].dtype, shape, element, CALL(matmul(x, transpose(y))));
  }

  Step in_place(size_t a, size_t b) {
    static const struct {
      const char* name;
      double (*plain)(double, double);
      Tensor (*call)(Operand, Operand);
    } kinds[] = {
        {"copy_", [](double, double v) { return v; }, [](Operand x, Operand y) { return copy_(x, y); }},
        {"add_", [](double u, double v) { return u + v; }, [](Operand x, Operand y) { return add_(x, y); }},
        {"mul_", [](double u, double v) { return u * v; }, [](Operand x, Operand y) { return mul_(x, y); }}};
    const Plain& target = plains[a];
    const std::set<size_t> distinct(target.places.begin(), target.places.end());
    if (target.dtype == boolean || target.places.empty() || distinct.size() != target.places.size())
      throw SkipStep();
    if (broadcast(target.shape, plains[b].shape) != target.shape) throw SkipStep();
    const auto kind = kinds[below(3)];
    const auto plain = [=](P x, P y) {
      const Plain now = zip(x.dtype, x, y, [&](double u, double v) {
        const double w = kind.plain(u, v);
        return std::abs(w) > kLargest ? throw SkipStep() : w;
      });
      each(x.shape, [&](const Shape& at) { x(at) = now(at); });
      return x;
    };
    return {kind.name, a, b, plain, CALL(kind.call(x, y))};
  }

  Step of_other_dtype(size_t a, size_t b) {
    const DType from = plains[a].dtype, other = below(2) ? float64 : float32;
    const auto same = [](P x, P, const Shape& at) { return x(at); };
    if (below(2)) return made("to", a, a, other, plains[a].shape, same, CALL(clone(to(x, other))));
    const auto less_or_and = [=](double u, double v) {
      if (is_floating(from) && std::abs(u - v) < 1e-3) throw SkipStep();
      return from == boolean ? u * v : u < v;
    };
    return zipped("less, or and", a, b, boolean, less_or_and,
                  CALL(from == boolean ? logical_and(x, y) : x < y));
  }

  const bool smooth_;
  const std::function<uint64_t()>& choose_;
};

}  // namespace

std::string wrong_program(const std::function<uint64_t()>& choose, bool smooth, size_t place) {
  const GradMode mode(smooth);
  const Program program(choose, smooth);
  const auto fails = [](double got, double wanted, double tolerance) {
    return !(std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted)));
  };
  const auto said = [&](size_t i, size_t k, double got, double wanted) {
    return "value " + std::to_string(i) + ", element " + std::to_string(k) + ", is " + to_string(got) +
           ", not " + to_string(wanted) + program.text();
  };
  for (size_t i = 0; i < program.plains.size(); ++i) {
    const Tensor& x = program.tensors[i];
    const Plain& wanted = program.plains[i];
    if (x.dtype() != wanted.dtype || x.shape() != wanted.shape)
      return "value " + std::to_string(i) + " is " + to_string(x.dtype()) + " " + to_string(x.shape()) +
             program.text();
    const Values got = x.to_vector();
    for (size_t k = 0; k < got.size(); ++k)
      if (fails(got[k], wanted[k],
                smooth || !is_floating(x.dtype()) ? 1e-9 : 1e-3))  // values that were rounded to float32
        return said(i, k, got[k], wanted[k]);
  }
  if (!smooth) return "";

  program.loss().backward();
  std::vector<Plain> leaves = program.plains;
  leaves.resize(program.leaves);
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].places.empty() || leaves[i].dtype != float64) continue;
    const size_t k = place % leaves[i].places.size();
    const double h = 1e-5, before = leaves[i][k], found = program.tensors[i].grad().to_vector()[k];
    double numeric = 0;
    try {
      for (const double step : {h, -h}) {
        leaves[i][k] = before + step;
        numeric += program.loss(leaves) / (2 * step);
      }
    } catch (const SkipStep&) {
      numeric = found;  // a skipped step: nothing to compare
    }
    leaves[i][k] = before;
    if (fails(found, numeric, 1e-4)) return "the gradient of " + said(i, k, found, numeric);
  }
  return "";
}
