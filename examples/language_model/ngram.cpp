#include "examples/language_model/ngram.h"

#include <algorithm>
#include <cmath>

#include "tensor/error.h"

using heed::check, heed::Ids;

namespace program {

constexpr int kBits = 12;

Ngram::Ngram(const Ids& ids, int64_t vocabulary, int64_t order) : vocabulary_(vocabulary) {
  check(order >= 1 && order <= kLongest, "Ngram: order is ", order, "; it must be from 1 to ", kLongest);
  check(vocabulary >= 1 && vocabulary <= kMostIds, "Ngram: vocabulary is ", vocabulary,
        "; it must be from 1 to ", kMostIds);
  orders_.resize(static_cast<size_t>(order));
  const Run whole = (Run{1} << kBits * order) - 1;
  Run run = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    check_id(ids[i]);
    run = (run << kBits | static_cast<Run>(ids[i])) & whole;
    if (i + 1 >= orders_.size()) ++orders_.back().counts[run];
  }
  for (size_t n = orders_.size() - 1; n > 0; --n) {
    const Run shorter = (Run{1} << kBits * n) - 1;
    for (const auto& [longer, count] : orders_[n].counts) ++orders_[n - 1].counts[longer & shorter];
  }
  for (Order& one : orders_) {
    double of[2] = {0, 0};  // runs that count 1 and 2
    for (const auto& [all, count] : one.counts) {
      Context& context = one.contexts[all >> kBits];
      context.sum += count;
      ++context.kinds;
      if (count <= 2) ++of[count - 1];
    }
    one.discount = of[0] == 0 ? 0.1 : std::clamp(of[0] / (of[0] + 2 * of[1]), 0.1, 0.9);
  }
}

void Ngram::check_id(int64_t id) const {
  check(id >= 0 && id < vocabulary_, "Ngram: there is no id ", id, "; the ids are 0 to ", vocabulary_ - 1);
}

double Ngram::probability(std::span<const int64_t> context, int64_t token) const {
  check_id(token);
  double p = 1 / static_cast<double>(vocabulary_);
  Run before = 0;
  for (size_t n = 0; n < orders_.size() && n <= context.size(); ++n) {
    if (n > 0) {
      const int64_t id = context[context.size() - n];
      check_id(id);
      before |= static_cast<Run>(id) << kBits * (n - 1);
    }
    const Order& order = orders_[n];
    const auto seen = order.contexts.find(before);
    if (seen == order.contexts.end()) break;  // then longer ones were not seen either
    const auto found = order.counts.find(before << kBits | static_cast<Run>(token));
    const auto count = static_cast<double>(found == order.counts.end() ? 0 : found->second);
    const auto& [sum, kinds] = seen->second;
    p = (std::max(0.0, count - order.discount) + order.discount * static_cast<double>(kinds) * p) /
        static_cast<double>(sum);
  }
  return p;
}

double Ngram::bits(const Ids& ids) const {
  double sum = 0;
  for (size_t i = 0; i < ids.size(); ++i) sum -= std::log2(probability(std::span(ids).first(i), ids[i]));
  return sum;
}

}  // namespace program
