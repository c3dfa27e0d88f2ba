#include "nn/view/text.h"

#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "nn/view/markup.h"
#include "tensor/index.h"
#include "tensor/table.h"

namespace heed {
namespace {

std::string visible(const std::string& text) { return detail::visible("AttentionMap: a token", text); }

Tokens shown(const Tensor& weights, Tokens tokens, int64_t dim, const char* kind) {
  check(std::ssize(tokens) == weights.size(dim), "AttentionMap: ", tokens.size(), " ", kind,
        " tokens for weights ", weights.shape(), ", which have ", weights.size(dim), " ", kind,
        " positions; give a token for each, padding too");
  for (std::string& token : tokens) token = visible(token);
  return tokens;
}

}  // namespace

AttentionMap::AttentionMap(const Tensor& all, Tokens query_tokens, Tokens key_tokens,
                           AttentionMapOptions options)
    : sentence(visible(options.sentence)), module(visible(options.module)), step(options.step) {
  check(all.dim() >= 2 && all.dim() <= 4, "AttentionMap: weights ", all.shape(),
        " must be [B, H, Tq, Tk], [B, Tq, Tk] or [Tq, Tk]");
  check(!options.heads || all.dim() < 4, "AttentionMap: weights ", all.shape(), " have heads behind a batch",
        " already; heads = true is for [H, Tq, Tk]");
  const bool batched = all.dim() > (options.heads ? 3 : 2);
  const int64_t batches = batched ? all.size(0) : 1;
  check(options.batch >= 0 && options.batch < batches, "AttentionMap: entry ", options.batch,
        " of the batch is wanted, and weights ", all.shape(), " have ", batches);
  queries = shown(all, std::move(query_tokens), -2, "query");
  keys = shown(all, std::move(key_tokens), -1, "key");
  if (batches > 1)
    module += (module.empty() ? "entry " : ", entry ") + std::to_string(options.batch + 1) + " of " +
              std::to_string(batches);
  const Tensor one = batched ? all.detach()[options.batch] : all.detach();
  weights = contiguous(to(one.dim() > 2 ? one : unsqueeze(one, 0), float64));
}

std::vector<double> AttentionMap::row(int64_t query, int64_t head) const {
  check(query >= 0 && query < std::ssize(queries), "AttentionMap: query ", query, " of ", queries.size());
  check(head >= mean && head < heads(), "AttentionMap: head ", head, " of ", heads());
  const Tensor of_heads = weights[{whole, query}];  // [H, Tk]
  return (head == mean ? heed::mean(of_heads, 0) : of_heads[head]).to_vector<double>();
}

Tensor stacked_steps(const AttentionScope& scope, const std::string& module) {
  int64_t most = scope.weights(module).size(-1);  // throws where there is no call, with the modules there are
  for (const CapturedAttention& call : scope.calls())
    if (call.module == module) most = std::max(most, call.weights.size(-1));
  std::vector<Tensor> steps;
  for (const CapturedAttention& call : scope.calls())
    if (call.module == module) steps.push_back(pad(call.weights, {0, most - call.weights.size(-1)}));
  return cat(steps, -2);
}

StateDict captured_weights(const AttentionScope& scope) {
  StateDict named;
  for (const CapturedAttention& call : scope.calls())
    named[call.module + "/" + std::to_string(call.step)] = call.weights;
  return named;
}

std::string attention_line(const AttentionMap& map, int64_t query, TextStyle style, int64_t head) {
  const std::vector<double> row = map.row(query, head);
  const std::string& current = map.queries[static_cast<size_t>(query)];
  if (style == TextStyle::plain) {
    Table table({current, "weight"});
    for (size_t k = 0; k < row.size(); ++k) table.add({map.keys[k], decimals(row[k], 4)});
    return table.to_string();
  }
  // White to blue in the 256 colours of terminals, all light enough for black and red letters.
  constexpr int kShades[] = {231, 195, 189, 153, 147, 111, 75};
  const std::string red = "1;38;5;160", black = "38;5;16";
  std::string line;
  if (!map.own()) line = "\033[" + red + "m" + current + "\033[0m ";
  for (size_t k = 0; k < row.size(); ++k) {
    const double weight = row[k] > 0 ? std::min(row[k], 1.0) : 0;  // NaN as 0
    const int shade = kShades[std::lround(weight * (std::size(kShades) - 1))];
    const bool itself = map.own() && static_cast<int64_t>(k) == query;
    line +=
        "\033[" + (itself ? red : black) + ";48;5;" + std::to_string(shade) + "m " + map.keys[k] + " \033[0m";
  }
  return line;
}

std::string attention_text(const AttentionMap& map, TextStyle style, int64_t head) {
  if (style == TextStyle::coloured) {
    std::string lines;
    for (int64_t q = 0; q < std::ssize(map.queries); ++q)
      lines += (q > 0 ? "\n" : "") + attention_line(map, q, style, head);
    return lines;
  }
  Tokens header = {""};
  header.insert(header.end(), map.keys.begin(), map.keys.end());
  Table table(header);
  for (int64_t q = 0; q < std::ssize(map.queries); ++q) {
    Tokens cells = {map.queries[static_cast<size_t>(q)]};
    for (const double weight : map.row(q, head)) cells.push_back(decimals(weight, 2));
    table.add(std::move(cells));
  }
  return table.to_string();
}

}  // namespace heed
