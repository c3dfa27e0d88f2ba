#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

/// A set that never allocates when it is changed.
namespace heed {

/// A std::set whose insertions and removals never fail: reserve() allocates the nodes in advance, and erase()
/// keeps the node for a later insertion.
template <class T, class Less = std::less<T>>
class PreallocatedSet {
 public:
  /// Allocates the nodes for `count` insertions. May throw std::bad_alloc; the other functions do not.
  void reserve(size_t count) {
    if (spare_.capacity() < values_.size() + count) spare_.reserve(2 * (values_.size() + count));
    while (spare_.size() < count) {
      std::set<T, Less> one{T()};
      spare_.push_back(one.extract(one.begin()));
    }
  }
  /// Inserts a value that is not in the set yet. Its node must have been reserved.
  void insert(const T& value) noexcept {
    spare_.back().value() = value;
    values_.insert(std::move(spare_.back()));
    spare_.pop_back();
  }
  /// Removes a value that is in the set.
  void erase(const T& value) noexcept { spare_.push_back(values_.extract(value)); }

  /// The values in order.
  const std::set<T, Less>& values() const { return values_; }

 private:
  std::set<T, Less> values_;
  std::vector<typename std::set<T, Less>::node_type> spare_;  // has capacity for all nodes
};

}  // namespace heed
