#include "tests/autograd/op_cases.h"

#include "heed.h"

namespace heed::test {
namespace {

// ---- plain loops, for operators without a gradient ----

template <class F>
Tensor each(const Inputs& in, DType dtype, F f) {
  const std::vector<double> a = in[0].to_vector<double>(), b = in.back().to_vector<double>();
  std::vector<double> y(a.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(f(a[i], b[i % b.size()]));
  return from_vector(y, in[0].shape(), dtype);
}

// The position of the best element in every row of a matrix, the first of equal ones.
template <class Better>
Tensor best_of_rows(const Tensor& x, Better better) {
  std::vector<int64_t> best;
  for (int64_t r = 0; r < x.size(0); ++r) {
    const std::vector<double> row = x[r].to_vector<double>();
    best.push_back(std::min_element(row.begin(), row.end(), better) - row.begin());
  }
  return from_vector(best, {x.size(0)});
}

const Input scalar{};

}  // namespace

// clang-format off
const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> rows = {
      // elementwise, one operand
      {"abs", [](auto& in) { return abs(in[0]); }, {{2, 3}}},
      {"exp", [](auto& in) { return exp(in[0]); }, {{2, 3}}},
      {"expm1", [](auto& in) { return expm1(in[0]); }, {{2, 3}}},
      {.op = "log", .call = [](auto& in) { return log(in[0]); }, .inputs = {{2, 3}}, .low = 0.3, .high = 3},
      {.op = "log1p", .call = [](auto& in) { return log1p(in[0]); }, .inputs = {{2, 3}}, .low = -0.5, .high = 3},
      {.op = "log2", .call = [](auto& in) { return log2(in[0]); }, .inputs = {{2, 3}}, .low = 0.3, .high = 3},
      {.op = "sqrt", .call = [](auto& in) { return sqrt(in[0]); }, .inputs = {{2, 3}}, .low = 0.3, .high = 3},
      {.op = "rsqrt", .call = [](auto& in) { return rsqrt(in[0]); }, .inputs = {{2, 3}}, .low = 0.5, .high = 3},
      {.op = "reciprocal", .call = [](auto& in) { return reciprocal(in[0]); }, .inputs = {{2, 3}}, .low = 0.5, .high = 3},
      {"square", [](auto& in) { return square(in[0]); }, {{2, 3}}},
      {"neg", [](auto& in) { return -in[0]; }, {{2, 3}}},
      {"sin", [](auto& in) { return sin(in[0]); }, {{2, 3}}},
      {"cos", [](auto& in) { return cos(in[0]); }, {{2, 3}}},
      {"tanh", [](auto& in) { return tanh(in[0]); }, {{2, 3}}},
      {"sigmoid", [](auto& in) { return sigmoid(in[0]); }, {{2, 3}}},
      {"erf", [](auto& in) { return erf(in[0]); }, {{2, 3}}},
      {"sign", [](auto& in) { return sign(in[0]); }, {{2, 3}}},
      {.op = "floor", .call = [](auto& in) { return floor(in[0]); }, .inputs = {{2, 3}}, .low = 0.1, .high = 0.9},
      {.op = "ceil", .call = [](auto& in) { return ceil(in[0]); }, .inputs = {{2, 3}}, .low = 0.1, .high = 0.9},
      {.op = "round", .call = [](auto& in) { return round(in[0]); }, .inputs = {{2, 3}}, .low = 0.6, .high = 1.4},
      {.op = "round", .call = [](auto& in) { return round(in[0], 1); }, .inputs = {integers(0, 9, {2, 3})}, .plain = [](auto& in) { return in[0]; }},
      {"relu", [](auto& in) { return relu(in[0]); }, {{3, 4}}},
      {"silu", [](auto& in) { return silu(in[0]); }, {{2, 3}}},
      {"leaky_relu", [](auto& in) { return leaky_relu(in[0], 0.2); }, {{3, 4}}},
      {"elu", [](auto& in) { return elu(in[0], 1.5); }, {{3, 4}}},
      {"softplus", [](auto& in) { return softplus(in[0]); }, {{2, 3}}},
      {"softplus", [](auto& in) { return softplus(in[0], 2, 0.5); }, {{3, 4}}},
      {"clamp", [](auto& in) { return clamp(in[0], -0.5, 0.5); }, {{3, 4}}},
      {"clamp", [](auto& in) { return clamp(in[0], {}, 0.2); }, {{3, 4}}},
      {.op = "clamp", .call = [](auto& in) { return clamp(in[0], in[1], in[2]); },
       .inputs = {{3, 4}, between(-0.6, -0.1, {3, 4}), between(0.1, 0.6, {3, 4})}, .broadcasts = true, .records = "where"},
      {"gelu", [](auto& in) { return gelu(in[0]); }, {{2, 3}}},
      {"gelu", [](auto& in) { return gelu(in[0], Gelu::tanh); }, {{2, 3}}},
      {.op = "gelu", .call = [](auto& in) { return matmul(gelu(in[0]), in[1]); }, .inputs = {{2, 3}, {3, 2}}, .records = "matmul"},  // recomputed

      // elementwise, two or three operands
      {.op = "add", .call = [](auto& in) { return in[0] + in[1]; }, .inputs = {{2, 3}, {2, 3}}, .broadcasts = true},
      {.op = "add", .call = [](auto& in) { return add(in[0], in[1], -2.5); }, .inputs = {{2, 3}, {2, 3}}, .broadcasts = true},
      {.op = "sub", .call = [](auto& in) { return in[0] - in[1]; }, .inputs = {{2, 3}, {2, 3}}, .broadcasts = true},
      {.op = "sub", .call = [](auto& in) { return sub(2, in[0], 3); }, .inputs = {{2, 3}}},
      {.op = "mul", .call = [](auto& in) { return in[0] * in[1]; }, .inputs = {{2, 3}, {2, 3}}, .broadcasts = true},
      {.op = "mul", .call = [](auto& in) { return in[0] * 2; }, .inputs = {{2, 3}}},
      {.op = "div", .call = [](auto& in) { return in[0] / in[1]; }, .inputs = {{2, 3}, {2, 3}}, .low = 0.5, .high = 2, .broadcasts = true},
      {.op = "div", .call = [](auto& in) { return div(in[0], in[1], Rounding::floor); },
       .inputs = {between(0.1, 0.9, {2, 3}), between(1, 2, {2, 3})}, .broadcasts = true},
      {.op = "div", .call = [](auto& in) { return div(in[0], in[1], Rounding::trunc); },
       .inputs = {between(0.1, 0.9, {2, 3}), between(1, 2, {2, 3})}, .broadcasts = true},
      {.op = "fmod", .call = [](auto& in) { return fmod(in[0], in[1]); },
       .inputs = {between(-3.9, -3.1, {2, 3}), between(0.98, 1, {2, 3})}, .broadcasts = true},
      {.op = "fmod", .call = [](auto& in) { return fmod(in[0], 2); }, .inputs = {between(2.1, 3.9, {2, 3})}},
      {.op = "atan2", .call = [](auto& in) { return atan2(in[0], in[1]); }, .inputs = {between(0.5, 2, {2, 3}), between(-2, 2, {2, 3})}, .broadcasts = true},
      {.op = "pow", .call = [](auto& in) { return pow(in[0], in[1]); }, .inputs = {{2, 3}, {2, 3}}, .low = 0.5, .high = 2, .broadcasts = true},
      {.op = "pow", .call = [](auto& in) { return pow(in[0], 3); }, .inputs = {{2, 3}}},
      {.op = "pow", .call = [](auto& in) { return pow(2, in[0]); }, .inputs = {{2, 3}}},
      {.op = "maximum", .call = [](auto& in) { return maximum(in[0], in[1]); }, .inputs = {{3, 4}, {3, 4}}, .broadcasts = true},
      {.op = "minimum", .call = [](auto& in) { return minimum(in[0], in[1]); }, .inputs = {{3, 4}, {3, 4}}, .broadcasts = true},
      {.op = "where", .call = [](auto& in) { return where(in[0], in[1], in[2]); }, .inputs = {mask({2, 3}), {2, 3}, {2, 3}}, .broadcasts = true},
      {.op = "masked_fill", .call = [](auto& in) { return masked_fill(in[0], in[1], in[2]); }, .inputs = {{2, 3}, mask({2, 3}), scalar}, .records = "where"},
      {.op = "masked_fill", .call = [](auto& in) { return masked_fill(in[0], in[1], -1e9); }, .inputs = {{2, 3}, mask({3})}, .empty = {{0, 3}, mask({3})}, .records = "where"},

      // comparisons and logic: bool, without gradients
      {.op = "eq", .call = [](auto& in) { return in[0] == in[1]; }, .inputs = {integers(0, 3, {3, 4}), integers(0, 3, {3, 4})}, .broadcasts = true,
       .plain = [](auto& in) { return each(in, boolean, [](double a, double b) { return a == b; }); }},
      {.op = "ne", .call = [](auto& in) { return in[0] != in[1]; }, .inputs = {integers(0, 3, {3, 4}), integers(0, 3, {3, 4})}, .broadcasts = true,
       .plain = [](auto& in) { return each(in, boolean, [](double a, double b) { return a != b; }); }},
      {.op = "lt", .call = [](auto& in) { return in[0] < in[1]; }, .inputs = {integers(0, 3, {3, 4}), integers(0, 3, {3, 4})}, .broadcasts = true,
       .plain = [](auto& in) { return each(in, boolean, [](double a, double b) { return a < b; }); }},
      {.op = "le", .call = [](auto& in) { return in[0] <= in[1]; }, .inputs = {integers(0, 3, {3, 4}), integers(0, 3, {3, 4})}, .broadcasts = true,
       .plain = [](auto& in) { return each(in, boolean, [](double a, double b) { return a <= b; }); }},
      {.op = "gt", .call = [](auto& in) { return in[0] > in[1]; }, .inputs = {integers(0, 3, {3, 4}), integers(0, 3, {3, 4})}, .broadcasts = true,
       .plain = [](auto& in) { return each(in, boolean, [](double a, double b) { return a > b; }); }},
      {.op = "ge", .call = [](auto& in) { return in[0] >= in[1]; }, .inputs = {integers(0, 3, {3, 4}), integers(0, 3, {3, 4})}, .broadcasts = true,
       .plain = [](auto& in) { return each(in, boolean, [](double a, double b) { return a >= b; }); }},
      {.op = "eq", .call = [](auto& in) { return in[0] == 1; }, .inputs = {positions(3, {3, 4})},
       .plain = [](auto& in) { return each(in, boolean, [](double a, double) { return a == 1; }); }},
      {.op = "logical_and", .call = [](auto& in) { return logical_and(in[0], in[1]); }, .inputs = {mask({3, 4}), mask({3, 4})}, .broadcasts = true,
       .plain = [](auto& in) { return each(in, boolean, [](double a, double b) { return a != 0 && b != 0; }); }},
      {.op = "logical_or", .call = [](auto& in) { return logical_or(in[0], in[1]); }, .inputs = {mask({3, 4}), mask({3, 4})}, .broadcasts = true,
       .plain = [](auto& in) { return each(in, boolean, [](double a, double b) { return a != 0 || b != 0; }); }},
      {.op = "logical_not", .call = [](auto& in) { return logical_not(in[0]); }, .inputs = {mask({3, 4})},
       .plain = [](auto& in) { return each(in, boolean, [](double a, double) { return a == 0; }); }},
      {.op = "isnan", .call = [](auto& in) { return isnan(sqrt(in[0])); }, .inputs = {integers(-2, 2, {2, 3})}, .records = "sqrt"},
      {.op = "isfinite", .call = [](auto& in) { return isfinite(log(in[0])); }, .inputs = {integers(-2, 3, {3, 4})}, .records = "log"},
      {.op = "isinf", .call = [](auto& in) { return isinf(log(in[0])); }, .inputs = {integers(0, 3, {3, 4})},
       .plain = [](auto& in) { return in[0] == 0; }, .records = "log"},

      // reductions
      {"sum", [](auto& in) { return sum(in[0]); }, {{2, 3}}},
      {"sum", [](auto& in) { return sum(in[0], {0, -1}); }, {{2, 3, 2}}},
      {"sum", [](auto& in) { return sum(in[0], 1, true); }, {{2, 3, 2}}},
      {"mean", [](auto& in) { return mean(in[0]); }, {{2, 3}}},
      {"mean", [](auto& in) { return mean(in[0], {0, 2}, true); }, {{2, 3, 2}}},
      {.op = "amax", .call = [](auto& in) { return amax(in[0]); }, .inputs = {{3, 4}}, .refuses_empty = true},
      {"amax", [](auto& in) { return amax(in[0], 1); }, {{3, 4}}},
      {.op = "amin", .call = [](auto& in) { return amin(in[0]); }, .inputs = {{3, 4}}, .refuses_empty = true},
      {"amin", [](auto& in) { return amin(in[0], {1, 2}, true); }, {{3, 2, 2}}},
      {"logsumexp", [](auto& in) { return logsumexp(in[0], 1); }, {{2, 3}}},
      {"logsumexp", [](auto& in) { return logsumexp(in[0], {0, 1}, true); }, {{2, 3, 2}}},
      {"var", [](auto& in) { return var(in[0]); }, {{2, 3}}},
      {"var", [](auto& in) { return var(in[0], {0, 2}, 0, true); }, {{2, 3, 2}}},
      {.op = "stddev", .call = [](auto& in) { return heed::stddev(in[0]); }, .inputs = {{2, 3}}, .records = "var"},
      {.op = "stddev", .call = [](auto& in) { return heed::stddev(in[0], -1, 0.5); }, .inputs = {{2, 4}}, .records = "var"},
      {.op = "norm", .call = [](auto& in) { return norm(in[0]); }, .inputs = {{2, 3}}, .records = "square"},
      {.op = "norm", .call = [](auto& in) { return norm(in[0], 2, {0, -1}, true); }, .inputs = {{2, 3, 2}}, .records = "square"},
      {.op = "norm", .call = [](auto& in) { return norm(in[0], 1, 1); }, .inputs = {{2, 3}}, .records = "abs"},
      {.op = "norm", .call = [](auto& in) { return norm(in[0], 3, 1); }, .inputs = {{2, 3}}, .records = "abs"},
      {.op = "norm", .call = [](auto& in) { return norm(in[0], 0.5, 0); }, .inputs = {{2, 3}}, .low = 0.3, .high = 2, .records = "abs"},
      {.op = "norm", .call = [](auto& in) { return norm(in[0], -1, -1, true); }, .inputs = {{2, 3}}, .low = 0.3, .high = 2, .records = "abs"},
      {.op = "norm", .call = [](auto& in) { return norm(in[0], INFINITY, 1); }, .inputs = {{3, 4}}, .records = "abs amax"},
      {.op = "norm", .call = [](auto& in) { return norm(in[0], -INFINITY, 1); }, .inputs = {{3, 4}}, .records = "abs amin"},
      {"norm", [](auto& in) { return norm(in[0], 0, 1); }, {{3, 4}}},
      {.op = "prod", .call = [](auto& in) { return prod(in[0]); }, .inputs = {{2, 3}}, .records = "mul"},
      {.op = "prod", .call = [](auto& in) { return prod(in[0], 1, true); }, .inputs = {{2, 3, 2}}, .records = "mul"},
      {.op = "prod", .call = [](auto& in) { return prod(in[0] * in[1], 1); }, .inputs = {{3, 3}, integers(0, 2, {3, 3})}, .records = "mul"},  // zeros
      {.op = "max", .call = [](auto& in) { return max(in[0]); }, .inputs = {{3, 4}}, .refuses_empty = true},
      {"max", [](auto& in) { return max(in[0], 1); }, {{3, 4}}},
      {"max", [](auto& in) { return max(in[0], -2, true); }, {{2, 3, 2}}},
      {.op = "min", .call = [](auto& in) { return min(in[0]); }, .inputs = {{3, 4}}, .refuses_empty = true},
      {"min", [](auto& in) { return min(in[0], 1); }, {{3, 4}}},
      {.op = "argmax", .call = [](auto& in) { return argmax(in[0], 1); }, .inputs = {integers(0, 5, {3, 4})},
       .plain = [](auto& in) { return best_of_rows(in[0], [](double a, double b) { return a > b; }); }},
      {.op = "argmax", .call = [](auto& in) { return argmax(in[0]); }, .inputs = {integers(0, 9, {3, 4})}, .refuses_empty = true,
       .plain = [](auto& in) { return reshape(best_of_rows(reshape(in[0], {1, 12}), [](double a, double b) { return a > b; }), {}); }},
      {.op = "argmin", .call = [](auto& in) { return argmin(in[0], 1, true); }, .inputs = {integers(0, 5, {3, 4})},
       .plain = [](auto& in) { return unsqueeze(best_of_rows(in[0], [](double a, double b) { return a < b; }), 1); }},
      {"cumsum", [](auto& in) { return cumsum(in[0], 1); }, {{2, 3, 2}}},
      {"cumsum", [](auto& in) { return cumsum(in[0], -1); }, {{2, 3}}},
      {.op = "cumprod", .call = [](auto& in) { return cumprod(in[0], 1); }, .inputs = {{2, 5, 2}}, .records = "mul"},
      {.op = "cumprod", .call = [](auto& in) { return cumprod(in[0] * in[1], -1); }, .inputs = {{3, 4}, integers(0, 2, {3, 4})}, .records = "mul"},  // zeros
      {.op = "associative_scan", .call = [](auto& in) { return associative_scan([](auto& a, auto& b) { return logsumexp(stack({a, b}), 0); }, in[0], 1, true); }, .inputs = {{2, 6}}, .records = "logsumexp"},
      {.op = "associative_scan", .call = [](auto& in) {  // h_i = a_i h_{i-1} + b_i
         return associative_scan([](auto& l, auto& r) { return std::vector<Tensor>{l[0] * r[0], r[0] * l[1] + r[1]}; }, {in[0], in[1]}, 0);
       }, .inputs = {{5, 2}, {5, 2}}, .records = "mul"},
      {.op = "any", .call = [](auto& in) { return any(in[0]); }, .inputs = {mask({3, 4})},
       .plain = [](auto& in) { bool y = false; in[0].for_each([&](auto x) { y = y || x != 0; }); return full({}, y, boolean); }},
      {.op = "any", .call = [](auto& in) { return any(in[0], 1); }, .inputs = {mask({3, 2})},
       .plain = [](auto& in) { return logical_or(in[0][{whole, 0}], in[0][{whole, 1}]); }},
      {.op = "all", .call = [](auto& in) { return all(in[0]); }, .inputs = {mask({3, 4})},
       .plain = [](auto& in) { bool y = true; in[0].for_each([&](auto x) { y = y && x != 0; }); return full({}, y, boolean); }},
      {.op = "all", .call = [](auto& in) { return all(in[0], 1, true); }, .inputs = {mask({3, 2})},
       .plain = [](auto& in) { return unsqueeze(logical_and(in[0][{whole, 0}], in[0][{whole, 1}]), 1); }},
      {"sum_to", [](auto& in) { return sum_to(in[0], {3, 1}); }, {{2, 3, 2}}},

      // products
      {"matmul", [](auto& in) { return matmul(in[0], in[1]); }, {{2, 3}, {3, 4}}},
      {"matmul", [](auto& in) { return matmul(in[0], in[1]); }, {{2, 2, 3}, {2, 3, 2}}},
      {.op = "matmul", .call = [](auto& in) { return matmul(in[0], in[1]); }, .inputs = {{2, 1, 2, 3}, {2, 3, 2}}, .empty = {{0, 1, 2, 3}, {2, 3, 2}}},
      {.op = "matmul", .call = [](auto& in) { return matmul(in[0], in[1]); }, .inputs = {{3}, {3, 2}}},
      {.op = "matmul", .call = [](auto& in) { return matmul(in[0], in[1]); }, .inputs = {{2, 3}, {3}}},
      {.op = "matmul", .call = [](auto& in) { return matmul(in[0], in[1]); }, .inputs = {{3}, {3}}},
      {.op = "matmul", .call = [](auto& in) { return matmul(in[0], in[1]); }, .inputs = {{2, 2, 3}, {3, 2}}, .empty = {{2, 2, 0}, {0, 2}}},
      {.op = "matmul", .call = [](auto& in) { return matmul(in[0], in[1]); }, .inputs = {{2, 2, 3}, {3}}, .empty = {{0, 2, 3}, {3}}},
      {.op = "matmul", .call = [](auto& in) { return matmul(in[0], in[1]); }, .inputs = {{3}, {2, 3, 2}}, .empty = {{3}, {0, 3, 2}}},
      {.op = "matmul", .call = [](auto& in) { return matmul(in[0], in[1]); }, .inputs = {{2, 3}, {2, 3, 2}}, .empty = {{2, 3}, {0, 3, 2}}},
      {"mm", [](auto& in) { return mm(in[0], in[1]); }, {{2, 3}, {3, 4}}},
      {"bmm", [](auto& in) { return bmm(in[0], in[1]); }, {{2, 3, 2}, {2, 2, 3}}},
      {.op = "mv", .call = [](auto& in) { return mv(in[0], in[1]); }, .inputs = {{2, 3}, {3}}, .records = "matmul"},
      {.op = "dot", .call = [](auto& in) { return dot(in[0], in[1]); }, .inputs = {{3}, {3}}, .records = "matmul"},
      {.op = "outer", .call = [](auto& in) { return outer(in[0], in[1]); }, .inputs = {{2}, {3}}, .records = "mul"},
      {"addmm", [](auto& in) { return addmm(in[0], in[1], in[2], 0.5, 2); }, {{2, 4}, {2, 3}, {3, 4}}},
      {.op = "addmm", .call = [](auto& in) { return addmm(in[0], in[1], in[2]); }, .inputs = {{4}, {2, 3}, {3, 4}}, .empty = {{4}, {0, 3}, {3, 4}}},
      {.op = "addmm", .call = [](auto& in) { return addmm(in[0], in[1], in[2], 0.3, -2); }, .inputs = {{2, 1}, {2, 3}, {3, 4}}, .empty = {{0, 1}, {0, 3}, {3, 4}}},
      {.op = "einsum", .call = [](auto& in) { return einsum("bhqd,bhkd->bhqk", {in[0], in[1]}); }, .inputs = {{2, 2, 2, 3}, {2, 2, 3, 3}}, .records = "matmul"},
      {.op = "einsum", .call = [](auto& in) { return einsum("i,j", {in[0], in[1]}); }, .inputs = {{2}, {3}}, .records = "matmul mul"},
      {.op = "einsum", .call = [](auto& in) { return einsum("ij->j", {in[0]}); }, .inputs = {{2, 3}}, .records = "matmul"},
      {.op = "einsum", .call = [](auto& in) { return einsum("...i,ij->...j", {in[0], in[1]}); }, .inputs = {{2, 2, 3}, {3, 2}}, .empty = {{0, 2, 3}, {3, 2}}, .records = "matmul"},
      {.op = "einsum", .call = [](auto& in) { return einsum("ij,jk,kl->il", {in[0], in[1], in[2]}); }, .inputs = {{2, 3}, {3, 2}, {2, 2}}, .empty = {{0, 3}, {3, 2}, {2, 2}}, .records = "matmul"},
      {.op = "einsum", .call = [](auto& in) { return einsum("ii->i", {in[0]}); }, .inputs = {{3, 3}}, .empty = {{0, 0}}},
      {.op = "einsum", .call = [](auto& in) { return einsum("iji,j", {in[0], in[1]}); }, .inputs = {{2, 3, 2}, {3}}, .empty = {{0, 3, 0}, {3}}, .records = "matmul mul"},
      {.op = "einsum", .call = [](auto& in) { return einsum("i,j,k->kij", {in[0], in[1], in[2]}); }, .inputs = {{2}, {3}, {2}}, .records = "matmul mul"},
      {.op = "einsum", .call = [](auto& in) { return einsum("ij,ik,il->jkl", {in[0], in[1], in[2]}); }, .inputs = {{2, 2}, {2, 3}, {2, 2}}, .records = "matmul mul"},
      {.op = "einsum", .call = [](auto& in) { return einsum("ij,jk->ik", {in[0], in[1]}); }, .inputs = {{2, 1}, {3, 2}}, .records = "matmul mul sum"},
      {.op = "linear", .call = [](auto& in) { return linear(in[0], in[1], in[2]); }, .inputs = {{2, 3}, {4, 3}, {4}}},
      {.op = "linear", .call = [](auto& in) { return linear(in[0], in[1], in[2]); }, .inputs = {{2, 2, 3}, {4, 3}, {4}}},
      {.op = "linear", .call = [](auto& in) { return linear(in[0], in[1]); }, .inputs = {{3}, {2, 3}}, .empty = {{3}, {0, 3}}},

      // shape
      {"alias", [](auto& in) { return alias(in[0]); }, {{2, 3}}},
      {"clone", [](auto& in) { return clone(in[0]); }, {{2, 3}}},
      {"contiguous", [](auto& in) { return contiguous(in[0]); }, {{2, 3}}},
      {.op = "contiguous", .call = [](auto& in) { return contiguous(transpose(in[0])); }, .inputs = {{2, 3}}, .records = "transpose"},
      {"to", [](auto& in) { return to(in[0], float64); }, {{2, 3}}},
      {"transpose", [](auto& in) { return transpose(in[0]); }, {{2, 3}}},
      {"transpose", [](auto& in) { return transpose(in[0], 0, -1); }, {{2, 3, 2}}},
      {"t", [](auto& in) { return t(in[0]); }, {{2, 3}}},
      {"permute", [](auto& in) { return permute(in[0], {2, 0, 1}); }, {{2, 3, 2}}},
      {.op = "reshape", .call = [](auto& in) { return reshape(in[0], {3, -1}); }, .inputs = {{2, 3}}},
      {.op = "reshape", .call = [](auto& in) { return reshape(transpose(in[0]), {6}); }, .inputs = {{2, 3}}, .refuses_empty = true, .records = "transpose"},
      {.op = "view", .call = [](auto& in) { return view(in[0], {3, 2}); }, .inputs = {{2, 3}}, .refuses_empty = true, .refuses_strides = true},
      {.op = "expand", .call = [](auto& in) { return expand(in[0], {2, 3, -1}); }, .inputs = {{3, 1}}, .empty = {{3, 0}}},
      {.op = "broadcast_to", .call = [](auto& in) { return broadcast_to(in[0], {2, 3, 2}); }, .inputs = {{3, 1}}, .refuses_empty = true},
      {"squeeze", [](auto& in) { return squeeze(in[0]); }, {{2, 1, 3, 1}}},
      {"squeeze", [](auto& in) { return squeeze(in[0], {1, 2}); }, {{2, 1, 3, 1}}},
      {"unsqueeze", [](auto& in) { return unsqueeze(in[0], -1); }, {{2, 3}}},
      {"flatten", [](auto& in) { return flatten(in[0]); }, {{2, 3, 2}}},
      {"flatten", [](auto& in) { return flatten(in[0], 1); }, {{2, 3, 2}}},
      {"narrow", [](auto& in) { return narrow(in[0], 1, 1, 2); }, {{2, 4}}},
      {"select", [](auto& in) { return select(in[0], 1, -1); }, {{2, 3}}},
      {"slice", [](auto& in) { return heed::slice(in[0], 1, 1, 5, 2); }, {{2, 6}}},
      {"split", [](auto& in) { return split(in[0], 2, 1); }, {{2, 5}}},
      {"split", [](auto& in) { return split(in[0], {1, 3}, 1); }, {{2, 4}}},
      {"chunk", [](auto& in) { return chunk(in[0], 3, 1); }, {{2, 5}}},
      {"cat", [](auto& in) { return cat({in[0], in[1]}, 1); }, {{2, 3}, {2, 2}}},
      {.op = "cat", .call = [](auto& in) { return cat({in[0], in[1], in[0]}); }, .inputs = {{2, 3}, {1, 3}}, .empty = {{0, 3}, {0, 3}}},
      {"stack", [](auto& in) { return stack({in[0], in[1]}, 1); }, {{2, 3}, {2, 3}}},
      {"flip", [](auto& in) { return flip(in[0], {0, 1}); }, {{2, 3}}},
      {"roll", [](auto& in) { return roll(in[0], 4); }, {{2, 3}}},
      {"roll", [](auto& in) { return roll(in[0], {-1, 5}, {0, -1}); }, {{2, 3, 2}}},
      {.op = "meshgrid", .call = [](auto& in) { return meshgrid({in[0], in[1], in[0]}); }, .inputs = {{2}, {3}}, .records = "expand"},
      {.op = "meshgrid", .call = [](auto& in) { return meshgrid({in[0], in[1]}, GridIndexing::xy); }, .inputs = {{2}, {3}}, .records = "expand"},
      {"repeat", [](auto& in) { return repeat(in[0], {2, 1, 3}); }, {{2, 3}}},
      {"repeat", [](auto& in) { return repeat(in[0], {1, 2, 1, 2, 1, 1, 1, 2}); }, {{2, 1, 1, 1, 3}}},
      {.op = "tril", .call = [](auto& in) { return tril(in[0]); }, .inputs = {{3, 3}}, .records = "where"},
      {"tril", [](auto& in) { return tril(in[0], 1); }, {{2, 2, 3}}},
      {"triu", [](auto& in) { return triu(in[0], -1); }, {{3, 3}}},
      {"pad", [](auto& in) { return pad(in[0], {1, 2}); }, {{2, 3}}},
      {"pad", [](auto& in) { return pad(in[0], {-1, 1, 1, 0}, 2.5); }, {{2, 3}}},
      {"pad", [](auto& in) { return pad(in[0], {0, 1, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}); }, {{2, 1, 1, 1, 1, 1, 2, 1}}},

      // indexing
      {"gather", [](auto& in) { return gather(in[0], 1, in[1]); }, {{2, 3}, positions(3, {2, 4})}},
      {.op = "index_select", .call = [](auto& in) { return index_select(in[0], 1, in[1]); }, .inputs = {{2, 3}, positions(3, {5})}},
      {.op = "index_select", .call = [](auto& in) { return index_select(in[0], 0, in[1]); }, .inputs = {{2, 3}, positions(2, {3})}, .empty = {{2, 3}, positions(2, {0})}},
      {"scatter_add", [](auto& in) { return scatter_add(in[0], 1, in[1], in[2]); }, {{2, 3}, positions(3, {2, 4}), {2, 4}}},
      {.op = "scatter", .call = [](auto& in) { return scatter(in[0], 1, in[1], in[2]); }, .inputs = {{2, 3}, positions(3, {2, 4}), {2, 4}}, .records = "where index_select"},
      {.op = "scatter", .call = [](auto& in) { return scatter(in[0], 0, in[1], 2.5); }, .inputs = {{4, 3}, positions(4, {2, 3})}, .empty = {{4, 0}, positions(4, {2, 0})}, .records = "where index_select"},
      {.op = "index_add", .call = [](auto& in) { return index_add(in[0], 1, in[1], in[2]); }, .inputs = {{2, 3}, positions(3, {5}), {2, 5}}},
      {.op = "index_add", .call = [](auto& in) { return index_add(in[0], 0, in[1], in[2], -2); }, .inputs = {{3, 2}, positions(3, {4}), {4, 2}}, .empty = {{3, 0}, positions(3, {4}), {4, 0}}},
      {.op = "masked_select", .call = [](auto& in) { return masked_select(in[0], in[1]); }, .inputs = {{2, 3}, mask({3})}, .empty = {{0, 3}, mask({3})}, .records = "index_select"},
      {.op = "masked_select", .call = [](auto& in) { return masked_select(in[0], in[1]); }, .inputs = {{3}, mask({2, 3})}, .empty = {{0}, mask({2, 0})}, .records = "index_select"},
      {.op = "nonzero", .call = [](auto& in) { return nonzero(in[0]); }, .inputs = {integers(0, 2, {3, 4})},
       .plain = [](auto& in) {
         std::vector<int64_t> places;
         for (int64_t i = 0; i < 12; ++i) if (in[0][{i / 4, i % 4}].item() != 0) places.insert(places.end(), {i / 4, i % 4});
         return from_vector(places, {std::ssize(places) / 2, 2});
       }},
      {.op = "repeat_interleave", .call = [](auto& in) { return repeat_interleave(in[0], 2); }, .inputs = {{2, 3}}, .records = "index_select"},
      {.op = "repeat_interleave", .call = [](auto& in) { return repeat_interleave(in[0], in[1], 1); }, .inputs = {{2, 3}, positions(4, {3})}, .records = "index_select"},
      {.op = "diag", .call = [](auto& in) { return diag(in[0], -1); }, .inputs = {{3, 4}}, .records = "index_select"},
      {.op = "diag", .call = [](auto& in) { return diag(in[0], 1); }, .inputs = {{3}}, .records = "where pad"},
      {"index", [](auto& in) { return in[0][{whole, 1}]; }, {{2, 3}}},
      {"index", [](auto& in) { return in[0][{ellipsis, new_axis, Slice(1, {}, 2)}]; }, {{2, 5}}},
      {.op = "index", .call = [](auto& in) { return in[0][in[1]]; }, .inputs = {{3, 2}, positions(3, {2, 2})}, .empty = {{3, 2}, positions(3, {0, 2})}},
      {.op = "index", .call = [](auto& in) { return in[0][{in[1], in[2]}]; }, .inputs = {{3, 2}, positions(3, {4}), positions(2, {4})},
       .empty = {{3, 2}, positions(3, {0}), positions(2, {0})}},
      {.op = "index", .call = [](auto& in) { return in[0][{whole, in[1]}]; }, .inputs = {{2, 4}, mask({4})}},
      {.op = "embedding", .call = [](auto& in) { return embedding(in[0], in[1]); }, .inputs = {{4, 3}, positions(4, {2, 3})}, .empty = {{4, 3}, positions(4, {0, 3})}},
      {.op = "one_hot", .call = [](auto& in) { return one_hot(in[0], 4); }, .inputs = {positions(4, {2, 3})}},
      {.op = "topk", .call = [](auto& in) { return topk(in[0], 2); }, .inputs = {{3, 4}}, .records = "gather"},
      {.op = "topk", .call = [](auto& in) { return topk(in[0], 2, 1, false); }, .inputs = {{2, 3, 2}}, .records = "gather"},
      {.op = "sort", .call = [](auto& in) { return sort(in[0], 1); }, .inputs = {{2, 4}}, .records = "gather"},
      {.op = "sort", .call = [](auto& in) { return sort(in[0], 0, true); }, .inputs = {{4, 2}}, .records = "gather"},
      {.op = "argsort", .call = [](auto& in) { return argsort(in[0], 1, true); }, .inputs = {integers(0, 3, {3, 5})}},
      {.op = "argsort", .call = [](auto& in) { return argsort(in[0]); }, .inputs = {integers(0, 3, {3, 5})}},

      // softmax and normalization
      {"softmax", [](auto& in) { return softmax(in[0], -1); }, {{2, 3}}},
      {"softmax", [](auto& in) { return softmax(in[0], 1); }, {{2, 3, 2}}},
      {"log_softmax", [](auto& in) { return log_softmax(in[0], -1); }, {{2, 3}}},
      {"log_softmax", [](auto& in) { return log_softmax(in[0], 0); }, {{3, 2}}},
      {.op = "masked_softmax", .call = [](auto& in) { return masked_softmax(in[0], in[1]); }, .inputs = {{4, 3}, mask({4, 3})},
       .broadcasts = true, .plain = [](auto& in) {
         const Tensor e = where(in[1], exp(in[0]), 0), total = sum(e, -1, true);
         return e / where(total > 0, total, 1);
       }},
      {.op = "masked_softmax", .call = [](auto& in) { return masked_softmax(in[0], in[1], 0); }, .inputs = {{4, 3}, mask({4, 3})}},
      {.op = "masked_softmax", .call = [](auto& in) { return masked_softmax(in[0]); }, .inputs = {{2, 3}}, .plain = [](auto& in) { return softmax(in[0], -1); }},
      {.op = "sparsemax", .call = [](auto& in) { return sparsemax(in[0]); }, .inputs = {{4, 5}}},
      {.op = "sparsemax", .call = [](auto& in) { return sparsemax(in[0], in[1], 0); }, .inputs = {{5, 2}, mask({5, 2})}},
      {.op = "entmax", .call = [](auto& in) { return entmax(in[0]); }, .inputs = {{4, 5}}},
      {.op = "entmax", .call = [](auto& in) { return entmax(in[0], 1.5, in[1], 0); }, .inputs = {{5, 2}, mask({5, 2})}},
      {.op = "entmax", .call = [](auto& in) { return entmax(in[0], 1.3); }, .inputs = {{3, 4}}},
      {.op = "layer_norm", .call = [](auto& in) { return layer_norm(in[0], {3}, in[1], in[2]); }, .inputs = {{2, 3}, {3}, {3}}, .empty = {{0, 3}, {3}, {3}}},
      {.op = "layer_norm", .call = [](auto& in) { return layer_norm(in[0], {2, 3}, in[1], in[2], 0.1); }, .inputs = {{4, 2, 3}, {2, 3}, {2, 3}}},
      {"layer_norm", [](auto& in) { return layer_norm(in[0], {3}); }, {{2, 3}}},
      {.op = "layer_norm", .call = [](auto& in) { return layer_norm(in[0], {4}, in[1]); }, .inputs = {{2, 4}, {4}}},
      {.op = "layer_norm", .call = [](auto& in) { return layer_norm(in[0], {4}, {}, in[1]); }, .inputs = {{2, 4}, {4}}},
      {.op = "layer_norm", .call = [](auto& in) { return matmul(layer_norm(in[0], {3}), in[1]); }, .inputs = {{2, 3}, {3, 2}}, .records = "matmul"},
      {.op = "rms_norm", .call = [](auto& in) { return rms_norm(in[0], {3}, in[1]); }, .inputs = {{2, 3}, {3}}},
      {"rms_norm", [](auto& in) { return rms_norm(in[0], {2, 3}); }, {{2, 2, 3}}},

      // convolutions, pooling and norms of channels
      {.op = "conv1d", .call = [](auto& in) { return conv1d(in[0], in[1], in[2], {.stride = 2, .padding = 1}); }, .inputs = {{2, 2, 5}, {3, 2, 3}, {3}}, .records = "conv_transpose2d conv2d_weight"},
      {.op = "conv1d", .call = [](auto& in) { return conv1d(in[0], in[1], {}, {.padding = "same", .dilation = 2, .groups = 2}); }, .inputs = {{2, 4}, {4, 1, 2}}, .empty = {{2, 4}, {0, 1, 2}}, .records = "conv_transpose2d conv2d_weight"},
      {.op = "conv2d", .call = [](auto& in) { return conv2d(in[0], in[1], in[2]); }, .inputs = {{2, 2, 3, 4}, {3, 2, 2, 2}, {3}}, .records = "conv_transpose2d conv2d_weight"},
      {.op = "conv2d", .call = [](auto& in) { return conv2d(in[0], in[1], in[2], {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2}); },
       .inputs = {{2, 4, 4, 2}, {6, 2, 3, 2}, {6}}, .records = "conv_transpose2d conv2d_weight"},
      {.op = "conv2d", .call = [](auto& in) { return conv2d(in[0], in[1]); }, .inputs = {{3, 2, 2}, {4, 3, 1, 1}}, .empty = {{3, 2, 2}, {0, 3, 1, 1}}, .records = "conv_transpose2d conv2d_weight"},
      {.op = "conv_transpose1d", .call = [](auto& in) { return conv_transpose1d(in[0], in[1], in[2], {.stride = 2, .padding = 1, .output_padding = 1}); },
       .inputs = {{2, 3, 4}, {3, 2, 3}, {2}}, .empty = {{0, 3, 4}, {3, 2, 3}, {2}}, .records = "conv2d conv2d_weight"},
      {.op = "conv_transpose2d", .call = [](auto& in) { return conv_transpose2d(in[0], in[1], in[2]); }, .inputs = {{2, 3, 2, 3}, {3, 4, 2, 2}, {4}}, .records = "conv2d conv2d_weight"},
      {.op = "conv_transpose2d", .call = [](auto& in) { return conv_transpose2d(in[0], in[1], in[2], {.stride = {2, 3}, .padding = 1, .dilation = 2, .groups = 2, .output_padding = {1, 0}}); },
       .inputs = {{2, 4, 2, 2}, {4, 1, 2, 2}, {2}}, .empty = {{0, 4, 2, 2}, {4, 1, 2, 2}, {2}}, .records = "conv2d conv2d_weight"},
      {"unfold", [](auto& in) { return unfold(in[0], {2, 3}, {.stride = {1, 2}, .padding = 1, .dilation = 2}); }, {{2, 2, 3, 5}}},
      {.op = "unfold", .call = [](auto& in) { return unfold(in[0], 2); }, .inputs = {{2, 3, 3}}},
      {"fold", [](auto& in) { return fold(in[0], {3, 4}, 2, {.stride = 2, .padding = 1}); }, {{2, 8, 6}}},
      {.op = "max_pool1d", .call = [](auto& in) { return max_pool1d(in[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true}); }, .inputs = {{2, 2, 6}}, .records = "max"},
      {.op = "max_pool2d", .call = [](auto& in) { return max_pool2d(in[0], 2); }, .inputs = {{2, 2, 4, 4}}, .records = "max"},
      {.op = "max_pool2d", .call = [](auto& in) { return max_pool2d(in[0], {3, 2}, {.stride = 1, .padding = {1, 0}, .dilation = {1, 2}}); }, .inputs = {{2, 4, 5}}, .records = "max"},
      {.op = "avg_pool1d", .call = [](auto& in) { return avg_pool1d(in[0], 2, {.padding = 1}); }, .inputs = {{2, 2, 6}}, .records = "div"},
      {.op = "avg_pool2d", .call = [](auto& in) { return avg_pool2d(in[0], {3, 2}, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false}); }, .inputs = {{2, 2, 4, 5}}, .records = "div"},
      {.op = "avg_pool2d", .call = [](auto& in) { return avg_pool2d(in[0], 2, {.divisor_override = 3}); }, .inputs = {{2, 4, 4}}, .records = "div"},
      {.op = "batch_norm", .call = [](auto& in) { return batch_norm(in[0], {}, {}, in[1], in[2], true, 0.1, 0.1); }, .inputs = {{2, 3, 2, 2}, {3}, {3}}},
      {.op = "batch_norm", .call = [](auto& in) { return batch_norm(in[0], {}, {}, {}, {}, true, 0.1, 0.1); }, .inputs = {{4, 3}}},
      {.op = "batch_norm", .call = [](auto& in) { return batch_norm(in[0], in[3], in[4], in[1], in[2]); }, .inputs = {{2, 3, 9}, {3}, {3}, constant(-1, 1, {3}), constant(0.5, 2, {3})}, .records = "mul sub rsqrt"},
      {.op = "group_norm", .call = [](auto& in) { return group_norm(in[0], 2, in[1], in[2], 0.1); }, .inputs = {{2, 4, 3}, {4}, {4}}, .records = "layer_norm mul"},

      // recurrence; some inputs have equal shapes, so that one tensor can be passed several times
      {.op = "recurrence", .call = [](auto& in) { return recurrence(Recurrence::rnn_tanh, in[0], in[1], in[2], in[3]); }, .inputs = {{3, 2, 2}, {2, 2}, {2, 2}, {2}}, .empty = {{3, 0, 2}, {0, 2}, {2, 2}, {2}}},
      {.op = "recurrence", .call = [](auto& in) { return recurrence(Recurrence::rnn_relu, in[0], in[1], in[2], in[3], {.lengths = in[4], .reverse = true}); }, .inputs = {{3, 2, 2}, {2, 2}, {2, 2}, {2}, positions(4, {2})}, .low = 0.1, .empty = {{3, 0, 2}, {0, 2}, {2, 2}, {2}, positions(4, {0})}},
      {.op = "recurrence", .call = [](auto& in) { return recurrence(Recurrence::gru, in[0], in[1], in[2], in[3], {.reverse = true}); }, .inputs = {{3, 2, 6}, {2, 2}, {6, 2}, {6}}, .empty = {{3, 0, 6}, {0, 2}, {6, 2}, {6}}},
      {.op = "recurrence", .call = [](auto& in) { return recurrence(Recurrence::gru, in[0], {}, in[1], {}, {.lengths = in[2]}); }, .inputs = {{3, 4, 6}, {6, 2}, positions(4, {4})}, .empty = {{3, 0, 6}, {6, 2}, positions(4, {0})}},
      {.op = "recurrence", .call = [](auto& in) { return recurrence(Recurrence::lstm, in[0], in[1], in[2], in[3], {.lengths = in[4]}); }, .inputs = {{2, 3, 8}, {3, 4}, {8, 2}, {8}, positions(3, {3})}, .empty = {{2, 0, 8}, {0, 4}, {8, 2}, {8}, positions(3, {0})}},
      {.op = "recurrence", .call = [](auto& in) { return recurrence(Recurrence::lstm, in[0], {}, in[1], in[2], {.reverse = true}); }, .inputs = {{2, 3, 4}, {4, 1}, {4}}, .empty = {{2, 0, 4}, {4, 1}, {4}}},
      {.op = "recurrence", .call = [](auto& in) { return recurrence(Recurrence::lstm, in[0], in[1], in[2], in[3], {.projection = in[4]}); }, .inputs = {{2, 3, 8}, {3, 3}, {8, 1}, {8}, {1, 2}}, .empty = {{2, 0, 8}, {0, 3}, {8, 1}, {8}, {1, 2}}, .records = "linear mul"},

      {.op = "linear_recurrence", .call = [](auto& in) { return linear_recurrence(in[0], in[1], in[2]); }, .inputs = {{2, 3, 2, 2}, {2, 3, 2, 3}, {2, 2, 3}}, .records = "matmul"},
      {.op = "linear_recurrence", .call = [](auto& in) { return linear_recurrence(in[0], in[1], in[2]); }, .inputs = {{2, 3, 2, 1}, {2, 3, 2, 2}, {2, 2, 2}}, .records = "mul"},
      {.op = "linear_recurrence", .call = [](auto& in) { return linear_recurrence(in[0], in[1]); }, .inputs = {{1, 3, 1, 1}, {2, 3, 2, 2}}, .empty = {{1, 3, 1, 1}, {0, 3, 2, 2}}, .records = "mul"},
      {.op = "unit_lower_inverse", .call = [](auto& in) { return unit_lower_inverse(in[0]); }, .inputs = {{2, 4, 4}}, .records = "matmul where"},

      // nn/functional: losses, dropout, attention
      {"mse_loss", [](auto& in) { return F::mse_loss(in[0], in[1]); }, {{2, 3}, {2, 3}}},
      {"mse_loss", [](auto& in) { return F::mse_loss(in[0], in[1], Reduction::none); }, {{2, 3}, {2, 3}}},
      {"l1_loss", [](auto& in) { return F::l1_loss(in[0], in[1]); }, {{2, 3}, between(2, 3, {2, 3})}},
      {"smooth_l1_loss", [](auto& in) { return F::smooth_l1_loss(in[0], in[1]); }, {{3, 4}, {3, 4}}},
      {"smooth_l1_loss", [](auto& in) { return F::smooth_l1_loss(in[0], in[1], Reduction::sum, 0); }, {{2, 3}, between(2, 3, {2, 3})}},
      {"huber_loss", [](auto& in) { return F::huber_loss(in[0], in[1], Reduction::sum, 0.7); }, {{3, 4}, {3, 4}}},
      {.op = "kl_div", .call = [](auto& in) { return F::kl_div(in[0], in[1]); }, .inputs = {{2, 3}, {2, 3}}, .low = 0.1, .high = 1, .records = "mul"},
      {"kl_div", [](auto& in) { return F::kl_div(in[0], in[1], {.reduction = Reduction::batchmean, .log_target = true}); }, {{2, 3}, {2, 3}}},
      {.op = "binary_cross_entropy", .call = [](auto& in) { return F::binary_cross_entropy(in[0], in[1]); }, .inputs = {{2, 3}, {2, 3}}, .low = 0.1, .high = 0.9, .records = "mul log"},
      {.op = "binary_cross_entropy_with_logits",
       .call = [](auto& in) { return F::binary_cross_entropy_with_logits(in[0], in[1], {.weight = in[2], .pos_weight = in[3]}); },
       .inputs = {{2, 3}, between(0.1, 0.9, {2, 3}), constant(0.5, 2, {3}), constant(0.5, 2, {3})}, .empty = {{0, 3}, {0, 3}, {3}, {3}}, .records = "mul"},
      {.op = "binary_cross_entropy_with_logits", .call = [](auto& in) { return F::binary_cross_entropy_with_logits(in[0], in[1]); }, .inputs = {{2, 3}, {2, 3}},
       .records = "mul"},
      {.op = "entmax_loss", .call = [](auto& in) { return F::entmax_loss(in[0], in[1]); }, .inputs = {{3, 4}, positions(4, {3})}},
      {.op = "entmax_loss", .call = [](auto& in) { return F::entmax_loss(in[0], in[1], 2, Reduction::none); }, .inputs = {{3, 4}, positions(4, {3})}},
      {.op = "nll_loss", .call = [](auto& in) { return F::nll_loss(in[0], in[1], {.weight = in[2], .ignore_index = 2}); },
       .inputs = {{5, 3}, positions(3, {5}), constant(0.5, 2, {3})}},
      {"nll_loss", [](auto& in) { return F::nll_loss(in[0], in[1], {.reduction = Reduction::sum}); }, {{2, 3, 2}, positions(3, {2, 2})}},
      {.op = "softmax_cross_entropy", .call = [](auto& in) { return softmax_cross_entropy(in[0], in[1], {.reduction = Reduction::none}); },
       .inputs = {{4, 3}, positions(3, {4})}, .records = "cross_entropy"},
      {.op = "softmax_cross_entropy",
       .call = [](auto& in) {
         return softmax_cross_entropy(in[0], in[1], {.weight = {}, .ignore_index = 1, .reduction = Reduction::none, .label_smoothing = 0.2});
       },
       .inputs = {{2, 3, 4}, positions(4, {2, 3})}, .records = "cross_entropy"},
      {"cross_entropy", [](auto& in) { return F::cross_entropy(in[0], in[1]); }, {{4, 3}, positions(3, {4})}},
      {.op = "cross_entropy",
       .call = [](auto& in) { return F::cross_entropy(in[0], in[1], {.weight = in[2], .ignore_index = 2, .label_smoothing = 0.2}); },
       .inputs = {{5, 3}, positions(3, {5}), constant(0.5, 2, {3})}},
      {"cross_entropy", [](auto& in) { return F::cross_entropy(in[0], in[1], {.reduction = Reduction::none}); }, {{2, 3, 2}, positions(3, {2, 2})}},
      {"cross_entropy", [](auto& in) { return F::cross_entropy(in[0], in[1], {.class_dim = -1}); }, {{2, 2, 3}, positions(3, {2, 2})}},
      {"cross_entropy", [](auto& in) { return F::cross_entropy(in[0], in[1], {.label_smoothing = 0.1}); }, {{4, 3}, constant(0.1, 0.9, {4, 3})}},
      {"dropout", [](auto& in) { Generator generator(3); return F::dropout(in[0], 0.4, true, &generator); }, {{3, 4}}},
      {.op = "bernoulli", .call = [](auto& in) { Generator generator(3); return bernoulli(in[0], &generator); }, .inputs = {{3, 4}}, .low = 0.1, .high = 0.9},
      {.op = "multinomial", .call = [](auto& in) { Generator generator(3); return multinomial(in[0], 5, true, &generator); }, .inputs = {constant(0.1, 1, {3, 4})}},
      {.op = "multinomial", .call = [](auto& in) { Generator generator(3); return multinomial(in[0], 3, false, &generator); }, .inputs = {constant(0.1, 1, {3, 4})}},
      {.op = "attention_weights", .call = [](auto& in) { return attention_weights(in[0], in[1], {.mask = in[2], .bias = in[3]}); },
       .inputs = {{2, 3, 2}, {2, 4, 2}, mask({3, 4}), {3, 4}}, .records = "matmul masked_softmax"},
      {.op = "blocked_attention", .call = [](auto& in) { return blocked_attention(in[0], in[1], in[2]); }, .inputs = {{2, 3, 2}, {2, 3, 2}, {2, 3, 2}},
       .records = "matmul"},
      {.op = "blocked_attention",
       .call = [](auto& in) { return blocked_attention(in[0], in[1], in[2], {.mask = in[3], .bias = in[4], .is_causal = true, .scale = 0.3}); },
       .inputs = {{2, 3, 2}, {4, 2}, {2, 4, 3}, mask({3, 4}), constant(-1, 1, {2, 1, 4})}, .records = "matmul"},
      {.op = "blocked_attention", .call = [](auto& in) { manual_seed(3); return blocked_attention(in[0], in[1], in[2], {.dropout_p = 0.4}); },
       .inputs = {{2, 3, 2}, {2, 3, 2}, {2, 3, 2}}, .records = "mul"},
      {.op = "attention_weights",
       .call = [](auto& in) { return attention_weights(in[0], in[1], {.is_causal = true, .past = 1, .window = 2, .sinks = 1, .soft_cap = 0.7, .position_bias = in[2], .sink_logit = in[3]}); },
       .inputs = {{2, 3, 2}, {2, 4, 2}, {2, 6}, {2}}, .records = "matmul masked_softmax add relative_shift flatten mul tanh div expand cat narrow view reshape"},
      {.op = "blocked_attention",
       .call = [](auto& in) { return blocked_attention(in[0], in[1], in[2], {.mask = in[3], .soft_cap = 0.7, .position_bias = in[4], .sink_logit = in[5]}); },
       .inputs = {{2, 3, 2}, {2, 4, 2}, {2, 4, 3}, mask({3, 4}), {2, 6}, {2}}, .records = "matmul add cat expand view"},
      {.op = "blocked_attention",
       .call = [](auto& in) { manual_seed(3); return blocked_attention(in[0], in[1], in[2], {.past = 1, .dropout_p = 0.3, .window = 2, .sinks = 1, .position_bias = in[3], .sink_logit = in[4]}); },
       .inputs = {{2, 3, 2}, {4, 2}, {2, 4, 3}, {6}, {2}}, .empty = {{0, 3, 2}, {4, 2}, {0, 4, 3}, {6}, {1}}, .records = "matmul mul add cat expand view"},
      {.op = "relative_shift", .call = [](auto& in) { return relative_shift(in[0]); }, .inputs = {{2, 3, 6}},
       .plain = [](auto& in) {
         const auto x = in[0].template to_vector<double>();
         std::vector<double> y;
         for (size_t row = 0; row < x.size(); row += 6)
           for (size_t j = 0; j < 4; ++j) y.push_back(x[row + j + 2 - row / 6 % 3]);
         return from_vector(y, {in[0].size(0), 3, 4}, in[0].dtype());
       },
       .records = "flatten reshape narrow"},
      {.op = "relative_shift", .call = [](auto& in) { return relative_shift(in[0]); }, .inputs = {{2, 1, 3}},
       .plain = [](auto& in) { return clone(in[0]); }, .records = "reshape"},
      {.op = "scaled_dot_product_attention",
       .call = [](auto& in) { return F::scaled_dot_product_attention(in[0], in[1], in[2], {.mask = in[3], .position_bias = in[4], .sink_logit = in[5], .enable_gqa = true}).output; },
       .inputs = {{2, 4, 3, 2}, {2, 2, 3, 2}, {2, 2, 3, 3}, mask({2, 1, 3, 3}), {4, 5}, {4}}, .records = "matmul blocked_attention view unsqueeze flatten Mask"},
      {.op = "scaled_dot_product_attention", .call = [](auto& in) { return F::scaled_dot_product_attention(in[0], in[1], in[2]).output; },
       .inputs = {{2, 3, 2}, {2, 3, 2}, {2, 3, 2}}, .records = "matmul blocked_attention"},
      {.op = "scaled_dot_product_attention",
       .call = [](auto& in) { return F::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true}).output; },
       .inputs = {{2, 2, 3, 2}, {2, 2, 4, 2}, {2, 2, 4, 3}}, .records = "matmul blocked_attention"},
      {.op = "scaled_dot_product_attention",
       .call = [](auto& in) {
         const AttentionResult result = F::scaled_dot_product_attention(in[0], in[1], in[2], {.mask = in[3], .need_weights = true});
         return std::vector<Tensor>{result.output, result.weights};
       },
       .inputs = {{2, 3, 2}, {2, 4, 2}, {2, 4, 3}, mask({3, 4})}, .records = "matmul blocked_attention Mask"},
      {.op = "scaled_dot_product_attention",
       .call = [](auto& in) { return F::scaled_dot_product_attention(in[0], in[1], in[2], {.bias = in[3], .scale = 0.3}).output; },
       .inputs = {{2, 3, 2}, {2, 4, 2}, {2, 4, 3}, {3, 4}}, .records = "matmul blocked_attention"},

      // in place
      {.op = "copy_", .call = [](auto& in) { return copy_(in[0], in[1]); }, .inputs = {{2, 3}, {3}}, .empty = {{0, 3}, {3}},
       .plain = [](auto& in) { return clone(expand(in[1], {2, 3})); }, .in_place = true},
      {.op = "fill_", .call = [](auto& in) { return fill_(in[0], 2.5); }, .inputs = {{2, 3}},
       .plain = [](auto& in) { return full({2, 3}, 2.5, in[0].dtype()); }, .in_place = true},
      {.op = "zero_", .call = [](auto& in) { return zero_(in[0]); }, .inputs = {{2, 3}},
       .plain = [](auto& in) { return zeros_like(in[0]); }, .in_place = true},
      {.op = "add_", .call = [](auto& in) { return add_(in[0], in[1], 2); }, .inputs = {{2, 3}, {3}}, .empty = {{0, 3}, {3}},
       .plain = [](auto& in) { return each(in, float64, [](double a, double b) { return a + 2 * b; }); }, .in_place = true},
      {.op = "sub_", .call = [](auto& in) { return sub_(in[0], in[1], 2); }, .inputs = {{2, 3}, {3}}, .empty = {{0, 3}, {3}},
       .plain = [](auto& in) { return each(in, float64, [](double a, double b) { return a - 2 * b; }); }, .in_place = true},
      {.op = "mul_", .call = [](auto& in) { return mul_(in[0], in[1]); }, .inputs = {{2, 3}, {3}}, .empty = {{0, 3}, {3}},
       .plain = [](auto& in) { return each(in, float64, [](double a, double b) { return a * b; }); }, .in_place = true},
      {.op = "div_", .call = [](auto& in) { return div_(in[0], in[1]); }, .inputs = {{2, 3}, {3}}, .low = 0.5, .high = 2, .empty = {{0, 3}, {3}},
       .plain = [](auto& in) { return each(in, float64, [](double a, double b) { return a / b; }); }, .in_place = true},
  };
  return rows;
}
// clang-format on

std::string name_of(const OpCase& row) {
  const std::string file = row.call.line.file_name();
  return std::string(row.op) + " (" + file.substr(file.rfind('/') + 1) + ":" +
         std::to_string(row.call.line.line()) + ")";
}

}  // namespace heed::test
