#include "nn/view/rules.h"

#include <map>
#include <sstream>

#include "nn/view/markup.h"

namespace heed {

// $1, $2 and $3 are the operands, $y is the result; a part that begins with d$1 is the gradient of the first.
// Over an operand that was broadcast the engine sums what the rule gives.
static const std::map<std::string_view, const char*>& rules() {
  // clang-format off
  static const std::map<std::string_view, const char*> all = {
      {"abs", "d$1 = g sign($1)"},
      {"add", "d$1 = g; d$2 = g"},
      {"addmm", "d$1 = beta g; d$2 = alpha g $3ᵀ; d$3 = alpha $2ᵀ g"},
      {"alias", "d$1 = g"},
      {"amax", "d$1 = g where $1 is largest, shared by equals"},
      {"amin", "d$1 = g where $1 is smallest, shared by equals"},
      {"blocked_attention", "A = softmax($1 $2ᵀ / √d), dA = g $3ᵀ, dS = A (dA − Σ A dA): d$1 = dS $2 / √d; d$2 = dSᵀ $1 / √d; d$3 = Aᵀ g"},
      {"bmm", "d$1 = g $2ᵀ; d$2 = $1ᵀ g"},
      {"cat", "each part has its part of g"},
      {"clamp", "d$1 = g inside the bounds, 0 outside"},
      {"clone", "d$1 = g"},
      {"contiguous", "d$1 = g"},
      {"cos", "d$1 = −g sin($1)"},
      {"cross_entropy", "d$1 = g (softmax($1) − target), over their number in a mean"},
      {"cumsum", "d$1 at i = Σ of g over the sums that hold it"},
      {"div", "d$1 = g / $2; d$2 = −g $1 / $2²"},
      {"elu", "d$1 = g where $1 > 0, g alpha exp($1) elsewhere"},
      {"embedding", "d$1: each index adds its part of g to its row"},
      {"erf", "d$1 = g 2/√π exp(−$1²)"},
      {"exp", "d$1 = g $y"},
      {"expand", "d$1 = Σ of g over what was repeated"},
      {"expm1", "d$1 = g ($y + 1)"},
      {"flip", "d$1 = g flipped back"},
      {"floor", "d$1 = 0"},
      {"gather", "d$1: g added at the positions that were read"},
      {"gelu", "d$1 = g (Φ($1) + $1 φ($1))"},
      {"index_add", "d$1 = g at the positions"},
      {"index_select", "d$1: g added at the positions that were read"},
      {"layer_norm", "z = ($1 − mean) / std, h = g $2: d$1 = (h − mean h − z mean(h z)) / std; d$2 = Σ g z; d$3 = Σ g"},
      {"leaky_relu", "d$1 = g where $1 > 0, slope g elsewhere"},
      {"linear", "d$1 = g $2; d$2 = gᵀ $1; d$3 = Σ of g over the rows"},
      {"log", "d$1 = g / $1"},
      {"log1p", "d$1 = g / ($1 + 1)"},
      {"log_softmax", "d$1 = g − exp($y) Σ g"},
      {"logsumexp", "d$1 = g exp($1 − $y)"},
      {"masked_softmax", "d$1 = $y (g − Σ g $y)"},
      {"matmul", "d$1 = g $2ᵀ; d$2 = $1ᵀ g"},
      {"max", "d$1 = g where $1 is largest"},
      {"maximum", "d$1 = g where it is larger, g / 2 where equal; d$2 = g where that is larger, g / 2 where equal"},
      {"mean", "d$1 = g / n"},
      {"min", "d$1 = g where $1 is smallest"},
      {"minimum", "d$1 = g where it is smaller, g / 2 where equal; d$2 = g where that is smaller, g / 2 where equal"},
      {"mm", "d$1 = g $2ᵀ; d$2 = $1ᵀ g"},
      {"mul", "d$1 = g $2; d$2 = g $1"},
      {"narrow", "d$1 = g at the positions, 0 elsewhere"},
      {"neg", "d$1 = −g"},
      {"normal_cdf", "d$1 = g φ($1)"},
      {"outer", "d$1 = g $2; d$2 = gᵀ $1"},
      {"pad", "d$1 = g cut to the size of $1"},
      {"permute", "d$1 = g in the order of before"},
      {"pow", "d$1 = g $2 $1^($2 − 1); d$2 = g $y log($1)"},
      {"reciprocal", "d$1 = −g $y²"},
      {"recurrence", "from the last step to the first, as the cell's formulas have it"},
      {"relu", "d$1 = g where $y > 0, 0 elsewhere"},
      {"reshape", "d$1 = g in the shape of $1"},
      {"rms_norm", "z = $1 / rms, h = g $2: d$1 = (h − z mean(h z)) / rms; d$2 = Σ g z"},
      {"rsqrt", "d$1 = −g $y³ / 2"},
      {"scatter_add", "d$1 = g; d$2 = g at the positions"},
      {"select", "d$1 = g at the position, 0 elsewhere"},
      {"sigmoid", "d$1 = g $y (1 − $y)"},
      {"sign", "d$1 = 0"},
      {"silu", "s = sigmoid($1): d$1 = g s (1 + $1 (1 − s))"},
      {"sin", "d$1 = g cos($1)"},
      {"slice", "d$1 = g at the positions, 0 elsewhere"},
      {"softmax", "d$1 = $y (g − Σ g $y)"},
      {"softplus", "d$1 = g sigmoid(beta $1)"},
      {"sparsemax", "d$1 = g − the mean of g over $y > 0, 0 elsewhere"},
      {"spread", "d$1 = g at the positions"},
      {"sqrt", "d$1 = g / (2 $y)"},
      {"square", "d$1 = 2 g $1"},
      {"squeeze", "d$1 = g in the shape of $1"},
      {"sub", "d$1 = g; d$2 = −g"},
      {"sum", "d$1 = g, laid over what was summed"},
      {"sum_to", "d$1 = g, laid over what was summed"},
      {"tanh", "d$1 = g (1 − $y²)"},
      {"to", "d$1 = g in the dtype of $1"},
      {"transpose", "d$1 = gᵀ"},
      {"unsqueeze", "d$1 = g in the shape of $1"},
      {"var", "d$1 = 2 g ($1 − mean) / (n − correction)"},
      {"view", "d$1 = g in the shape of $1"},
      {"where", "d$1 = g where it was taken; d$2 = g where that was taken"},
  };
  // clang-format on
  return all;
}

std::vector<std::string> detail::operations_with_rules() {
  std::vector<std::string> names;
  for (const auto& [name, rule] : rules()) names.emplace_back(name);
  return names;
}

std::string gradient_rule(const std::string& operation, const std::vector<RuleOperand>& operands,
                          const std::string& result) {
  const auto found = rules().find(operation);
  if (found == rules().end()) return "";
  std::string text, letters;  // "z = ..., h = ...: ", before the first gradient that is wanted
  std::istringstream parts(found->second);
  for (std::string part; std::getline(parts, part, ';');) {
    part.erase(0, part.find_first_not_of(' '));
    if (const size_t colon = part.find(": d$"); colon != std::string::npos) {
      letters = part.substr(0, colon + 2);
      part.erase(0, colon + 2);
    }
    if (part.starts_with("d$")) {
      const auto of = static_cast<size_t>(part[2] - '1');
      if (of >= operands.size() || !operands[of].needs_gradient) continue;
    }
    part.insert(0, text.empty() ? letters : ", ");
    for (size_t at = 0; at < part.size(); ++at) {
      if (part[at] != '$') {
        text += part[at];
      } else if (const char letter = part[++at]; letter == 'y') {
        text += result;
      } else if (const auto of = static_cast<size_t>(letter - '1'); of < operands.size()) {
        text += operands[of].name;
      }
    }
  }
  return text;
}

}  // namespace heed
