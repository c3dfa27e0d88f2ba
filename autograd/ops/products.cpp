#include "autograd/ops/products.h"

#include "autograd/node.h"
#include "autograd/ops/basic.h"
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/matmul.h"
#include "tensor/lists.h"
#include "tensor/utf8.h"

namespace heed {
namespace {

void check_rank(const Operand& x, const char* name, int64_t rank) {
  check(x->dim() == rank, name, " is ", x->shape(), "; it must have ", rank,
        rank == 1 ? " dimension" : " dimensions", x->dim() > 0 ? ", matmul takes other ranks" : "");
}

void check_ranks(Operand& a, int64_t rank_a, Operand& b, int64_t rank_b) {
  match_dtypes(a, b);
  check_floating(a);
  check_rank(a, "a", rank_a);
  check_rank(b, "b", rank_b);
}

// mm, bmm, mv and dot: matmul of operands that have these ranks
Tensor product(const char* op, Operand& a, int64_t rank_a, Operand& b, int64_t rank_b) {
  const OpScope scope(op, a.line());
  check_ranks(a, rank_a, b, rank_b);
  if (rank_b == 1) return matmul(a, b);
  check(rank_b == 2 || a->shape()[0] == b->shape()[0], "a is ", a->shape(), ", b is ", b->shape(),
        "; their first sizes must be equal (matmul broadcasts them)");
  detail::check_inner(a, b);
  return detail::matrix_product(op, a, b);
}

// One label for each dimension: a letter of the equation, or for the k-th dimension from the right under an
// ellipsis the character k, which sorts before all letters.
using Labels = std::string;

bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

Labels where_in(Labels labels, const Labels& other, bool in) {
  std::erase_if(labels, [&](char label) { return has(other, label) != in; });
  return labels;
}

struct Term {
  int64_t dim(char label) const { return static_cast<int64_t>(labels.find(label)); }
  Shape dims(const Labels& of) const { return detail::mapped(of, std::bind_front(&Term::dim, this)); }
  int64_t size(char label) const { return x.size(dim(label)); }
  Shape sizes(const Labels& of) const { return detail::mapped(of, std::bind_front(&Term::size, this)); }

  Tensor x;
  Labels labels;
};

// Parses "ab, bc -> ac"; an ellipsis is a "." in the parts.
struct Equation {
  explicit Equation(std::string_view equation) : text(equation) {
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      std::string& part = output ? *output : inputs.back();
      if (c == ' ') continue;
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        part += c;
      } else if (c == ',') {
        check(!output, "there is one result, and no comma after the arrow");
        inputs.emplace_back();
      } else if (text.substr(i, 2) == "->") {
        check(!output, "there are two arrows");
        output.emplace();
        i += 1;
      } else {
        check(text.substr(i, 3) == "...", "'", std::string(1, c), "' at position ", i,
              " is not a letter, a comma, an arrow -> or an ellipsis ...");
        check(!has(part, '.'), "an operand has two ellipses");
        part += '.';
        i += 2;
      }
    }
  }

  // Throws unless `condition` holds, with the equation at the start of the message.
  void check(bool condition, const auto&... parts) const {
    heed::check(condition, "\"", text, "\": ", parts...);
  }

  std::string_view text;
  std::vector<std::string> inputs = {""};
  std::optional<std::string> output;
};

// Replaces the ellipsis by labels for `count` dimensions.
Labels labels_for(const std::string& letters, int64_t count) {
  Labels labels;
  for (int64_t k = count; k > 0; --k) labels += static_cast<char>(k);
  return replaced(letters, ".", labels);
}

Term sum_out(Term term, const Labels& kept) {
  const Labels gone = where_in(term.labels, kept, false);
  if (gone.empty()) return term;
  return {sum(term.x, term.dims(gone)), where_in(term.labels, kept, true)};
}

// x with its dimensions in the order of `labels`, and size 1 for labels that x does not have.
Tensor arrange(const Term& term, const Labels& labels) {
  Tensor x = permute(term.x, term.dims(where_in(labels, term.labels, true)));
  for (size_t d = 0; d < labels.size(); ++d)
    if (!has(term.labels, labels[d])) x = unsqueeze(x, static_cast<int64_t>(d));
  return x;
}

// The diagonal of x[..., i, ..., i, ...]: the sum over j of x[..., i, ..., j, ...] where j = i.
Term take_diagonals(Term term, const Equation& equation) {
  constexpr char kOther = 127;  // the label of j
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t j; (j = term.labels.find(term.labels[i], i + 1)) != Labels::npos;) {
      const char label = std::exchange(term.labels[j], kOther);
      const int64_t n = term.size(label), m = term.size(kOther);
      equation.check(n == m, "'", std::string(1, label), "' is ", n, " and ", m, " in one operand of shape ",
                     term.x.shape(), "; a diagonal needs equal sizes");
      const Tensor equal = arrange({eye(n, n, boolean), {label, kOther}}, term.labels);
      term = sum_out({where(equal, term.x, 0), term.labels}, where_in(term.labels, {kOther}, false));
    }
  return term;
}

// Multiplies two terms and sums over their common labels that are not kept:
//   a [batch, left, summed] x b [batch, summed, right] -> [batch, left, right]
Term contract(Term a, Term b, const Labels& kept) {
  a = sum_out(a, kept + b.labels);
  b = sum_out(b, kept + a.labels);
  const Labels common = where_in(a.labels, b.labels, true);
  const Labels batch = where_in(common, kept, true), summed = where_in(common, kept, false);
  const Labels left = where_in(a.labels, b.labels, false), right = where_in(b.labels, a.labels, false);
  const Labels result = batch + left + right;
  if (summed.empty() && (left.empty() || right.empty() || !is_floating(a.x.dtype())))
    return {arrange(a, result) * arrange(b, result), result};

  const auto matrices = [&](const Term& term, const Labels& rows, const Labels& columns) {
    return reshape(
        arrange(term, batch + rows + columns),
        kernel::matrix_shape(term.sizes(batch), numel(term.sizes(rows)), numel(term.sizes(columns))));
  };
  const Tensor y = matmul(matrices(a, left, summed), matrices(b, summed, right));
  const auto size = [&](char label) { return (has(a.labels, label) ? a : b).size(label); };
  return {reshape(y, detail::mapped(result, size)), result};
}

}  // namespace

Tensor mm(Operand a, Operand b) { return product("mm", a, 2, b, 2); }
Tensor bmm(Operand a, Operand b) { return product("bmm", a, 3, b, 3); }
Tensor mv(Operand a, Operand b) { return product("mv", a, 2, b, 1); }
Tensor dot(Operand a, Operand b) { return product("dot", a, 1, b, 1); }

Tensor outer(Operand a, Operand b) {
  const OpScope scope("outer", a.line());
  check_ranks(a, 1, b, 1);
  return detail::matrix_product("outer", unsqueeze(a, 1), unsqueeze(b, 0));
}

// dx = beta g,  da = alpha g b^T,  db = alpha a^T g
Tensor addmm(Operand x, Operand a, Operand b, double beta, double alpha) {
  const OpScope scope("addmm", x.line());
  check_ranks(a, 2, b, 2);
  match_dtypes(x, a);
  detail::check_inner(a, b);
  const Shape shape{a->shape()[0], b->shape()[1]};
  check(broadcast_shapes(x->shape(), shape, "x", "the product") == shape, "x is ", x->shape(),
        ", the product ", shape, "; x must broadcast to it");
  const Tensor start = beta == 0 ? Tensor() : kernel::mul(x, kernel::full({}, beta, x->dtype()));
  return record(
      "addmm", kernel::matmul(a, b, start, alpha),
      {{x, "beta g", [beta](const Tensor& g) { return beta * g; }},
       {a, "alpha g $3ᵀ", [b = save(b), alpha](const Tensor& g) { return alpha * mm(g, transpose(b())); }},
       {b, "alpha $2ᵀ g", [a = save(a), alpha](const Tensor& g) { return alpha * mm(transpose(a()), g); }}},
      {{"beta", beta}, {"alpha", alpha}});
}

// Multiplies the operands from left to right, and sums over a letter as soon as neither a later operand nor
// the result has it. Made of public operations, which have the gradient rules.
Tensor einsum(std::string_view text, const std::vector<Tensor>& operands, SourceLocation line) {
  const OpScope scope("einsum", line);
  const Equation equation(text);
  equation.check(!operands.empty() && equation.inputs.size() == operands.size(), "it names ",
                 equation.inputs.size(), " operands, and there are ", operands.size());

  std::vector<Term> terms;
  Labels all;  // the labels of all operands, with repetitions
  int64_t under_ellipsis = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor& x = operands[i];
    const std::string& letters = equation.inputs[i];
    const bool ellipsis = has(letters, '.');
    const int64_t named = static_cast<int64_t>(letters.size()) - ellipsis, unnamed = x.dim() - named;
    equation.check(ellipsis ? unnamed >= 0 : unnamed == 0, "operand ", i, " is ", x.shape(), " and has ",
                   named, " letters", ellipsis ? "" : "; write ... for the dimensions without one");
    equation.check(x.dtype() == operands[0].dtype(), "operand ", i, " is ", x.dtype(), ", operand 0 ",
                   operands[0].dtype(), "; they must have one dtype, convert with to(x, ",
                   operands[0].dtype(), ")");
    const Labels labels = labels_for(letters, unnamed);
    all += labels;
    under_ellipsis = std::max(under_ellipsis, unnamed);
    terms.push_back(take_diagonals({x, labels}, equation));
  }

  // The sizes of a letter must be equal or 1.
  for (const Term& term : terms)
    for (const Term& other : terms)
      for (const char label : where_in(term.labels, other.labels, true)) {
        const int64_t n = term.size(label), m = other.size(label);
        equation.check(n == m || n == 1 || m == 1,
                       label < 'A' ? "a dimension under ..." : "'" + std::string(1, label) + "'", " is ", n,
                       " in ", term.x.shape(), " and ", m, " in ", other.x.shape());
      }

  // Removes dimensions of size 1.
  for (Term& term : terms) {
    Labels longer = term.labels;
    std::erase_if(longer, [&](char label) { return term.size(label) == 1; });
    if (longer != term.labels) term = {squeeze(term.x), longer};
  }

  Labels output;
  for (const char c : labels_for(equation.output.value_or("."), under_ellipsis)) {
    equation.check(has(all, c), "'", std::string(1, c), "' in the result is in no operand");
    equation.check(!has(output, c), "'", std::string(1, c), "' appears twice in the result");
    output += c;
  }
  if (!equation.output)  // letters that occur once, in alphabetical order
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::count(all.begin(), all.end(), c) == 1) output += c;

  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    Labels kept = output;
    for (size_t later = i + 1; later < terms.size(); ++later) kept += terms[later].labels;
    result = contract(result, terms[i], kept);
  }
  return arrange(sum_out(result, output), output);
}

}  // namespace heed
