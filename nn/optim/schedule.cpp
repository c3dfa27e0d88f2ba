#include "nn/optim/schedule.h"

namespace heed {

Schedule::Schedule(Optimizer& optimizer, Rate rate, Momentum momentum)
    : optimizer_(optimizer.weak()), rate_(std::move(rate)), momentum_(std::move(momentum)) {
  for (size_t group = 0; group < optimizer.groups(); ++group) base_.push_back(optimizer.lr(group));
  set_epoch(0);
}

PreparedLoad Schedule::prepare_epoch(int64_t epoch) {
  const std::shared_ptr<Optimizer> own = optimizer_.lock();
  check(own != nullptr, "schedule: its optimizer is gone; it must live as long as the schedule is used");
  check(epoch >= 0, "set_epoch: ", epoch, " is not an epoch; they count from 0");
  check(own->groups() == base_.size(), "schedule: the optimizer has ", own->groups(), " groups now and had ",
        base_.size(), "; make the schedule after the last group");
  const auto t = static_cast<double>(epoch);
  std::vector<double> rates;
  for (const double base : base_) rates.push_back(rate_(t, base, rates.size()));
  const double momentum = momentum_ ? momentum_(t) : 0;
  return PreparedLoad([this, own, epoch, momentum, load_rates = own->prepare_lr(std::move(rates))]() mutable {
    load_rates.commit();
    for (size_t group = 0; momentum_ && group < base_.size(); ++group)
      if (double* const old = own->momentum(group)) *old = momentum;
    epoch_ = epoch;
  });
}

double Schedule::positive(const char* schedule, const char* name, int64_t value) {
  check(value > 0, schedule, ": ", name, " is ", value, "; it must be at least 1");
  return static_cast<double>(value);
}

// The rate or momentum at step t. It goes from `first` to `peak` and then to `last`. With three phases it
// returns to `first` after the peak.
static double one_cycle(const OneCycleOptions& o, double t, double first, double peak, double last) {
  check(o.total_steps > 1 && o.pct_start >= 0 && o.pct_start <= 1, "OneCycleLR: total_steps is ",
        o.total_steps, ", pct_start ", o.pct_start, "; the first must be at least 2, the second in [0, 1]");
  const auto steps = static_cast<double>(o.total_steps);
  check(t <= steps, "OneCycleLR: step ", t, " of a cycle of total_steps = ", o.total_steps, " steps");
  const auto anneal = [&](double from, double to, double part) {
    return o.linear ? from + (to - from) * part
                    : to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  };
  const double end = steps - 1, up = o.pct_start * steps - 1;
  const double now = std::min(t, end);  // a step after the end of the cycle changes nothing
  if (now <= up) return up > 0 ? anneal(first, peak, now / up) : peak;
  if (!o.three_phase) return anneal(peak, last, (now - up) / (end - up));
  const double down = 2 * up;
  if (now <= down) return anneal(peak, first, (now - up) / (down - up));
  return anneal(first, last, (now - down) / (end - down));
}

static Schedule::Rate one_cycle_rate(const std::vector<double>& max_lr, const OneCycleOptions& options) {
  return [=](double t, double, size_t group) {
    check(group < max_lr.size(), "OneCycleLR: there are ", max_lr.size(),
          " values of max_lr and more groups");
    const double first = max_lr[group] / options.div_factor;
    return one_cycle(options, t, first, max_lr[group], first / options.final_div_factor);
  };
}

static Schedule::Momentum one_cycle_momentum(const OneCycleOptions& o) {
  if (!o.cycle_momentum) return nullptr;
  return [o](double t) { return one_cycle(o, t, o.max_momentum, o.base_momentum, o.max_momentum); };
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, const std::vector<double>& max_lr,
                       const OneCycleOptions& options)
    : Schedule(optimizer, one_cycle_rate(max_lr, options), one_cycle_momentum(options)) {}

}  // namespace heed
