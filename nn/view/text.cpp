#include "nn/view/text.h"

#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "tensor/index.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace heed {

static std::string visible(const std::string& text) {
  check_utf8("AttentionMap: a token", text);
  return printable(text, Hidden::pictures);
}

static Tokens visible(Tokens tokens, const Tensor& weights, int64_t dim, const char* kind) {
  check(std::ssize(tokens) == weights.size(dim), "AttentionMap: ", tokens.size(), " ", kind,
        " tokens for weights ", weights.shape(), ", which have ", weights.size(dim), " ", kind,
        " positions; give a token for each position, including padding");
  for (std::string& token : tokens) token = visible(token);
  return tokens;
}

AttentionMap::AttentionMap(const Tensor& all, Tokens query_tokens, Tokens key_tokens,
                           AttentionMapOptions options)
    : sentence(visible(options.sentence)), module(visible(options.module)), step(options.step) {
  check(all.dim() >= 2 && all.dim() <= 4, "AttentionMap: weights ", all.shape(),
        " must be [B, H, Tq, Tk], [B, Tq, Tk] or [Tq, Tk]");
  check(!options.heads || all.dim() < 4, "AttentionMap: weights ", all.shape(),
        " have a batch dimension; heads = true is for [H, Tq, Tk]");
  const bool batched = all.dim() > (options.heads ? 3 : 2);
  const int64_t batches = batched ? all.size(0) : 1;
  check(options.batch >= 0 && options.batch < batches, "AttentionMap: there is no batch entry ",
        options.batch, "; weights ", all.shape(), " have ", batches);
  queries = visible(std::move(query_tokens), all, -2, "query");
  keys = visible(std::move(key_tokens), all, -1, "key");
  if (batches > 1)
    module += detail::text(module.empty() ? "" : ", ", "entry ", options.batch + 1, " of ", batches);
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
  int64_t keys = scope.weights(module).size(-1);  // throws if there is no call
  for (const CapturedAttention& call : scope.calls())
    if (call.module == module) keys = std::max(keys, call.weights.size(-1));
  std::vector<Tensor> steps;
  for (const CapturedAttention& call : scope.calls())
    if (call.module == module) steps.push_back(pad(call.weights, {0, keys - call.weights.size(-1)}));
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
  // White to blue from the 256 terminal colors, all light enough for black and red letters.
  constexpr int kShades[] = {231, 195, 189, 153, 147, 111, 75};
  constexpr const char *kRed = "1;38;5;160", *kBlack = "38;5;16";
  std::string line;
  if (!map.own()) line = detail::text("\033[", kRed, "m", current, "\033[0m ");
  for (size_t k = 0; k < row.size(); ++k) {
    const double weight = row[k] > 0 ? std::min(row[k], 1.0) : 0;  // NaN counts as 0
    const int shade = kShades[std::lround(weight * (std::size(kShades) - 1))];
    const bool is_current = map.own() && static_cast<int64_t>(k) == query;
    line += detail::text("\033[", is_current ? kRed : kBlack, ";48;5;", shade, "m ", map.keys[k], " \033[0m");
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
