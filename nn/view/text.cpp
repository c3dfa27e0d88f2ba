#include "nn/view/text.h"

#include <cctype>
#include <sstream>

#include "autograd/ops/basic.h"
#include "nn/view/markup.h"
#include "tensor/table.h"
#include "tensor/utf8.h"

namespace heed {

static std::string visible(const std::string& text) {
  check_utf8("AttentionMap: a token", text);
  return printable(text, Hidden::pictures);
}

static Tokens visible_tokens(const Tokens& tokens, const Tensor& weights, int64_t dim, const char* kind) {
  check(std::ssize(tokens) == weights.size(dim), "AttentionMap: ", tokens.size(), " ", kind,
        " tokens for weights ", weights.shape(), ", which have ", weights.size(dim), " ", kind,
        " positions; give a token for each position, including padding");
  return detail::mapped(tokens, visible);
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
  queries = visible_tokens(query_tokens, all, -2, "query");
  keys = visible_tokens(key_tokens, all, -1, "key");
  if (batches > 1)
    module += detail::text(module.empty() ? "" : ", ", "entry ", options.batch + 1, " of ", batches);
  const auto entry = [&](const Tensor& x) {  // [H, Tq, Tk]
    const Tensor one = batched ? x[options.batch] : x;
    return contiguous(one.dim() > 2 ? one : unsqueeze(one, 0));
  };
  weights = entry(to(all.detach(), float64));
  if (options.mask.allows_all()) return;
  const Tensor mask = all.dim() == 4 ? detail::for_heads(options.mask) : options.mask.allowed();
  detail::check_fits_scores("mask", mask, all.shape());
  allowed = entry(broadcast_to(mask, all.shape()));
}

std::vector<double> AttentionMap::row(int64_t query, int64_t head) const {
  check(query >= 0 && query < std::ssize(queries), "AttentionMap: query ", query, " of ", queries.size());
  check(head >= mean && head < heads(), "AttentionMap: head ", head, " of ", heads());
  const Tensor of_heads = weights[{whole, query}];  // [H, Tk]
  return (head == mean ? heed::mean(of_heads, 0) : of_heads[head]).to_vector<double>();
}

std::vector<bool> AttentionMap::masked(int64_t query, int64_t head) const {
  if (!allowed.defined()) return std::vector<bool>(keys.size());
  const Tensor of_heads = allowed[{whole, query}];  // [H, Tk]
  return logical_not(head == mean ? any(of_heads, 0) : of_heads[head]).to_vector<bool>();
}

Tensor stacked_steps(const AttentionScope& scope, const std::string& module) {
  int64_t keys = scope.weights(module).size(-1);  // throws if there is no call
  std::vector<Tensor> steps;
  for (const CapturedAttention& call : scope.calls())
    if (call.module == module) steps.push_back(call.weights);
  for (const Tensor& step : steps) keys = std::max(keys, step.size(-1));
  return cat(detail::mapped(steps, [&](const Tensor& x) { return pad(x, {0, keys - x.size(-1)}); }), -2);
}

StateDict captured_weights(const AttentionScope& scope) {
  StateDict named;
  for (const CapturedAttention& call : scope.calls())
    named[call.module + "/" + std::to_string(call.step)] = call.weights;
  return named;
}

std::string attention_line(const AttentionMap& map, int64_t query, TextStyle style, int64_t head) {
  const std::vector<double> row = map.row(query, head);
  const std::vector<bool> masked = map.masked(query, head);
  const std::string& current = map.queries[static_cast<size_t>(query)];
  if (style == TextStyle::plain) {
    Table table({current, "weight"});
    for (size_t k = 0; k < row.size(); ++k) table.add({map.keys[k], masked[k] ? "" : decimals(row[k], 4)});
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
    const std::vector<double> row = map.row(q, head);
    const std::vector<bool> masked = map.masked(q, head);
    for (size_t k = 0; k < row.size(); ++k) cells.push_back(masked[k] ? "" : decimals(row[k], 2));
    table.add(std::move(cells));
  }
  return table.to_string();
}

std::string detail::layer_name(const std::string& module, bool chinese) {
  static const std::map<std::string, std::pair<const char*, const char*>> words = {
      {"attention", {"attention", "注意力"}},
      {"cross", {"cross-attention", "交叉注意力"}},
      {"decoder", {"decoder", "解码器"}},
      {"encoder", {"encoder", "编码器"}},
      {"multihead_attn", {"cross-attention", "交叉注意力"}},
      {"self_attn", {"self-attention", "自注意力"}}};
  const size_t end = std::min(module.find(", "), module.size());  // the entry of a batch is behind it
  const auto is_in_path = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
  if (!std::all_of(module.begin(), module.begin() + static_cast<int64_t>(end), is_in_path)) return module;

  std::string name;
  std::istringstream path(module.substr(0, end));
  for (std::string part; std::getline(path, part, '.');) {
    if (part.empty() || part == "transformer" || part == "layers") continue;
    if (const auto known = words.find(part); known != words.end())
      part = chinese ? known->second.second : known->second.first;
    else if (part.size() < 10 && part.find_first_not_of("0123456789") == part.npos)
      part = with_parts(chinese ? "第 {} 层" : "layer {}", std::stoi(part) + 1);
    name += (name.empty() ? "" : chinese ? "，" : ", ") + replaced(part, "_", " ");
  }
  return name.empty() ? module : name + module.substr(end);
}

}  // namespace heed
