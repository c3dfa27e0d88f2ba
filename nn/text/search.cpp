#include "nn/text/search.h"

#include "autograd/grad_mode.h"
#include "autograd/ops/index.h"
#include "autograd/ops/logic.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/sort.h"
#include "tensor/create.h"

namespace heed {
namespace {

// An unfinished sentence. Rows of one sentence are neighbours, the best first.
struct Beam {
  int64_t sentence, parent;  // parent: its row one step before
  Ids tokens;
  double log_probability;
};

struct Candidate {
  int64_t row, token;
  double log_probability;
};

// The `width` best continuations of every row, [N, k] each.
ValuesIndices continuations(const Tensor& log_probabilities, int64_t rows, int64_t width) {
  check(log_probabilities.dim() == 2 && log_probabilities.size(0) == rows && log_probabilities.size(1) > 0,
        "beam_search: the step answered ", log_probabilities.shape(), " for ", rows,
        " rows; it must give log-probabilities [", rows, ", V]");
  const OpScope scope("beam_search");
  check_floating(log_probabilities);
  check_in("beam_search", !any(isnan(log_probabilities)).item<bool>(), "a log-probability is NaN");
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
  for (int64_t b = 0; b < batch; ++b) beams.push_back({b, b, {}, 0});

  for (int64_t length = 1; !beams.empty(); ++length) {
    const int64_t rows = std::ssize(beams);
    Ids tokens, parents;
    for (const Beam& beam : beams) {
      tokens.push_back(beam.tokens.empty() ? Vocabulary::bos : beam.tokens.back());
      parents.push_back(beam.parent);
    }
    const auto [values, indices] =
        continuations(step(from_vector(tokens, {rows}), from_vector(parents, {rows})), rows, options.width);
    const std::vector<double> next_log = values.to_vector();
    const Ids next = indices.to_vector<int64_t>();
    const int64_t each = std::ssize(next) / rows;

    std::vector<Beam> kept;
    for (int64_t first = 0; first < rows;) {
      const int64_t sentence = beams[first].sentence;
      std::vector<Hypothesis>& result = results[sentence];
      std::vector<Candidate> candidates;
      for (; first < rows && beams[first].sentence == sentence; ++first)
        for (int64_t i = first * each; i < (first + 1) * each; ++i)
          if (next_log[i] > -INFINITY)
            candidates.push_back({first, next[i], beams[first].log_probability + next_log[i]});
      std::ranges::stable_sort(candidates, std::greater{}, &Candidate::log_probability);
      const size_t places = static_cast<size_t>(options.width) - result.size();
      candidates.resize(std::min(candidates.size(), places), {});

      for (const auto& [row, token, log_probability] : candidates) {
        Ids sequence = beams[row].tokens;
        const bool ended = token == options.end;
        if (!ended) sequence.push_back(token);
        if (ended || length == options.max_length) {
          const double score = log_probability / std::pow(static_cast<double>(length), options.alpha);
          result.push_back({std::move(sequence), log_probability, score, ended});
        } else {
          kept.push_back({sentence, row, std::move(sequence), log_probability});
        }
      }
      check(!result.empty() || (!kept.empty() && kept.back().sentence == sentence),
            "beam_search: no token can follow: all log-probabilities of sentence ", sentence, " are -inf");
    }
    beams = std::move(kept);
  }
  for (auto& result : results) std::ranges::stable_sort(result, std::greater{}, &Hypothesis::score);
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
