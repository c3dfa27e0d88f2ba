#include "nn/text/search.h"

#include "autograd/grad_mode.h"
#include "autograd/ops/basic.h"
#include "autograd/ops/sort.h"

namespace heed {
namespace {

// An unfinished sentence. The beams of one sentence are neighbors, the best first.
struct Beam {
  int64_t sentence;
  int64_t parent;  // its row in the previous step
  int64_t last;    // of its tokens, at first bos
  Ids tokens;
  double log_probability;
};

// A beam continued by a token.
struct Candidate {
  int64_t row, token;
  double log_probability;
};

// The `width` best candidates of each beam.
std::vector<Candidate> candidates_of(const std::vector<Beam>& beams, const DecodeStep& step, int64_t width) {
  const int64_t rows = std::ssize(beams);
  const Ids tokens = detail::mapped(beams, &Beam::last), parents = detail::mapped(beams, &Beam::parent);
  const Tensor y = step(from_vector(tokens, {rows}), from_vector(parents, {rows}));
  check(y.dim() == 2 && y.size(0) == rows && y.size(1) > 0, "beam_search: the step returned ", y.shape(),
        " for ", rows, " rows; it must return log-probabilities [", rows, ", V]");
  const OpScope scope("beam_search");
  check_floating(y);
  check_in("beam_search", !any(isnan(y)).item<bool>(), "a log-probability is NaN");
  const auto [values, indices] = topk(y, std::min(width, y.size(1)));  // [N, width]
  const std::vector<double> log_probabilities = values.to_vector();
  const Ids next = indices.to_vector<int64_t>();
  std::vector<Candidate> candidates;
  for (int64_t i = 0; i < std::ssize(next); ++i) {
    const int64_t row = i / values.size(1);
    if (log_probabilities[i] > -INFINITY)
      candidates.push_back({row, next[i], beams[row].log_probability + log_probabilities[i]});
  }
  return candidates;
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const DecodeStep& step, int64_t batch,
                                                 const SearchOptions& options) {
  check(batch >= 0 && options.width >= 1 && options.max_length >= 1 && std::isfinite(options.alpha),
        "beam_search: batch ", batch, ", width ", options.width, ", max_length ", options.max_length,
        ", alpha ", options.alpha, "; width and max_length must be at least 1, alpha finite");
  check(static_cast<bool>(step), "beam_search: there is no step");
  const NoGrad guard;
  std::vector<std::vector<Hypothesis>> results(batch);
  std::vector<Beam> beams;
  for (int64_t b = 0; b < batch; ++b) beams.push_back({b, b, Vocabulary::bos, {}, 0});

  for (int64_t length = 1; !beams.empty(); ++length) {
    std::vector<Candidate> candidates = candidates_of(beams, step, options.width);
    std::ranges::stable_sort(candidates, std::greater{}, &Candidate::log_probability);
    // For further beams of each sentence.
    Ids places = detail::mapped(results, [&](const auto& one) { return options.width - std::ssize(one); });
    std::vector<Beam> kept;
    for (const auto& [row, token, log_probability] : candidates) {
      const int64_t sentence = beams[row].sentence;
      if (places[sentence] == 0) continue;
      --places[sentence];
      Ids tokens = beams[row].tokens;
      const bool ended = token == options.end;
      if (!ended) tokens.push_back(token);
      if (ended || length == options.max_length) {
        const double score = log_probability / std::pow(static_cast<double>(length), options.alpha);
        results[sentence].push_back({std::move(tokens), log_probability, score, ended});
      } else {
        kept.push_back({sentence, row, token, std::move(tokens), log_probability});
      }
    }
    for (const Beam& beam : beams)
      check(places[beam.sentence] < options.width, "beam_search: no token can follow: all log-probabilities ",
            "of sentence ", beam.sentence, " are -inf");
    std::ranges::stable_sort(kept, {}, &Beam::sentence);
    beams = std::move(kept);
  }
  for (auto& result : results) std::ranges::stable_sort(result, std::greater{}, &Hypothesis::score);
  return results;
}

std::vector<Ids> greedy_search(const DecodeStep& step, int64_t batch, int64_t max_length,
                               std::optional<int64_t> end) {
  return detail::mapped(beam_search(step, batch, {.max_length = max_length, .end = end}),
                        [](const auto& found) { return found.front().tokens; });
}

}  // namespace heed
