#include <algorithm>
#include <string>

#include "autograd/node.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/shape.h"
#include "tensor/create.h"

namespace heed {
namespace {

// Labels of dimensions: the letters of the equation, and for the k-th dimension from the right under an
// ellipsis the character k + 1, which sorts before all letters.
using Labels = std::string;

struct Term {
  Tensor x;
  Labels labels;  // one for each dimension of x
};

bool has(const Labels& labels, char label) { return labels.find(label) != Labels::npos; }

Labels where_in(const Labels& labels, const Labels& other, bool in) {
  Labels found;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(found),
               [&](char label) { return has(other, label) == in; });
  return found;
}

struct Equation {
  std::vector<std::string> inputs;
  std::optional<std::string> output;
};

// Splits "ab, bc -> ac" and checks its characters; "." stands for "..." in what is returned.
Equation parse(std::string_view text) {
  Equation equation;
  equation.inputs.emplace_back();
  const auto bad = [&](const auto&... parts) { fail("\"", text, "\": ", parts...); };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& part = equation.output ? *equation.output : equation.inputs.back();
    if (c == ' ') continue;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      part += c;
    } else if (c == ',') {
      if (equation.output) bad("there is one result, and no comma after the arrow");
      equation.inputs.emplace_back();
    } else if (text.substr(i, 2) == "->") {
      if (equation.output) bad("there are two arrows");
      equation.output.emplace();
      i += 1;
    } else if (text.substr(i, 3) == "...") {
      if (has(part, '.')) bad("an operand has two ellipses");
      part += '.';
      i += 2;
    } else {
      bad("'", std::string(1, c), "' at position ", i,
          " is not a letter, a comma, an arrow -> or an ellipsis ...");
    }
  }
  return equation;
}

// Labels for the dimensions of one operand: an ellipsis takes as many as the letters leave.
Labels labels_for(std::string_view equation, size_t operand, const std::string& letters, const Tensor& x) {
  const int64_t rank = x.dim();
  const bool ellipsis = has(letters, '.');
  const int64_t named = static_cast<int64_t>(letters.size()) - ellipsis;
  check(ellipsis ? rank >= named : rank == named, "\"", equation, "\": operand ", operand, " is ", x.shape(),
        " and has ", named, " letters", ellipsis ? "" : "; write ... for the dimensions without one");
  Labels labels;
  for (const char c : letters) {
    if (c != '.')
      labels += c;
    else
      for (int64_t k = rank - named; k > 0; --k) labels += static_cast<char>(k);
  }
  return labels;
}

Term sum_out(Term term, const Labels& kept) {
  const Labels gone = where_in(term.labels, kept, false);
  if (gone.empty()) return term;
  Shape dims;
  for (const char label : gone) dims.push_back(static_cast<int64_t>(term.labels.find(label)));
  return {sum(term.x, dims), where_in(term.labels, kept, true)};
}

// The dimensions in the order of `labels`; x[i] of size 1 where x has none.
Tensor arrange(const Term& term, const Labels& labels) {
  Shape order;
  for (const char label : labels)
    if (has(term.labels, label)) order.push_back(static_cast<int64_t>(term.labels.find(label)));
  Tensor x = permute(term.x, order);
  for (size_t d = 0; d < labels.size(); ++d)
    if (!has(term.labels, labels[d])) x = unsqueeze(x, static_cast<int64_t>(d));
  return x;
}

// x[..., i, ..., i, ...] -> its diagonal: the sum over j of x[..., i, ..., j, ...] where i is j.
Term take_diagonals(Term term, std::string_view equation) {
  constexpr char kOther = 127;  // the label of j
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t j; (j = term.labels.find(term.labels[i], i + 1)) != Labels::npos;) {
      const int64_t n = term.x.size(static_cast<int64_t>(i)), m = term.x.size(static_cast<int64_t>(j));
      check(n == m, "\"", equation, "\": '", std::string(1, term.labels[i]), "' is ", n, " and ", m,
            " in one operand of shape ", term.x.shape(), "; a diagonal needs equal sizes");
      term.labels[j] = kOther;
      const Tensor equal = arrange({eye(n, n, boolean), {term.labels[i], kOther}}, term.labels);
      term = sum_out({where(equal, term.x, 0), term.labels}, where_in(term.labels, {kOther}, false));
    }
  return term;
}

int64_t count(const Tensor& x, size_t from, size_t to) {
  return numel(Shape(x.shape().data() + from, static_cast<int64_t>(to - from)));
}

// Multiplies two terms and sums over the labels of both that are not kept:
//   a [batch, left, summed] x b [batch, summed, right] -> [batch, left, right]
Term contract(Term a, Term b, const Labels& kept) {
  a = sum_out(a, kept + b.labels);
  b = sum_out(b, kept + a.labels);
  const Labels common = where_in(a.labels, b.labels, true);
  const Labels batch = where_in(common, kept, true), summed = where_in(common, kept, false);
  const Labels left = where_in(a.labels, b.labels, false), right = where_in(b.labels, a.labels, false);
  const Labels result = batch + left + right;
  if (summed.empty() && (left.empty() || right.empty()))
    return {arrange(a, result) * arrange(b, result), result};

  const auto match = [&](Term& term, const Term& other) {  // size 1 meets n: repeat it
    Shape shape = term.x.shape();
    for (const char label : summed) {
      const auto mine = static_cast<int64_t>(term.labels.find(label));
      if (shape[mine] == 1) shape[mine] = other.x.shape()[static_cast<int64_t>(other.labels.find(label))];
    }
    term.x = broadcast_to(term.x, shape);
  };
  match(a, b);
  match(b, a);

  const Tensor from_a = arrange(a, batch + left + summed), from_b = arrange(b, batch + summed + right);
  const size_t leads = batch.size();
  const auto matrices = [&](const Tensor& x, size_t middle) {
    Shape shape(x.shape().data(), static_cast<int64_t>(leads));
    shape.push_back(count(x, leads, middle));
    shape.push_back(count(x, middle, static_cast<size_t>(x.dim())));
    return reshape(x, shape);
  };
  const Tensor y = matmul(matrices(from_a, leads + left.size()), matrices(from_b, leads + summed.size()));
  Shape shape(y.shape().data(), static_cast<int64_t>(leads));
  for (size_t d = 0; d < left.size(); ++d) shape.push_back(from_a.shape()[static_cast<int64_t>(leads + d)]);
  for (size_t d = 0; d < right.size(); ++d)
    shape.push_back(from_b.shape()[static_cast<int64_t>(leads + summed.size() + d)]);
  return {reshape(y, shape), result};
}

}  // namespace

// Operands are multiplied from left to right; a letter is summed as soon as no later operand and not the
// result names it. All in public operations: there is no rule here.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, std::source_location line) {
  const Calling here("einsum", line);
  const Equation parsed = parse(equation);
  check(!operands.empty() && parsed.inputs.size() == operands.size(), "\"", equation, "\": it names ",
        parsed.inputs.size(), " operands, and there are ", operands.size());

  std::vector<Term> terms;
  Labels all;  // every label as often as it stands in the operands
  int64_t under_ellipsis = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Tensor& x = operands[i];
    const Labels labels = labels_for(equation, i, parsed.inputs[i], x);
    check(x.dtype() == operands[0].dtype(), "\"", equation, "\": operand ", i, " is ", x.dtype(),
          ", operand 0 ", operands[0].dtype(), "; they must have one dtype, convert with to(x, ",
          operands[0].dtype(), ")");
    all += labels;
    if (has(parsed.inputs[i], '.'))
      under_ellipsis = std::max(under_ellipsis, x.dim() + 1 - static_cast<int64_t>(parsed.inputs[i].size()));
    terms.push_back(take_diagonals({x, labels}, equation));
  }
  Labels ellipsis;
  for (int64_t k = under_ellipsis; k > 0; --k) ellipsis += static_cast<char>(k);

  // Sizes of one letter are equal, or 1.
  for (const Term& term : terms)
    for (const Term& other : terms)
      for (size_t d = 0; d < term.labels.size(); ++d) {
        const size_t e = other.labels.find(term.labels[d]);
        if (e == Labels::npos) continue;
        const int64_t n = term.x.shape()[static_cast<int64_t>(d)],
                      m = other.x.shape()[static_cast<int64_t>(e)];
        check(n == m || n == 1 || m == 1, "\"", equation, "\": ",
              term.labels[d] < 'A' ? "a dimension under ..." : "'" + std::string(1, term.labels[d]) + "'",
              " is ", n, " in ", term.x.shape(), " and ", m, " in ", other.x.shape());
      }

  Labels output;
  if (parsed.output) {
    for (const char c : *parsed.output) {
      if (c == '.') {
        output += ellipsis;
        continue;
      }
      check(has(all, c), "\"", equation, "\": '", std::string(1, c), "' in the result is in no operand");
      check(!has(output, c), "\"", equation, "\": '", std::string(1, c), "' stands twice in the result");
      output += c;
    }
  } else {  // the letters that stand once, in alphabetical order
    Labels letters = all;
    std::sort(letters.begin(), letters.end());
    output = ellipsis;
    for (const char c : letters)
      if (c >= 'A' && std::count(all.begin(), all.end(), c) == 1) output += c;
  }

  Term result = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    Labels kept = output;
    for (size_t later = i + 1; later < terms.size(); ++later) kept += terms[later].labels;
    result = contract(result, terms[i], kept);
  }
  return arrange(sum_out(result, output), output);
}

}  // namespace heed
