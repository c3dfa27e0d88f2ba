#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

/// Reference counting.
namespace heed {

/// Whether the process surely has one thread only, which glibc knows.
inline bool single_threaded() {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded;
#else
  return false;
#endif
}

/// A reference count inside the counted object. Not atomic while the process has a single thread.
class RefCount {
 public:
  void add() { change(1, std::memory_order_relaxed); }
  /// Returns true for the last reference.
  bool drop() { return change(-1, std::memory_order_acq_rel) == 0; }
  int64_t value() const { return count_.load(std::memory_order_acquire); }

 private:
  int64_t change(int64_t by, std::memory_order order) {
    if (!single_threaded()) return count_.fetch_add(by, order) + by;
    const int64_t count = count_.load(std::memory_order_relaxed) + by;
    count_.store(count, std::memory_order_relaxed);
    return count;
  }

  std::atomic<int64_t> count_{0};
};

/// A shared pointer. T has a public RefCount `references` and a `release()` that frees it. T may be
/// incomplete where no Ref to it is copied.
template <class T>
class Ref {
 public:
  Ref() = default;  ///< Null.
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->references.add();
  }
  Ref(const Ref& other) : Ref(other.object_) {}                                  ///< Shares the object.
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}  ///< Leaves `other` null.
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ && object_->references.drop()) object_->release();
  }

  T* get() const { return object_; }  ///< Null without an object.
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  /// Whether no other reference exists.
  bool unique() const { return object_ && object_->references.value() == 1; }

 private:
  T* object_ = nullptr;
};

}  // namespace heed
