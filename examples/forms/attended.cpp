#include "examples/forms/attended.h"

#include <heed/view.h>

#include "nn/view/markup.h"

namespace program {

using namespace heed;

Tensor input_influence(const MultiheadAttention& attention, const Tensor& x, int64_t samples) {
  // Entry (s, i) of a batch has the loss r_s . y_i, so that one backward pass computes all rows.
  const int64_t T = x.size(1), E = x.size(2);
  const Tensor copies = contiguous(expand(x.detach(), {samples * T, T, E})).requires_grad_();
  const Tensor y = view(attention(copies, AttentionOptions{.is_causal = true}).output, {samples, T, T, E});
  const Tensor signs = to(randint(0, 2, {samples, 1, 1, E}), y.dtype()) * 2 - 1;
  const Tensor own = unsqueeze(eye(T, -1, y.dtype()), -1);  // of entry i only output i
  sum(y * signs * own).backward();
  const Tensor squares = mean(sum(square(view(copies.grad(), {samples, T, T, E})), -1), 0);
  const Tensor norms = sqrt(squares);
  return unsqueeze(norms / (sum(norms, -1, true) + 1e-30), 0);
}

Attended what_is_attended(const SequenceModel& model, const Tensor& ids) {
  const MultiheadAttention& attention = model.layers.back().self_attn;
  Tensor x;
  AttentionScope scope;
  {
    const NoGrad guard;
    x = model.before_last(ids);
    if (!attention.form.core) {
      const AttentionOptions options{.is_causal = true, .need_weights = true, .average_attn_weights = false};
      return {squeeze(attention(x, options).weights, 0)};
    }
    const size_t before = scope.calls().size();
    attention(x, AttentionOptions{.is_causal = true});
    if (scope.calls().size() > before) return {squeeze(scope.calls().back().weights, 0)};
  }
  return {input_influence(attention, x), true};
}

AttendedPicture attended_picture(const SequenceModel& model, const Form& form, const Task& task,
                                 const Tensor& ids) {
  const Attended attended = what_is_attended(model, ids);
  Tensor weights = mean(attended.weights, 0);
  Tokens queries, keys;
  for (const int64_t id : flatten(ids).to_vector<int64_t>()) queries.push_back(task.word(id));
  keys = queries;
  const int64_t more = weights.size(-1) - std::ssize(queries);  // memory tokens are before the others
  keys.insert(keys.begin(), static_cast<size_t>(more), "m");
  const int64_t T = std::ssize(queries);
  const Mask mask = Mask::causal(T, more);
  const std::string note = attended.of_inputs ? " (influence of the inputs)" : "";
  const AttentionMap map(weights, queries, keys,
                         {.sentence = form.name, .module = form.sentence + note, .mask = mask});
  return {task.name, attention_svg(map)};
}

std::string attended_page(const std::vector<AttendedPicture>& pictures) {
  std::string page = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What each form of attention attends to</title>
<style>
body { font: 16px sans-serif; margin: 1rem; }
.maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); gap: 1.5rem; }
figure { margin: 0; }
figure svg { width: 100%; height: auto; }
</style>
</head>
<body>
<h1>What each form of attention attends to</h1>
<p>The mean of the heads of the last layer, for one sequence that was not trained on. A row is a query, a column a key.
Forms with a state have no weights: their maps show how much each input changes each output.</p>
)";
  std::string task;
  for (const AttendedPicture& picture : pictures) {
    if (picture.task != task)
      page += (task.empty() ? "" : "</div>\n") +
              detail::line("<h2>{}</h2>\n<div class=\"maps\">", detail::escaped(picture.task));
    task = picture.task;
    page += "<figure>\n" + picture.svg + "</figure>\n";
  }
  return page + (task.empty() ? "" : "</div>\n") + "</body>\n</html>\n";
}

}  // namespace program
