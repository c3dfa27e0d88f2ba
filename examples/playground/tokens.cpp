#include "examples/playground/tokens.h"

#include "examples/playground/message.h"

namespace program {

using namespace heed;

std::vector<float> tokens(std::span<const float> numbers) {
  RequestReader request("tokens", numbers);
  const int64_t heads = request.integer("heads", 1, 2), positions = request.integer("positions", 0, 1);
  const int64_t T = request.integer("T", 1, 16), d = request.integer("d", 1, 16);
  const int64_t d_k = request.integer("d_k", 1, 64), d_v = request.integer("d_v", 1, 64);
  check(d_k % heads == 0 && d_v % heads == 0, "tokens: d_k is ", d_k, " and d_v ", d_v,
        "; both must be divisible by the ", heads, " heads");
  const auto matrix = [&](const char* name, int64_t rows, int64_t columns) {
    return reshape(request.numbers(name, rows * columns), {rows, columns});
  };
  const Tensor words = matrix("X", T, d);
  const Tensor W_Q = matrix("W_Q", d, d_k), W_K = matrix("W_K", d, d_k), W_V = matrix("W_V", d, d_v);
  const Tensor W_O = matrix("W_O", d_v, d);
  const Mask allowed = matrix("allowed", T, T) != 0;
  request.end();

  const Tensor x = positions == 1 ? SinusoidalPosition(d)(words) : words;  // [T, d]
  const auto of_heads = [&](const Tensor& all) {
    return transpose(reshape(all, {T, heads, all.size(1) / heads}), 0, 1);  // [heads, T, d_k / heads]
  };
  const Tensor q = matmul(x, W_Q), k = matmul(x, W_K), v = matmul(x, W_V);
  const Tensor scores = ScaledDotScore()(of_heads(q), of_heads(k));                           // [heads, T, T]
  const Tensor weights = SoftmaxNormaliser()(scores, allowed);                                // [heads, T, T]
  const Tensor z = reshape(transpose(attention_pool(weights, of_heads(v)), 0, 1), {T, d_v});  // [T, d_v]

  std::vector<float> answer;
  for (const Tensor& part : {x, q, k, v, scores, weights, z, matmul(z, W_O)}) append(answer, part);
  return answer;
}

std::vector<float> tokens_first() {
  std::vector<float> request = {1, 0, 4, 2, 2, 2, 2, 0, 0, 2, 1, 1, 0, 0};
  for (int matrix = 0; matrix < 4; ++matrix) append(request, eye(2));
  append(request, ones({4, 4}));
  return request;
}

}  // namespace program
