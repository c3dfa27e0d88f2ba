#include "examples/forms/form_list.h"

#include <set>

#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("form_list: every form makes a layer that is causal") {
  std::set<std::string> names;
  const Tensor x = randn({2, 12, 32}), other = cat({narrow(x, 1, 0, 7), randn({2, 5, 32})}, 1);
  for (const program::Form& form : program::all_forms()) {
    CAPTURE(form.name);
    CHECK(names.insert(form.name).second);
    CHECK(!form.sentence.empty());
    CHECK(form.baseline <= form.reinforced);
    const program::FormPlace place{.choices = std::make_shared<program::HardChoices>()};
    const MultiheadAttention attention(place.width, place.heads, form.options(place));
    if (form.name == "gumbel") continue;  // its noise differs from call to call
    const NoGrad guard;
    const AttentionOptions causal{.is_causal = true};
    const Tensor y = narrow(attention(x, causal).output, 1, 0, 7),
                 z = narrow(attention(other, causal).output, 1, 0, 7);
    CHECK(max(abs(y - z)).item() < 1e-5);
  }
  CHECK(names.size() >= 30);
}

TEST_CASE("form_list: forms by name") {
  CHECK(program::find_form("alibi").name == "alibi");
  CHECK_ERROR_HAS(program::find_form("alib"), "--form is alib; it must be all, or some of softmax");
}

TEST_CASE("form_list: sampled attention keeps its choices, and takes the largest score in evaluation") {
  const auto choices = std::make_shared<program::HardChoices>();
  const program::SampledNormaliser normaliser{choices};
  const Tensor scores = tensor({{{0, 3, 1}, {2, 0, 0}}}).requires_grad_();
  const Tensor weights = normaliser(scores, Mask());
  CHECK(max(abs(sum(weights, -1) - 1)).item() == 0);
  const Tensor expected = sum(log_softmax(scores, -1) * weights, -1);
  CHECK(max(abs(choices->log_prob - expected)).item() < 1e-6);
  const NoGrad guard;
  CHECK(all(normaliser(scores, Mask()) == tensor({{{0, 1, 0}, {1, 0, 0}}})).item<bool>());
}
