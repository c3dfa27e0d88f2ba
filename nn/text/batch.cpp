#include "nn/text/batch.h"

#include "tensor/create.h"
#include "tensor/lists.h"

namespace heed {

PaddedBatch pad_batch(const std::vector<Ids>& sequences, int64_t length) {
  check(length >= 0, "pad_batch: length is ", length, "; it must not be negative");
  const Ids lengths =
      detail::mapped(sequences, [](const Ids& ids) { return static_cast<int64_t>(ids.size()); });
  for (const int64_t each : lengths) length = std::max(length, each);
  const int64_t batch = std::ssize(sequences);
  PaddedBatch padded{full({batch, length}, Vocabulary::pad, int64), from_vector(lengths, {batch})};
  auto* row = padded.ids.mutable_data<int64_t>();
  for (const Ids& ids : sequences) {
    std::ranges::copy(ids, row);
    row += length;
  }
  return padded;
}

TeacherForcing teacher_forcing(const std::vector<Ids>& targets, int64_t length) {
  std::vector<Ids> inputs = targets, labels = targets;
  for (Ids& ids : inputs) ids.insert(ids.begin(), Vocabulary::bos);
  for (Ids& ids : labels) ids.push_back(Vocabulary::eos);
  const PaddedBatch padded = pad_batch(labels, length);
  return {pad_batch(inputs, length).ids, padded.ids, padded.lengths};
}

std::vector<std::vector<int64_t>> bucket_batches(const std::vector<int64_t>& lengths, int64_t batch_size,
                                                 Generator& generator) {
  check(batch_size >= 1, "bucket_batches: batch_size is ", batch_size, "; it must be at least 1");
  for (const int64_t length : lengths)
    check(length >= 0, "bucket_batches: a length is ", length, "; none may be negative");
  const int64_t n = std::ssize(lengths), count = n / batch_size + (n % batch_size > 0);
  std::vector<int64_t> order = randperm(n, &generator).to_vector<int64_t>();
  std::ranges::stable_sort(order, {}, [&](int64_t example) { return lengths[example]; });
  std::vector<std::vector<int64_t>> batches;
  for (const int64_t b : randperm(count, &generator).to_vector<int64_t>()) {
    const auto first = order.begin() + b * batch_size;
    batches.emplace_back(first, first + std::min<int64_t>(batch_size, order.end() - first));
  }
  return batches;
}

BatchStream::BatchStream(std::vector<int64_t> lengths, int64_t batch_size, Generator generator)
    : lengths_(std::move(lengths)), batch_size_(batch_size), generator_(generator) {
  check(!lengths_.empty(), "BatchStream: there are no examples");
  begin_epoch();
}

void BatchStream::begin_epoch() {
  Generator generator = generator_;
  batches_ = bucket_batches(lengths_, batch_size_, generator);
  epoch_position_ = std::exchange(generator_, generator).position();
  ++epoch_;
  taken_ = 0;
}

std::vector<int64_t> BatchStream::next() {
  std::vector<int64_t> batch = batches_[std::ssize(batches_) - 1 - taken_];
  if (taken_ + 1 < std::ssize(batches_))
    ++taken_;
  else
    begin_epoch();
  return batch;
}

std::map<std::string, Tensor> BatchStream::state_dict() const {
  return {{"place", from_vector<int64_t>({epoch_, static_cast<int64_t>(epoch_position_), taken_}, {3})}};
}

void BatchStream::load_state_dict(const std::map<std::string, Tensor>& state) {
  const Tensor x = state.size() == 1 && state.contains("place") ? state.at("place") : Tensor();
  check(x.defined() && x.dtype() == int64 && x.shape() == Shape{3},
        "BatchStream: load_state_dict: the state must be \"place\", int64 [3]");
  const auto place = x.to_vector<int64_t>();
  BatchStream loaded = *this;
  loaded.generator_.set_position(static_cast<uint64_t>(place[1]));
  loaded.begin_epoch();
  loaded.epoch_ = place[0];
  loaded.taken_ = place[2];
  check(place[0] >= 0 && place[2] >= 0 && place[2] < std::ssize(loaded.batches_), "BatchStream: batch ",
        place[2], " of epoch ", place[0], "; an epoch has ", loaded.batches_.size());
  *this = std::move(loaded);
}

}  // namespace heed
