#include "nn/optim/schedule.h"

namespace heed {

Schedule::Schedule(Optimizer& optimizer, Rate rate) : optimizer_(optimizer.weak()), rate_(std::move(rate)) {
  for (size_t group = 0; group < optimizer.groups(); ++group) base_.push_back(optimizer.lr(group));
  Schedule::prepare_epoch(0).commit();
}

Optimizer& Schedule::optimizer() const {
  const std::shared_ptr<Optimizer> alive = optimizer_.lock();
  check(alive != nullptr, "schedule: its optimizer is gone; it must live as long as the schedule is used");
  return *alive;
}

PreparedLoad Schedule::prepare_epoch(int64_t epoch) {
  Optimizer& own = optimizer();
  check(epoch >= 0, "set_epoch: ", epoch, " is not an epoch; they count from 0");
  check(own.groups() == base_.size(), "schedule: the optimizer has ", own.groups(), " groups now and had ",
        base_.size(), "; make the schedule after the last group");
  std::vector<double> rates;
  for (size_t group = 0; group < base_.size(); ++group) {
    rates.push_back(rate_(static_cast<double>(epoch), base_[group], group));
    own.check_lr(rates.back());
  }
  return PreparedLoad([this, &own, epoch, rates = std::move(rates)] {
    own.set_lr(rates);
    epoch_ = epoch;
  });
}

double Schedule::positive(const char* schedule, const char* name, int64_t value) {
  check(value > 0, schedule, ": ", name, " is ", value, "; it must be at least 1");
  return static_cast<double>(value);
}

namespace {

// The cycle runs through rates or momenta first -> most -> last, in two phases; or in three, passing `first`
// again on the way down.
double one_cycle(const OneCycleOptions& o, double t, double first, double most, double last) {
  check(o.total_steps > 1 && o.pct_start >= 0 && o.pct_start <= 1, "OneCycleLR: total_steps is ",
        o.total_steps, ", pct_start ", o.pct_start, "; the first must be at least 2, the second in [0, 1]");
  const auto steps = static_cast<double>(o.total_steps);
  check(t <= steps, "OneCycleLR: step ", t, " of a cycle of total_steps = ", o.total_steps, " steps");
  const auto anneal = [&](double from, double to, double part) {
    return o.linear ? from + (to - from) * part
                    : to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  };
  const double end = steps - 1, up = o.pct_start * steps - 1;
  const double now = std::min(t, end);  // a last step after the cycle changes nothing
  if (now <= up) return up > 0 ? anneal(first, most, now / up) : most;
  if (!o.three_phase) return anneal(most, last, (now - up) / (end - up));
  const double down = 2 * up;
  if (now <= down) return anneal(most, first, (now - up) / (down - up));
  return anneal(first, last, (now - down) / (end - down));
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, std::vector<double> max_lr, const OneCycleOptions& options)
    : Schedule(optimizer,
               [max_lr = std::move(max_lr), options](double t, double, size_t group) {
                 check(group < max_lr.size(), "OneCycleLR: there are ", max_lr.size(),
                       " values of max_lr and more groups");
                 const double first = max_lr[group] / options.div_factor;
                 return one_cycle(options, t, first, max_lr[group], first / options.final_div_factor);
               }),
      options_(options) {
  OneCycleLR::prepare_epoch(0).commit();
}

PreparedLoad OneCycleLR::prepare_epoch(int64_t epoch) {
  PreparedLoad rates = Schedule::prepare_epoch(epoch);
  if (!options_.cycle_momentum) return rates;
  const double most = options_.max_momentum;
  const double now = one_cycle(options_, static_cast<double>(epoch), most, options_.base_momentum, most);
  return PreparedLoad([&own = optimizer(), rates = std::move(rates), now]() mutable {
    rates.commit();
    for (size_t group = 0; group < own.groups(); ++group)
      if (double* momentum = own.momentum(group)) *momentum = now;
  });
}

}  // namespace heed
