#include "examples/forms/attended.h"

#include "tests/support/expect.h"

using namespace heed;

TEST_CASE("attended: every form has a causal map whose rows are at most 1") {
  const program::Task& task = program::find_task("copy");
  const Tensor ids = task.draw(1, 4, true).ids;
  for (const program::Form& form : program::all_forms()) {
    CAPTURE(form.name);
    const program::SequenceModel model(form, task);
    const program::Attended attended = program::what_is_attended(model, ids);
    CHECK(attended.of_inputs == (form.time == 1 && !contains(form.name, "window")));
    const int64_t more = form.name == "memory" ? 4 : 0;
    REQUIRE(attended.weights.dim() == 3);
    CHECK(attended.weights.size(-1) == 8 + more);
    const Tensor later = triu(attended.weights, more + 1);
    CHECK(max(abs(later)).item() == 0);
    const program::AttendedPicture picture = program::attended_picture(model, form, task, ids);
    CHECK(picture.task == "copy");
    CHECK(contains(picture.svg, "<svg"));
    CHECK(contains(picture.svg, "influence of the inputs") == attended.of_inputs);
  }
}

TEST_CASE("attended: the influence of inputs is that of the derivative") {
  manual_seed(2);
  const MultiheadAttention attention(8, 2, {.core = LinearCore()});
  const Tensor x = randn({1, 3, 8}), influence = program::input_influence(attention, x, 4000);
  Tensor expected = zeros({3, 3});
  for (int64_t i = 0; i < 3; ++i) {
    Tensor squares = zeros({3});
    for (int64_t e = 0; e < 8; ++e) {
      const Tensor leaf = x.detach().requires_grad_();
      const Tensor y = attention(leaf, AttentionOptions{.is_causal = true}).output;
      sum(narrow(narrow(y, 1, i, 1), 2, e, 1)).backward();
      squares = squares + sum(square(squeeze(leaf.grad(), 0)), -1);
    }
    const Tensor norms = sqrt(squares);
    CHECK(max(abs(influence[0][i] - norms / sum(norms))).item() < 0.03);
  }
}

TEST_CASE("attended: a page with the maps of each task side by side") {
  const std::string page = program::attended_page(
      {{"copy", "<svg>1</svg>"}, {"one & two", "<svg>2</svg>"}, {"one & two", "<svg>3</svg>"}});
  CHECK(occurrences(page, "<h2>") == 2);
  CHECK(occurrences(page, "<figure>") == 3);
  CHECK(occurrences(page, "<div") == occurrences(page, "</div>"));
  CHECK(contains(page, "one &amp; two"));
}
