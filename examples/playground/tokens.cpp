#include "examples/playground/tokens.h"

#include "examples/playground/message.h"

namespace program {

using namespace heed;

namespace {

constexpr int64_t kMostHeads = 8, kMostTokens = 64, kWidestToken = 64;

// [T, d] -> [heads, T, d / heads]
Tensor split_heads(const Tensor& x, int64_t heads) {
  return transpose(reshape(x, {x.size(0), heads, x.size(1) / heads}), 0, 1);
}

// [heads, T, d / heads] -> [T, d]
Tensor join_heads(const Tensor& x) { return reshape(transpose(x, 0, 1), {x.size(1), x.size(0) * x.size(2)}); }

// A matrix of zeros and ones.
Tensor mask_of(RequestReader& request, int64_t size) {
  Tensor allowed = zeros({size, size}, float64);
  for (double& one : std::span(allowed.mutable_data<double>(), static_cast<size_t>(size * size)))
    one = static_cast<double>(request.integer("allowed", 0, 1));
  return allowed == 1;
}

}  // namespace

std::vector<float> tokens(std::span<const float> numbers) {
  RequestReader request("tokens", numbers);
  const int64_t heads = request.integer("heads", 1, kMostHeads);
  const bool positions = request.integer("positions", 0, 1) == 1;
  const int64_t T = request.integer("T", 1, kMostTokens), d = request.integer("d", 1, kWidestToken);
  check(d % heads == 0, "tokens: ", heads, " heads do not divide the width ", d);
  const Tensor words = reshape(request.numbers("X", T * d), {T, d});
  const auto matrix = [&](const char* name) { return reshape(request.numbers(name, d * d), {d, d}); };
  const Tensor W_Q = matrix("W_Q"), W_K = matrix("W_K"), W_V = matrix("W_V"), W_O = matrix("W_O");
  const Tensor allowed = mask_of(request, T);
  request.end();

  const Tensor X = positions ? SinusoidalPosition(d)(words) : words;
  const Tensor Q = matmul(X, W_Q), K = matmul(X, W_K), V = matmul(X, W_V);
  const Tensor queries = split_heads(Q, heads), keys = split_heads(K, heads);
  const auto [output, A] = F::scaled_dot_product_attention(queries, keys, split_heads(V, heads),
                                                           {.mask = allowed, .need_weights = true});
  const Tensor Z = join_heads(output);

  std::vector<float> answer;
  for (const Tensor& one : {X, Q, K, V, ScaledDotScore()(queries, keys), A, Z, matmul(Z, W_O)})
    append(answer, one);
  return answer;
}

std::vector<float> tokens_first() {
  std::vector<float> request = {1, 0, 4, 2, 2, 0, 0, 2, 1, 1, 0, 0};  // river, money, bank, the
  for (int matrix = 0; matrix < 4; ++matrix) append(request, eye(2));
  append(request, ones({4, 4}));
  return request;
}

}  // namespace program
