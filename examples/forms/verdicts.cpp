#include "examples/forms/verdicts.h"

#include "examples/shared/program.h"

namespace program {
namespace {

const Trained* found(const std::vector<Trained>& trained, const std::string& task, const std::string& form) {
  for (const Trained& t : trained)
    if (t.task == task && t.form == form) return &t;
  return nullptr;
}

}  // namespace

std::vector<Verdict> judge(const std::vector<Trained>& trained) {
  std::vector<Verdict> verdicts;
  const auto short_of = [](double x) { return short_number(x); };
  const auto recall = [&](const std::string& form) { return found(trained, "recall", form); };
  const Trained *softmax = recall("softmax"), *linear = recall("linear"), *delta = recall("delta");
  if (softmax && linear) {
    const double lost = softmax->accuracy - linear->accuracy;
    verdicts.push_back({"linear_fails",
                        "Linear attention fails at recall of many pairs (Schlag, Irie and Schmidhuber, 2021)",
                        "its accuracy is lower by at least 0.2",
                        "softmax " + short_of(softmax->accuracy) + ", linear " + short_of(linear->accuracy),
                        lost >= 0.2});
    if (delta)
      verdicts.push_back({"delta_repairs", "The delta rule repairs it (the same)",
                          "it makes up for at least half of the difference",
                          "linear " + short_of(linear->accuracy) + ", delta " + short_of(delta->accuracy) +
                              ", softmax " + short_of(softmax->accuracy),
                          lost >= 0.2 && delta->accuracy - linear->accuracy >= 0.5 * lost});
  }
  const auto longer = [&](const std::string& name, const std::string& form, const std::string& statement,
                          bool extrapolates) {
    const Trained* t = found(trained, "text", form);
    if (!t) return;
    const double more = t->longer_loss - t->loss;
    verdicts.push_back({name, statement,
                        extrapolates ? "the loss beyond the trained length is higher by at most 0.2"
                                     : "the loss beyond the trained length is higher by more than 0.5",
                        "within " + short_of(t->loss) + ", beyond " + short_of(t->longer_loss),
                        extrapolates ? more <= 0.2 : more > 0.5});
  };
  longer("alibi_extrapolates", "alibi", "ALiBi extrapolates to longer texts (Press, Smith and Lewis, 2022)",
         true);
  longer("window_extrapolates", "window",
         "Windows extrapolate to longer texts (Beltagy, Peters and Cohan, 2020)", true);
  longer("learned_does_not", "learned", "Learned positions do not (Press, Smith and Lewis, 2022)", false);
  const Trained *without = found(trained, "copy", "hard"), *with = found(trained, "copy", "hard_baseline");
  if (without && with) {
    const auto steps = [](const Trained& t) {
      return t.halved_after > 0 ? std::to_string(t.halved_after) : "more than " + std::to_string(t.steps);
    };
    const int64_t least = without->halved_after > 0 ? without->halved_after : without->steps;
    verdicts.push_back({"hard_baseline", "Hard attention needs a baseline (Xu et al., 2015)",
                        "with one, the loss of copying is halved in at most two thirds of the steps",
                        "without after " + steps(*without) + " steps, with after " + steps(*with),
                        with->halved_after > 0 && 3 * with->halved_after <= 2 * least});
  }
  return verdicts;
}

}  // namespace program
