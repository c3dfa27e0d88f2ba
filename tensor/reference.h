#pragma once

#include <atomic>

/// A switch between the fast implementations and the readable ones.
namespace heed {

namespace detail {
extern std::atomic<bool> reference;
}

/// Whether reference implementations run: the plain loops of tensor/kernels/plain.h in place of every fast
/// kernel, and the reference functions of Note [Reference implementations] in autograd/node.h. Initially true
/// if the environment variable HEED_REFERENCE is set to 1.
inline bool reference_mode() { return detail::reference.load(std::memory_order_relaxed); }
/// Switches reference mode on or off, for the whole process.
inline void set_reference_mode(bool on) { detail::reference.store(on, std::memory_order_relaxed); }

}  // namespace heed
