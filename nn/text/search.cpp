#include "nn/text/search.h"

#include <algorithm>
#include <cmath>

#include "autograd/grad_mode.h"
#include "autograd/ops.h"
#include "tensor/create.h"

namespace heed {
namespace {

// An unfinished sentence. Rows of one sentence are neighbours, the best first.
struct Beam {
  int64_t sentence;
  Ids tokens;
  double log_probability;
};

struct Candidate {
  size_t row;
  int64_t token;
  double log_probability;
};

// The `width` best continuations of every row, [N, k] each.
ValuesIndices continuations(const Tensor& log_probabilities, int64_t rows, int64_t width) {
  check(log_probabilities.dim() == 2 && log_probabilities.size(0) == rows && log_probabilities.size(1) > 0,
        "beam_search: the step answered ", log_probabilities.shape(), " for ", rows,
        " rows; it must give log-probabilities [", rows, ", V]");
  const Calling here("beam_search");
  check_floating(log_probabilities);
  check(!any(isnan(log_probabilities)).item<bool>(), "beam_search: a log-probability is NaN");
  return topk(log_probabilities, std::min(width, log_probabilities.size(1)));
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const DecodeStep& step, int64_t batch,
                                                 const SearchOptions& options) {
  check(batch >= 0 && options.width >= 1 && options.max_length >= 1 && std::isfinite(options.alpha),
        "beam_search: batch ", batch, ", width ", options.width, ", max_length ", options.max_length,
        ", alpha ", options.alpha, "; width and max_length must be at least 1, alpha finite");
  check(static_cast<bool>(step), "beam_search: there is no step");
  const NoGrad guard;
  std::vector<std::vector<Hypothesis>> results(static_cast<size_t>(batch));
  std::vector<Beam> beams;
  Ids tokens(static_cast<size_t>(batch), Vocabulary::bos), parents;
  for (int64_t b = 0; b < batch; ++b) {
    beams.push_back({b, {}, 0});
    parents.push_back(b);
  }

  for (int64_t length = 1; !beams.empty(); ++length) {
    const auto rows = static_cast<int64_t>(beams.size());
    const auto [values, indices] =
        continuations(step(from_vector(tokens, {rows}), from_vector(parents, {rows})), rows, options.width);
    const std::vector<double> next_log = values.to_vector();
    const Ids next = indices.to_vector<int64_t>();
    const size_t each = next.size() / beams.size();

    std::vector<Beam> kept;
    tokens.clear();
    parents.clear();
    for (size_t row = 0; row < beams.size();) {
      const int64_t sentence = beams[row].sentence;
      std::vector<Hypothesis>& result = results[static_cast<size_t>(sentence)];
      std::vector<Candidate> candidates;
      for (; row < beams.size() && beams[row].sentence == sentence; ++row)
        for (size_t i = row * each; i < (row + 1) * each; ++i)
          if (next_log[i] > -INFINITY)
            candidates.push_back({row, next[i], beams[row].log_probability + next_log[i]});
      std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return a.log_probability > b.log_probability;
      });
      const size_t places = static_cast<size_t>(options.width) - result.size();
      candidates.resize(std::min(candidates.size(), places), {});

      for (const auto& [parent, token, log_probability] : candidates) {
        Ids sequence = beams[parent].tokens;
        const bool ended = token == options.end;
        if (!ended) sequence.push_back(token);
        if (ended || length == options.max_length) {
          const double score = log_probability / std::pow(static_cast<double>(length), options.alpha);
          result.push_back({std::move(sequence), log_probability, score, ended});
        } else {
          tokens.push_back(token);
          parents.push_back(static_cast<int64_t>(parent));
          kept.push_back({sentence, std::move(sequence), log_probability});
        }
      }
      check(!result.empty() || (!kept.empty() && kept.back().sentence == sentence),
            "beam_search: no token can follow: all log-probabilities of sentence ", sentence, " are -inf");
    }
    beams = std::move(kept);
  }
  for (auto& result : results)
    std::stable_sort(result.begin(), result.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return results;
}

std::vector<Ids> greedy_search(const DecodeStep& step, int64_t batch, int64_t max_length,
                               std::optional<int64_t> end) {
  std::vector<Ids> sentences;
  for (auto& found : beam_search(step, batch, {.max_length = max_length, .end = end}))
    sentences.push_back(std::move(found.front().tokens));
  return sentences;
}

}  // namespace heed
