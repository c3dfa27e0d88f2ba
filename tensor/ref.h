#pragma once

#include <sys/single_threaded.h>

#include <atomic>
#include <cstdint>
#include <utility>

/// Counted references.
namespace heed {

/// A reference count inside the object it counts. Plain arithmetic while the process has one thread, atomic
/// from the moment it has two: the C library tells.
class RefCount {
 public:
  void add() { change(1, std::memory_order_relaxed); }
  bool drop() { return change(-1, std::memory_order_acq_rel) == 0; }  ///< True if it was the last.
  int64_t value() const { return count_.load(std::memory_order_acquire); }

 private:
  int64_t change(int64_t by, std::memory_order order) {
    if (!__libc_single_threaded) return count_.fetch_add(by, order) + by;
    const int64_t count = count_.load(std::memory_order_relaxed) + by;
    count_.store(count, std::memory_order_relaxed);
    return count;
  }

  std::atomic<int64_t> count_{0};
};

/// A pointer that shares what it points to. T has a public RefCount `references` and a `release()` that
/// frees it; both are called through the pointer, so T may be incomplete where no Ref to it is copied.
template <class T>
class Ref {
 public:
  Ref() = default;  ///< to nothing
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->references.add();
  }
  Ref(const Ref& other) : Ref(other.object_) {}                                  ///< one reference more
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}  ///< the same reference
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ && object_->references.drop()) object_->release();
  }

  T* get() const { return object_; }                                           ///< the object, or null
  T* operator->() const { return object_; }                                    ///< a member of the object
  T& operator*() const { return *object_; }                                    ///< the object
  explicit operator bool() const { return object_ != nullptr; }                ///< whether there is one
  bool unique() const { return object_ && object_->references.value() == 1; }  ///< this reference alone

 private:
  T* object_ = nullptr;
};

}  // namespace heed
