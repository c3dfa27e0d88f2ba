#include "nn/training/batches.h"

#include "autograd/ops/basic.h"

namespace heed {

Batches::Batches(int64_t n, int64_t batch_size, const BatchesOptions& options)
    : n_(n), batch_size_(batch_size), options_(options) {
  check(n >= 1 && batch_size >= 1, "Batches: n is ", n, " and batch_size is ", batch_size,
        "; both must be at least 1");
  check(per_epoch() > 0, "Batches: drop_last leaves no batch, since batch_size ", batch_size, " exceeds n ",
        n);
  begin_epoch();
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
  std::vector<int64_t> place = {n_, batch_size_, options_.shuffle, options_.drop_last};
  for (const uint64_t bits : {generator.seed(), generator.stream(), epoch_position_})
    place.push_back(static_cast<int64_t>(bits));
  place.insert(place.end(), {epoch_, taken_});
  return {{"place", from_vector(place, {9})}};
}

void Batches::load_state_dict(const StateDict& state) {
  const Tensor x = state.size() == 1 && state.contains("place") ? state.at("place") : Tensor();
  check(x.defined() && x.dtype() == int64 && x.shape() == Shape{9},
        "Batches: load_state_dict: the state must be \"place\", int64 [9]");
  const auto place = x.to_vector<int64_t>();
  const auto shown = [](const std::vector<int64_t>& of) {
    return detail::text("n ", of[0], ", batch_size ", of[1], ", shuffle ", of[2], ", drop_last ", of[3]);
  };
  const std::string given = shown(place), own = shown(state_dict().at("place").to_vector<int64_t>());
  check(given == own, "Batches: load_state_dict: the state is of other batches: ", given, "; these have ",
        own);
  check(place[7] >= 0 && place[8] >= 0 && place[8] <= per_epoch(), "Batches: batch ", place[8], " of epoch ",
        place[7], "; an epoch has ", per_epoch());
  Batches loaded = *this;
  loaded.options_.generator = Generator(static_cast<uint64_t>(place[4]), static_cast<uint64_t>(place[5]));
  loaded.options_.generator.set_position(static_cast<uint64_t>(place[6]));
  loaded.begin_epoch();
  loaded.epoch_ = place[7];
  loaded.taken_ = place[8];
  *this = std::move(loaded);
}

// The number of rows of all tensors.
static int64_t row_count(const std::vector<Tensor>& tensors) {
  check(!tensors.empty(), "TensorBatches: there are no tensors");
  for (const Tensor& x : tensors)
    check(x.dim() > 0 && x.size(0) == tensors[0].size(0), "TensorBatches: tensors of shapes ",
          tensors[0].shape(), " and ", x.shape(), "; all must have one number of rows, the first size");
  return tensors[0].size(0);
}

TensorBatches::TensorBatches(const std::vector<Tensor>& tensors, int64_t batch_size,
                             const BatchesOptions& options)
    : Batches(row_count(tensors), batch_size, options), tensors_(tensors) {}

std::vector<Tensor> TensorBatches::rows(const std::vector<Tensor>& tensors, const Tensor& batch) {
  return detail::mapped(tensors, [&](const Tensor& x) { return index_select(x, 0, batch); });
}

}  // namespace heed
