// Random programs of operations against an interpreter that is as plain as can be: every element of a tensor
// has a place in a vector of doubles, and every operation says by explicit indexes where its elements come
// from. Views share places, so that what is written in place is seen where it must be.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <set>

#include "autograd/grad_mode.h"
#include "autograd/ops.h"
#include "tensor/create.h"
#include "tensor/index.h"
#include "tests/support/expect.h"

using namespace heed;

namespace {

using Sizes = std::vector<int64_t>;  // a shape, or the index of an element

constexpr double kLargest = 10;
struct Unfit {};  // a step that would show nothing: near a jump, too large, or not for these operands

int64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies());
}

template <class F>
void each(const Sizes& shape, F&& f) {
  Sizes at(shape.size());
  for (int64_t left = product(shape); left > 0; --left) {
    f(at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

struct Plain {
  double& operator[](size_t i) const { return (*memory)[places[i]]; }
  double& operator()(const Sizes& at) const { return (*memory)[place(at)]; }
  size_t place(const Sizes& at) const {
    int64_t i = 0;
    for (size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + at[d];
    return places[static_cast<size_t>(i)];
  }

  DType dtype;
  Sizes shape;
  std::shared_ptr<std::vector<double>> memory = std::make_shared<std::vector<double>>();
  std::vector<size_t> places = {};  // of the elements in the memory, in row-major order
};
using P = const Plain&;

// In memory of its own; value(at) says each element.
template <class F>
Plain make(DType dtype, const Sizes& shape, F&& value) {
  Plain y{dtype, shape};
  each(shape, [&](const Sizes& at) {
    const double v = value(at);
    y.places.push_back(y.memory->size());
    y.memory->push_back(dtype == float32 ? static_cast<float>(v) : v);
  });
  return y;
}
// source(at) says which element of x it is.
template <class F>
Plain view(P x, const Sizes& shape, F&& source) {
  Plain y{x.dtype, shape, x.memory};
  each(shape, [&](const Sizes& at) { y.places.push_back(x.place(source(at))); });
  return y;
}
Plain copy(P x) {
  return make(x.dtype, x.shape, [&](const Sizes& at) { return x(at); });
}
Plain expanded(P x, const Sizes& shape) {
  return view(x, shape, [&](const Sizes& at) {
    Sizes from(at.end() - static_cast<std::ptrdiff_t>(x.shape.size()), at.end());
    for (size_t d = 0; d < from.size(); ++d) from[d] = x.shape[d] == 1 ? 0 : from[d];
    return from;
  });
}
Sizes broadcast(Sizes a, Sizes b) {
  if (a.size() < b.size()) a.swap(b);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d] != b[d] && a[d] != 1 && b[d] != 1) throw Unfit();
    a[d] = a[d] == 1 ? b[d] : a[d];
  }
  return a;
}
template <class F>
Plain zip(DType dtype, P a, P b, F&& f) {
  const Sizes shape = broadcast(a.shape, b.shape);
  const Plain x = expanded(a, shape), y = expanded(b, shape);
  return make(dtype, shape, [&](const Sizes& at) { return f(x(at), y(at)); });
}

Shape to_shape(const Sizes& sizes) {
  Shape shape = Shape::filled(static_cast<int64_t>(sizes.size()), 0);
  std::copy(sizes.begin(), sizes.end(), shape.begin());
  return shape;
}
Tensor to_tensor(P x) {
  std::vector<double> all;
  for (const size_t place : x.places) all.push_back((*x.memory)[place]);
  return to(from_vector(all, to_shape(x.shape)), x.dtype);
}

struct Step {
  std::string name;
  size_t a, b;  // the values that it takes
  std::function<Plain(P, P)> plain;
  std::function<Tensor(const Tensor&, const Tensor&)> call;
};
using T = const Tensor&;

struct Unary {
  const char* name;
  double (*plain)(double);
  Tensor (*call)(Operand);
  bool smooth, of_integers;
};
const Unary unary[] = {{"neg", [](double v) { return -v; }, neg, true, true},
                       {"square", [](double v) { return v * v; }, square, true, true},
                       {"abs", [](double v) { return std::abs(v); }, abs, false, true},
                       {"tanh", [](double v) { return std::tanh(v); }, tanh, true, false},
                       {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }, sigmoid, true, false},
                       {"relu", [](double v) { return std::max(v, 0.0); }, relu, false, false}};
struct Binary {
  const char* name;
  double (*plain)(double, double);
  Tensor (*call)(Operand, Operand);
  bool smooth, of_integers;
};
double quotient(double a, double b) { return std::abs(b) < 0.5 ? throw Unfit() : a / b; }
const Binary binary[] = {
    {"add", [](double a, double b) { return a + b; }, [](Operand a, Operand b) { return a + b; }, true, true},
    {"sub", [](double a, double b) { return a - b; }, [](Operand a, Operand b) { return a - b; }, true, true},
    {"mul", [](double a, double b) { return a * b; }, mul, true, true},
    {"div", quotient, [](Operand a, Operand b) { return a / b; }, true, false},
    {"maximum", [](double a, double b) { return std::max(a, b); }, maximum, false, true}};

class Program {
 public:
  // A smooth program has a derivative everywhere and writes nothing in place.
  Program(uint64_t seed, bool smooth) : smooth_(smooth), random_(seed) {
    Sizes shape(static_cast<size_t>(1 + below(3)));
    for (int64_t& n : shape) n = below(12) ? 1 + below(4) : 0;
    for (const DType dtype :
         {float64, float64, float64, smooth ? float64 : float32, smooth ? boolean : int64}) {
      Sizes own(shape.begin() + below(2), shape.end());
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
      all += to_string(plains[i].dtype) + " " + to_string(to_shape(plains[i].shape));
    }
    return all;
  }
  // sum_i,k c_ik x_ik over all floating values, in both ways.
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
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].dtype() != float64) continue;
      const Tensor k = reshape(arange(tensors[i].numel(), float64), tensors[i].shape());
      total = total + sum(tensors[i] * cos(static_cast<double>(i) + 3 * k));
    }
    return total;
  }

  std::vector<Plain> plains;
  std::vector<Tensor> tensors;
  std::vector<Step> steps;  // each adds a value
  size_t leaves = 0;

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  // Numbers from -2 to 2, integers from 0 to n - 1, or bools.
  Plain random_values(DType dtype, const Sizes& shape, int64_t n) {
    return make(dtype, shape, [&](const Sizes&) {
      if (is_floating(dtype)) return static_cast<double>(below(4001)) / 1000 - 2;
      return static_cast<double>(below(dtype == boolean ? 2 : n));
    });
  }

  void try_step() {
    try {
      const Step step = propose();
      const Plain y = step.plain(plains[step.a], plains[step.b]);
      for (size_t i = 0; i < y.places.size(); ++i)
        if (std::abs(y[i]) > kLargest || y.places.size() > 200) throw Unfit();
      plains.push_back(y);
      steps.push_back(step);
      tensors.push_back(step.call(tensors[step.a], tensors[step.b]));
    } catch (const Unfit&) {
    } catch (const Error& error) {
      throw Error(error.what() + text());
    }
  }

  Step propose() {
    const size_t a = static_cast<size_t>(below(static_cast<int64_t>(plains.size())));
    const DType dtype = plains[a].dtype;
    std::vector<size_t> alike;  // what `a` may be taken together with
    for (size_t i = 0; i < plains.size(); ++i)
      if (plains[i].dtype == dtype) alike.push_back(i);
    const size_t b = alike[static_cast<size_t>(below(static_cast<int64_t>(alike.size())))];
    switch (below(smooth_ ? 8 : 10)) {
      case 0:
      case 1:
        return elementwise(a, b);
      case 2:
      case 3:
        return viewed(a);
      case 4:
        return reduced(a);
      case 5:
        return along_a_dimension(a, b);
      case 6:
        return positions(a, b);
      case 7:
        return product_of(a, b);
      case 8:
        return in_place(a, b);
      default:
        return of_other_dtype(a, b);
    }
  }

  Step elementwise(size_t a, size_t b) {
    const DType dtype = plains[a].dtype;
    const auto fits = [&](const auto& f) {
      if (!(is_floating(dtype) || (dtype == int64 && f.of_integers)) || (smooth_ && !f.smooth)) throw Unfit();
      return f;
    };
    if (below(3) == 0) {
      const Unary f = fits(unary[below(std::size(unary))]);
      return {f.name, a, a,
              [=](P x, P) { return make(dtype, x.shape, [&](auto& at) { return f.plain(x(at)); }); },
              [=](T x, T) { return f.call(x); }};
    }
    if (below(6) == 0) {
      const Plain mask = random_values(boolean, plains[a].shape, 2);
      return {"where", a, b,
              [=](P x, P y) {
                const Plain yes = zip(dtype, mask, x, std::multiplies());
                const Plain no = zip(dtype, mask, y, [](double on, double v) { return (1 - on) * v; });
                return zip(dtype, yes, no, std::plus());
              },
              [mask = to_tensor(mask)](T x, T y) { return where(mask, x, y); }};
    }
    const Binary f = fits(binary[below(std::size(binary))]);
    return {f.name, a, b, [=](P x, P y) { return zip(dtype, x, y, f.plain); },
            [=](T x, T y) { return f.call(x, y); }};
  }

  Step viewed(size_t a) {
    const auto step = [a](const char* name, const Sizes& shape, auto source, auto call) {
      return Step{name, a, a, [=](P x, P) { return view(x, shape, source); },
                  [=](T x, T) { return call(x); }};
    };
    Sizes shape = plains[a].shape;
    const int64_t rank = static_cast<int64_t>(shape.size()), d = rank ? below(rank) : 0,
                  n = rank ? shape[d] : 1;
    switch (below(rank ? 6 : 2)) {
      case 0:
        shape.insert(shape.begin() + d, 1);
        return step(
            "unsqueeze", shape, [=](Sizes at) { return at.erase(at.begin() + d), at; },
            [=](T x) { return unsqueeze(x, d); });
      case 1:
        for (int64_t& size : shape) size = size == 1 ? 1 + below(3) : size;
        shape.insert(shape.begin(), 1 + below(3));
        return {"expand", a, a, [=](P x, P) { return expanded(x, shape); },
                [=](T x, T) { return expand(x, to_shape(shape)); }};
      case 2: {
        const int64_t e = below(rank);
        std::swap(shape[d], shape[e]);
        return step(
            "transpose", shape, [=](Sizes at) { return std::swap(at[d], at[e]), at; },
            [=](T x) { return transpose(x, d, e); });
      }
      case 3: {
        const int64_t start = below(n + 1), by = 1 + below(2);
        shape[d] = (n - start + by - 1) / by;
        return step(
            "slice", shape, [=](Sizes at) { return at[d] = start + at[d] * by, at; },
            [=](T x) { return slice(x, d, start, n, by); });
      }
      case 4: {
        if (n == 0) throw Unfit();
        const int64_t i = below(n);
        shape.erase(shape.begin() + d);
        return step(
            "select", shape, [=](Sizes at) { return at.insert(at.begin() + d, i), at; },
            [=](T x) { return select(x, d, i); });
      }
      default: {  // a view where the elements allow it
        const int64_t all = product(shape);
        shape = all % 2 ? Sizes{all} : Sizes{2, all / 2};
        const auto call = [shape](T x, T) { return reshape(x, to_shape(shape)); };
        const bool shares = call(tensors[a], {}).body().storage.get() == tensors[a].body().storage.get();
        const auto plain = [=](P x, P) { return Plain{x.dtype, shape, x.memory, x.places}; };
        if (shares) return {"reshape", a, a, plain, call};
        return {"reshape", a, a, [=](P x, P y) { return copy(plain(x, y)); }, call};
      }
    }
  }

  Step reduced(size_t a) {
    const Sizes shape = plains[a].shape;
    const DType dtype = plains[a].dtype;
    const int64_t kind = below(smooth_ ? 2 : 3);  // sum, mean, amax
    const bool keepdim = below(2);
    Sizes kept = shape, result, dims;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (below(2)) {
        dims.push_back(static_cast<int64_t>(d));
        kept[d] = 1;
        if (!keepdim) continue;
      }
      result.push_back(kept[d]);
    }
    if (dims.empty() || dtype == boolean || (kind == 1 && dtype == int64)) throw Unfit();
    if (kind > 0 && plains[a].places.empty()) throw Unfit();
    const double share =
        kind == 1 ? static_cast<double>(product(kept)) / static_cast<double>(product(shape)) : 1;
    return {
        kind == 2 ? "amax"
        : kind    ? "mean"
                  : "sum",
        a, a,
        [=](P x, P) {
          const Plain y = make(float64, kept, [&](auto&) { return kind == 2 ? -kLargest : 0; });
          each(shape, [&](Sizes at) {
            const double v = x(at);
            for (const int64_t d : dims) at[d] = 0;
            y(at) = kind == 2 ? std::max(y(at), v) : y(at) + v * share;
          });
          return copy(Plain{dtype, result, y.memory, y.places});
        },
        [=, over = to_shape(dims)](T x, T) {
          return kind == 2 ? amax(x, over, keepdim) : kind ? mean(x, over, keepdim) : sum(x, over, keepdim);
        }};
  }

  // Each line along a dimension is changed as a whole.
  Step along_a_dimension(size_t a, size_t b) {
    const Sizes shape = plains[a].shape;
    if (shape.empty()) throw Unfit();
    const int64_t d = below(static_cast<int64_t>(shape.size())), n = shape[d];
    const auto step = [=](const char* name, auto change, auto call) {
      return Step{name, a, a,
                  [=](P x, P) {
                    Sizes outer = shape;
                    outer[d] = std::min<int64_t>(n, 1);
                    const Plain y = copy(x);
                    each(outer, [&](Sizes at) {
                      std::vector<double> line;
                      for (at[d] = 0; at[d] < n; ++at[d]) line.push_back(x(at));
                      change(line);
                      for (at[d] = 0; at[d] < n; ++at[d]) y(at) = line[at[d]];
                    });
                    return copy(y);
                  },
                  [=](T x, T) { return call(x); }};
    };
    switch (below(4)) {
      case 0:
        return step(
            "flip", [](auto& line) { std::reverse(line.begin(), line.end()); },
            [=](T x) { return flip(x, {d}); });
      case 1:
        if (plains[a].dtype == boolean) throw Unfit();
        return step(
            "cumsum", [](auto& line) { std::partial_sum(line.begin(), line.end(), line.begin()); },
            [=](T x) { return cumsum(x, d); });
      case 2:
        if (!is_floating(plains[a].dtype)) throw Unfit();
        return step(
            "softmax",
            [](auto& line) {
              double sum = 0;
              for (double& v : line) sum += v = std::exp(v);
              for (double& v : line) v /= sum;
            },
            [=](T x) { return softmax(x, d); });
      default: {
        Sizes both = shape, other = plains[b].shape;
        if (other.size() != shape.size()) throw Unfit();
        both[d] += std::exchange(other[d], n);
        if (other != shape) throw Unfit();
        return {"cat", a, b,
                [=](P x, P y) {
                  return make(x.dtype, both,
                              [&](Sizes at) { return at[d] < n ? x(at) : (at[d] -= n, y(at)); });
                },
                [=](T x, T y) {
                  return cat({x, y}, d);
                }};
      }
    }
  }

  // By positions along a dimension: index_select, a mask, gather, scatter_add.
  Step positions(size_t a, size_t b) {
    Sizes shape = plains[a].shape;
    if (shape.empty()) throw Unfit();
    const int64_t kind = below(4), d = kind == 1 ? 0 : below(static_cast<int64_t>(shape.size())),
                  n = shape[d];
    if (n == 0) throw Unfit();
    shape[d] = below(5);
    const auto step = [=](const char* name, const Sizes& to, auto at_most, auto call) {
      return Step{
          name, a, a,
          [=](P x, P) {
            return copy(view(x, to, [&](Sizes at) { return at[d] = static_cast<int64_t>(at_most(at)), at; }));
          },
          call};
    };
    if (kind == 1) {
      const Plain mask = random_values(boolean, {n}, 2);
      std::vector<int64_t> rows;
      for (int64_t i = 0; i < n; ++i)
        if (mask({i})) rows.push_back(i);
      shape[0] = static_cast<int64_t>(rows.size());
      return step(
          "mask", shape, [rows](const Sizes& at) { return rows[at[0]]; },
          [m = to_tensor(mask)](T x, T) { return x[m]; });
    }
    const Plain places = random_values(int64, kind ? shape : Sizes{shape[d]}, n);
    const Tensor index = to_tensor(places);
    if (kind == 0)
      return step(
          "index_select", shape, [=](const Sizes& at) { return places({at[d]}); },
          [=](T x, T) { return index_select(x, d, index); });
    if (kind == 2)
      return step(
          "gather", shape, [=](const Sizes& at) { return places(at); },
          [=](T x, T) { return gather(x, d, index); });
    if (plains[a].dtype == boolean || plains[b].shape != shape) throw Unfit();
    return {"scatter_add", a, b,
            [=](P x, P y) {
              const Plain sum = copy(x);
              each(shape, [&](Sizes at) {
                const double v = y(at);
                at[d] = static_cast<int64_t>(places(at));
                sum(at) += v;
              });
              return copy(sum);
            },
            [=](T x, T y) { return scatter_add(x, d, index, y); }};
  }

  // x y^T over the last two dimensions.
  Step product_of(size_t a, size_t b) {
    Sizes shape = plains[a].shape, right = plains[b].shape;
    const size_t last = shape.size() - 1;
    if (!is_floating(plains[a].dtype) || shape.size() < 2 || right.size() != shape.size()) throw Unfit();
    const int64_t columns = std::exchange(right[last - 1], shape[last - 1]), n = shape[last];
    if (right != shape) throw Unfit();
    shape[last] = columns;
    return {"matmul", a, b,
            [=](P x, P y) {
              return make(x.dtype, shape, [&](Sizes row) {
                Sizes column = row;
                column[last - 1] = row[last];
                double sum = 0;
                for (int64_t k = 0; k < n; ++k) {
                  row[last] = column[last] = k;
                  sum += x(row) * y(column);
                }
                return sum;
              });
            },
            [=](T x, T y) { return matmul(x, transpose(y)); }};
  }

  Step in_place(size_t a, size_t b) {
    const Plain& target = plains[a];
    const std::set<size_t> distinct(target.places.begin(), target.places.end());
    if (target.dtype == boolean || target.places.empty() || distinct.size() != target.places.size())
      throw Unfit();
    if (broadcast(target.shape, plains[b].shape) != target.shape) throw Unfit();
    const int64_t kind = below(3);
    return {kind == 0   ? "copy_"
            : kind == 1 ? "add_"
                        : "mul_",
            a, b,
            [=](P x, P y) {
              const Plain now = zip(x.dtype, x, y, [&](double u, double v) {
                const double w = kind == 0 ? v : kind == 1 ? u + v : u * v;
                return std::abs(w) > kLargest ? throw Unfit() : w;
              });
              each(x.shape, [&](const Sizes& at) { x(at) = now(at); });
              return x;
            },
            [=](T x, T y) { return kind == 0   ? copy_(x, y)
                                   : kind == 1 ? add_(x, y)
                                               : mul_(x, y); }};
  }

  Step of_other_dtype(size_t a, size_t b) {
    const DType from = plains[a].dtype, other = below(2) ? float64 : float32;
    if (below(2))
      return {"to", a, a, [=](P x, P) { return make(other, x.shape, [&](auto& at) { return x(at); }); },
              [=](T x, T) { return clone(to(x, other)); }};
    return {"less, or and", a, b,
            [=](P x, P y) {
              return zip(boolean, x, y, [=](double u, double v) {
                if (is_floating(from) && std::abs(u - v) < 1e-3) throw Unfit();
                return from == boolean ? u * v : u < v;
              });
            },
            [=](T x, T y) { return from == boolean ? logical_and(x, y) : x < y; }};
  }

  const bool smooth_;
  std::mt19937_64 random_;
};

void check_program(uint64_t seed) {
  CAPTURE(seed);
  const bool smooth = seed % 2;
  const GradMode mode(smooth);
  const Program program(seed, smooth);
  const auto fails = [](double got, double wanted, double tolerance) {
    return !(std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted)));
  };
  for (size_t i = 0; i < program.plains.size(); ++i) {
    const Tensor& x = program.tensors[i];
    const Plain& wanted = program.plains[i];
    CAPTURE(i);
    REQUIRE_MESSAGE((x.dtype() == wanted.dtype && x.shape() == to_shape(wanted.shape)), program.text());
    const std::vector<double> got = values(x);
    for (size_t k = 0; k < got.size(); ++k)
      if (fails(got[k], wanted[k],
                smooth || !is_floating(x.dtype()) ? 1e-9 : 1e-3))  // others pass through float32
        FAIL("element " << k << " is " << got[k] << ", not " << wanted[k] << program.text());
  }
  if (!smooth) return;

  program.loss().backward();
  const auto first = program.plains.begin();
  const std::vector<Plain> leaves(first, first + static_cast<std::ptrdiff_t>(program.leaves));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].places.empty() || leaves[i].dtype != float64) continue;
    const size_t k = seed / 2 % leaves[i].places.size();  // of each leaf one element
    const double h = 1e-5, before = leaves[i][k], found = values(program.tensors[i].grad())[k];
    double numeric = 0;
    try {
      for (const double step : {h, -h}) {
        leaves[i][k] = before + step;
        numeric += program.loss(leaves) / (2 * step);
      }
    } catch (const Unfit&) {
      numeric = found;  // at the edge of what a step takes
    }
    leaves[i][k] = before;
    if (fails(found, numeric, 1e-4))
      FAIL("gradient of " << i << ", element " << k << ", is " << found << ", not " << numeric
                          << program.text());
  }
}

}  // namespace

TEST_CASE("random programs: values and gradients are those of a plain interpreter") {
  for (uint64_t seed = 0; seed < 100; ++seed) check_program(seed);
}

TEST_CASE("two thousand more random programs" * doctest::test_suite("slow")) {
  for (uint64_t seed = 100; seed < 2100; ++seed) check_program(seed);
}
