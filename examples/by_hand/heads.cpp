#include "examples/by_hand/heads.h"

#include <heed.h>
#include <heed/text.h>
#include <heed/view.h>

#include <algorithm>
#include <ostream>

#include "examples/by_hand/by_hand.h"

namespace program {

using namespace heed;

namespace {

// What one head makes of queries, keys and values, and what becomes of its output.
struct Head {
  Matrix w_q, w_k, w_v, w_o;  // [E, D], [kdim, D], [vdim, D], [D, E]
};
using Heads = std::vector<Head>;

const Matrix kWordsOfFour = {{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}, {1, 1, 0, 1}};  // for kWords

// The first compares the first two numbers of words, the second the last two; each asks crosswise.
const Heads kHeads = {{{{0, 3}, {3, 0}, {0, 0}, {0, 0}},
                       {{1, 0}, {0, 1}, {0, 0}, {0, 0}},
                       {{1, 0}, {0, 1}, {1, 0}, {0, 1}},
                       {{1, 0, 0, 1}, {0, 1, 1, 0}}},
                      {{{0, 0}, {0, 0}, {0, 3}, {3, 0}},
                       {{0, 0}, {0, 0}, {1, 0}, {0, 1}},
                       {{0, 1}, {1, 0}, {0, -1}, {-1, 0}},
                       {{1, 0, 1, 0}, {0, 1, 0, -1}}}};

// The library's layer with the same maps. It keeps them transposed, the heads one below the other.
MultiheadAttention layer_of(const Heads& heads) {
  const auto rows = [&](Matrix Head::*map) {
    std::vector<Tensor> maps;
    for (const Head& head : heads) maps.push_back(t((head.*map).tensor()));
    return cat(maps);
  };
  const auto width = [&](Matrix Head::*map) { return static_cast<int64_t>((heads[0].*map).rows); };
  MultiheadAttention layer(width(&Head::w_q), std::ssize(heads),
                           {.bias = false, .kdim = width(&Head::w_k), .vdim = width(&Head::w_v)});
  layer.to(float64);
  const Tensor q = rows(&Head::w_q), k = rows(&Head::w_k), v = rows(&Head::w_v);
  if (layer.in_proj_weight.defined()) {
    layer.in_proj_weight = cat({q, k, v});
  } else {
    layer.q_proj_weight = q;
    layer.k_proj_weight = k;
    layer.v_proj_weight = v;
  }
  std::vector<Tensor> outputs;
  for (const Head& head : heads) outputs.push_back(t(head.w_o.tensor()));
  layer.out_proj.weight = cat(outputs, 1);
  return layer;
}

struct HeadSteps {
  Matrix q, k, v;
  Forward y;
};
HeadSteps attend(const Head& head, const Matrix& query, const Matrix& key, const Matrix& value,
                 const Mask& mask = {}) {
  const Matrix q = query * head.w_q, k = key * head.w_k, v = value * head.w_v;
  return {q, k, v, forward(q, k, v, mask)};
}

// The output of all heads: each head's times its W_O, added.
Matrix attend(const Heads& heads, const Matrix& query, const Matrix& key, const Matrix& value,
              const Mask& mask = {}) {
  Matrix output(query.rows, heads[0].w_o.columns);
  for (const Head& head : heads) output = output + attend(head, query, key, value, mask).y.output * head.w_o;
  return output;
}

size_t favourite(const Matrix& weights, size_t row) {
  const auto first = weights.values.begin() + static_cast<std::ptrdiff_t>(row * weights.columns);
  return static_cast<size_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(weights.columns)) -
                             first);
}

// Gradients of X and of the joined W_O from that of the output, head by head.
struct Gradients {
  Matrix x, w_o;
};
Gradients gradients(const std::vector<HeadSteps>& steps, const Matrix& x, const Matrix& g) {
  Matrix d_x(x.rows, x.columns);
  std::vector<Matrix> d_w_o;
  for (size_t h = 0; h < steps.size(); ++h) {
    const auto& [q, k, v, y] = steps[h];
    const Head& head = kHeads[h];
    const Backward d = backward(y, q, k, v, g * transpose(head.w_o));
    d_x = d_x + d.q * transpose(head.w_q) + d.k * transpose(head.w_k) + d.v * transpose(head.w_v);
    d_w_o.push_back(transpose(y.output) * g);
  }
  return {d_x, stacked(d_w_o)};
}

// Queries, keys and values of the widths 4, 3 and 5: only the maps of the heads know of them.
void widths(Program& self, const Matrix& x) {
  Heads heads = kHeads;
  for (size_t h = 0; h < 2; ++h) {
    heads[h].w_k = {{1, 0}, {0, 1}, {1, -1}};
    heads[h].w_v = {{1, 0}, {0, 1}, {0, 0}, {1, 1}, {0, 2}};
  }
  const Matrix key = {{1, 0, 1}, {0, 1, 0}}, value = {{1, 2, 0, 0, 1}, {0, 1, 3, 1, 0}};
  const Matrix output = attend(heads, x, key, value);
  const auto weights = [&](size_t h) { return attend(heads[h], x, key, value).y.weights; };
  std::ostream& text = self.text();
  text << "\n-- widths of their own: queries of width 4, keys of width 3, values of width 5\n";
  print(text, "keys", key);
  print(text, "values", value);
  print(text, "W_Q of each head as above; W_K", heads[0].w_k);
  print(text, "W_V", heads[0].w_v);
  for (size_t h = 0; h < 2; ++h) print(text, "weights of head " + std::to_string(h + 1), weights(h));
  print(text, "output: as many rows as queries", output);
  const Tensor by_library = layer_of(heads)(x.tensor(), key.tensor(), value.tensor()).output;
  text << "the library gives the same, to " << short_number(agree("the output", output, by_library)) << "\n";
  self.result("widths.output", output.tensor());
  self.result("widths.library", by_library);
  self.result("widths.weights", stack({weights(0).tensor(), weights(1).tensor()}));
}

}  // namespace

void multi_head(Program& self) {
  introduce(
      self,
      {"Multi-head attention: two heads look at two places at once",
       "Qₕ = X W_Qₕ    Kₕ = X W_Kₕ    Vₕ = X W_Vₕ    headₕ = softmax(Qₕ Kₕᵀ / √d_k) Vₕ\n"
       "d_k = d_model / heads\n"
       "output = [head₁, head₂] W_O = Σₕ headₕ W_Oₕ    (W_Oₕ: the rows of W_O that meet head h)\n"
       "f(q) = Σᵢ α(q, kᵢ) vᵢ    q, k and v each of a width of its own",
       "three words of width 4, two heads of width 2; then the same with keys and values of other widths",
       "which word each head gives most of its weight, for \"cat\"; joining and adding give one output"});
  std::ostream& text = self.text();
  const Tokens words(kWords.begin(), kWords.begin() + 3);
  const Matrix x = stacked({row(kWordsOfFour, 0), row(kWordsOfFour, 1), row(kWordsOfFour, 2)}), g(3, 4, 1);
  print(text, "X: the, cat, sat", x);
  text << "d_k = d_model / heads = 4 / 2 = 2; three heads do not divide it:\n";
  std::string refused;
  try {
    const MultiheadAttention three(4, 3);
  } catch (const Error& error) {
    refused = error.what();
  }
  text << "  " << refused << "\n";

  std::vector<HeadSteps> steps;
  std::vector<Matrix> outputs, maps;
  std::vector<Tensor> weights;
  Matrix total(3, 4);
  for (size_t h = 0; h < 2; ++h) {
    const std::string name = std::to_string(h + 1);
    steps.push_back(attend(kHeads[h], x, x, x));
    const auto& [q, k, v, y] = steps[h];
    text << "\n-- head " << name << "\n";
    print(text, "W_Q" + name, kHeads[h].w_q);
    print(text, "W_K" + name, kHeads[h].w_k);
    print(text, "W_V" + name, kHeads[h].w_v);
    print(text, "Q = X W_Q" + name, q);
    print(text, "K = X W_K" + name, k);
    print(text, "V = X W_V" + name, v);
    print(text, "scaled = Q K^T / sqrt(2)", y.scaled);
    print(text, "weights", y.weights);
    print(text, "head" + name + " = weights V", y.output);
    print(text, "its part of the output: head" + name + " W_O" + name, y.output * kHeads[h].w_o);
    total = total + y.output * kHeads[h].w_o;
    outputs.push_back(y.output);
    maps.push_back(kHeads[h].w_o);
    weights.push_back(y.weights.tensor());
    self.result("heads." + std::to_string(h) + ".output", y.output.tensor());
    self.result("heads." + std::to_string(h) + ".weights", y.weights.tensor());
  }
  const Matrix joined = side_by_side(outputs), w_o = stacked(maps), output = joined * w_o;
  text << "\n-- join\n";
  print(text, "joined = [head1, head2]", joined);
  print(text, "W_O: the rows of W_O1 above those of W_O2", w_o);
  print(text, "output = joined W_O", output);
  const double apart = largest_difference(output, total);
  text << "the sum of both heads' parts differs by " << short_number(apart) << "\n";

  text << "\n-- backward, from the gradient 1 of every output\n";
  const Gradients d = gradients(steps, x, g);
  print(text, "dW_O = joined^T dO", d.w_o);
  print(text, "dX = sum over heads of dQ W_Q^T + dK W_K^T + dV W_V^T", d.x);

  const MultiheadAttention layer = layer_of(kHeads);
  const Tensor X = x.tensor().requires_grad_();
  const auto by_library = layer(X, AttentionOptions{.need_weights = true, .average_attn_weights = false});
  by_library.output.backward(g.tensor());
  const Tensor d_w_o = t(layer.out_proj.weight.grad());
  double distance = std::max({apart, agree("the output", output, by_library.output),
                              agree("dW_O", d.w_o, d_w_o), agree("dX", d.x, X.grad())});
  for (size_t h = 0; h < 2; ++h)
    distance =
        std::max(distance, agree("weights", steps[h].y.weights, by_library.weights[static_cast<int64_t>(h)]));
  text << "MultiheadAttention and autograd give the same, to " << short_number(distance) << "\n";
  self.result("refused", refused);
  self.result("output", output.tensor());
  self.result("sum", total.tensor());
  self.result("library", by_library.output);
  self.result("grad.W_O", d.w_o.tensor());
  self.result("grad.X", d.x.tensor());
  self.result("autograd.W_O", d_w_o);
  self.result("autograd.X", X.grad());
  draw(self, stack(weights), words, words);
  widths(self, x);

  const auto most = [&](size_t h) {
    const size_t j = favourite(steps[h].y.weights, 1);
    return "\"" + words[j] + "\" the weight " + short_number(steps[h].y.weights(1, j));
  };
  conclude(self, "for \"cat\" head 1 gives " + most(0) + ", head 2 " + most(1) + "; its output " +
                     row_text(output, 1) + " is the sum of what both contribute, " +
                     row_text(outputs[0] * maps[0], 1) + " and " + row_text(outputs[1] * maps[1], 1) + ".");
}

void cache(Program& self) {
  introduce(
      self,
      {"Decoding with a cache: keys and values are computed once",
       "step t:  qₜ, kₜ, vₜ from xₜ alone    oₜ = Σⱼ₌₁..ₜ softmaxⱼ(qₜ · kⱼ / √d) vⱼ\n"
       "k₁..ₜ₋₁, v₁..ₜ₋₁ from the cache\n"
       "scores of step t in one head:  t with the cache, t · t when all words go through attention again",
       "four words of width 4 come one at a time to the two heads of the example multi-head, causal",
       "each row equals that of attention over all words at once; the cache grows by a position a step"});
  std::ostream& text = self.text();
  const Matrix& x = kWordsOfFour;
  const Tensor X = x.tensor();
  const Matrix whole = attend(kHeads, x, x, x, Mask::causal(4));
  const MultiheadAttention layer = layer_of(kHeads);
  double distance = agree("the output", whole, layer(X, Mask::causal(4)).output);
  print(text, "X: the, cat, sat, down", x);
  print(text, "output over all words at once, causal", whole);

  std::vector<Matrix> keys(2, Matrix(0, 2)), values(2, Matrix(0, 2)), rows;
  KeyValueCache held;
  Table table({"step", "word", "the cache holds keys", "and values", "scores", "without a cache",
               "row of the output"});
  int64_t with = 0, without = 0;
  Matrix prefix(0, 4);
  for (size_t i = 0; i < 4; ++i) {
    const Matrix word = row(x, i);
    prefix = stacked({prefix, word});
    Matrix output(1, 4);
    int64_t scores = 0, recomputed = 0;
    for (size_t h = 0; h < 2; ++h) {
      keys[h] = stacked({keys[h], word * kHeads[h].w_k});
      values[h] = stacked({values[h], word * kHeads[h].w_v});
      const Forward y = forward(word * kHeads[h].w_q, keys[h], values[h]);
      output = output + y.output * kHeads[h].w_o;
      scores += std::ssize(y.scores.values);
      recomputed +=
          std::ssize(attend(kHeads[h], prefix, prefix, prefix, Mask::causal(std::ssize(prefix.values) / 4))
                         .y.scores.values);
    }
    const Tensor by_library = layer(word.tensor(), Mask(), &held).output;
    distance = std::max({distance, agree("a row with the cache", output, by_library),
                         agree("a row at once", row(whole, i), by_library),
                         agree("keys of the first head", keys[0], held.keys()[{0, 0}]),
                         agree("values of the first head", values[0], held.values()[{0, 0}])});
    rows.push_back(output);
    with += scores;
    without += recomputed;
    table.add({std::to_string(i + 1), kWords[i], to_string(held.keys().shape()),
               to_string(held.values().shape()), std::to_string(scores), std::to_string(recomputed),
               row_text(output, 0)});
    const std::string place = "steps." + std::to_string(i) + ".";
    self.result(place + "length", held.length());
    self.result(place + "shape", to_string(held.keys().shape()));
    self.result(place + "scores", scores);
    self.result(place + "scores_without", recomputed);
  }
  text << "\nshapes are [batch, heads, positions, width]; scores are those of both heads\n\n"
       << table.to_string() << "\n\nrow by row and all at once, by hand and by the library: the same, to "
       << short_number(distance) << "\n";
  self.result("whole", whole.tensor());
  self.result("rows", stacked(rows).tensor());
  self.result("scores", with);
  self.result("scores_without", without);
  self.result("difference", distance);
  conclude(self, "four steps with the cache compute " + std::to_string(with) + " scores, without it " +
                     std::to_string(without) + ", and the rows differ by " + short_number(distance) +
                     " at most.");
}

}  // namespace program
