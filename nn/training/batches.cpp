#include "nn/training/batches.h"

#include "autograd/ops/shape.h"
#include "tensor/create.h"

namespace heed {

Batches::Batches(int64_t n, int64_t batch_size, const BatchesOptions& options)
    : n_(n), batch_size_(batch_size), options_(options) {
  check(n >= 1 && batch_size >= 1, "Batches: n is ", n, " and batch_size is ", batch_size,
        "; both must be at least 1");
  check(per_epoch() > 0, "Batches: drop_last leaves no batch, since batch_size ", batch_size, " exceeds n ",
        n);
  begin_epoch();
}

int64_t Batches::per_epoch() const {
  return options_.drop_last ? n_ / batch_size_ : (n_ - 1) / batch_size_ + 1;
}

void Batches::begin_epoch() {
  epoch_position_ = options_.generator.position();
  order_ = options_.shuffle ? randperm(n_, &options_.generator) : arange(n_, int64);
  ++epoch_;
  taken_ = 0;
}

Tensor Batches::next() {
  if (taken_ == per_epoch()) begin_epoch();
  const int64_t first = batch_size_ * taken_++;
  return narrow(order_, 0, first, std::min(batch_size_, n_ - first));
}

std::vector<Tensor> Batches::epoch() {
  std::vector<Tensor> batches = {next()};
  while (taken_ < per_epoch()) batches.push_back(next());
  return batches;
}

StateDict Batches::state_dict() const {
  const Generator& generator = options_.generator;
  const std::vector<uint64_t> place = {generator.seed(), generator.stream(), epoch_position_,
                                       static_cast<uint64_t>(epoch_), static_cast<uint64_t>(taken_)};
  return {{"place", from_vector(std::vector<int64_t>(place.begin(), place.end()), {5})}};
}

void Batches::load_state_dict(const StateDict& state) {
  const auto found = state.find("place");
  check(state.size() == 1 && found != state.end() && found->second.dtype() == int64 &&
            found->second.shape() == Shape{5},
        "Batches: load_state_dict: the state must be \"place\", int64 [5]");
  const auto place = found->second.to_vector<int64_t>();
  check(place[3] >= 0 && place[4] >= 0 && place[4] <= per_epoch(), "Batches: batch ", place[4], " of epoch ",
        place[3], "; an epoch has ", per_epoch());
  Batches loaded = *this;
  loaded.options_.generator = Generator(static_cast<uint64_t>(place[0]), static_cast<uint64_t>(place[1]));
  loaded.options_.generator.set_position(static_cast<uint64_t>(place[2]));
  loaded.begin_epoch();
  loaded.epoch_ = place[3];
  loaded.taken_ = place[4];
  *this = std::move(loaded);
}

}  // namespace heed
