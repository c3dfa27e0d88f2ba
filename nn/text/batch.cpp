#include "nn/text/batch.h"

#include "tensor/create.h"

namespace heed {

PaddedBatch pad_batch(const std::vector<Ids>& sequences, int64_t length) {
  check(length >= 0, "pad_batch: length is ", length, "; it must not be negative");
  Ids lengths;
  for (const Ids& ids : sequences) lengths.push_back(static_cast<int64_t>(ids.size()));
  for (const int64_t n : lengths) length = std::max(length, n);
  const auto batch = static_cast<int64_t>(sequences.size());
  PaddedBatch padded{full({batch, length}, Vocabulary::pad, int64), from_vector(lengths, {batch})};
  auto* row = padded.ids.mutable_data<int64_t>();
  for (const Ids& ids : sequences) {
    std::copy(ids.begin(), ids.end(), row);
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
  const auto n = static_cast<int64_t>(lengths.size());
  std::vector<int64_t> order = randperm(n, &generator).to_vector<int64_t>();
  const auto length = [&](int64_t example) { return lengths[static_cast<size_t>(example)]; };
  std::ranges::stable_sort(order, {}, length);
  std::vector<std::vector<int64_t>> batches;
  const int64_t count = n / batch_size + (n % batch_size > 0 ? 1 : 0);
  for (const int64_t b : randperm(count, &generator).to_vector<int64_t>()) {
    const auto first = order.begin() + b * batch_size;
    batches.emplace_back(first, first + std::min(batch_size, order.end() - first));
  }
  return batches;
}

BatchStream::BatchStream(std::vector<int64_t> lengths, int64_t batch_size, Generator generator)
    : lengths_(std::move(lengths)), batch_size_(batch_size), generator_(generator) {
  check(!lengths_.empty(), "BatchStream: there are no examples");
  shuffle();
}

void BatchStream::shuffle() {
  Generator generator = generator_;
  batches_ = bucket_batches(lengths_, batch_size_, generator);
  began_ = std::exchange(generator_, generator).position();
  taken_ = 0;
}

std::vector<int64_t> BatchStream::next() {
  std::vector<int64_t> batch = batches_.back();
  if (batches_.size() == 1) {
    shuffle();
    ++epoch_;
  } else {
    batches_.pop_back();
    ++taken_;
  }
  return batch;
}

std::map<std::string, Tensor> BatchStream::state_dict() const {
  return {{"place", from_vector<int64_t>({epoch_, static_cast<int64_t>(began_), taken_}, {3})}};
}

void BatchStream::load_state_dict(const std::map<std::string, Tensor>& state) {
  const auto place = state.find("place");
  check(state.size() == 1 && place != state.end() && place->second.dtype() == int64 &&
            place->second.numel() == 3,
        "BatchStream: load_state_dict: a place is three whole numbers");
  const auto numbers = place->second.to_vector<int64_t>();
  BatchStream there = *this;
  there.generator_.set_position(static_cast<uint64_t>(numbers[1]));
  there.shuffle();
  check(numbers[0] >= 0 && numbers[2] >= 0 && numbers[2] < std::ssize(there.batches_), "BatchStream: batch ",
        numbers[2], " of epoch ", numbers[0], "; an epoch has ", there.batches_.size());
  there.epoch_ = numbers[0];
  there.taken_ = numbers[2];
  there.batches_.resize(there.batches_.size() - static_cast<size_t>(numbers[2]));
  *this = std::move(there);
}

}  // namespace heed
