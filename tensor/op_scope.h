#pragma once

#include "tensor/source_line.h"

/// The operation that is running, for error messages, recorded nodes and observers.
namespace heed {

class Observer;
class OpScope;

namespace detail {

/// The innermost scope of this thread that counts; null outside of all operations.
inline thread_local constinit const OpScope* current_scope = nullptr;
/// The observers of this thread, see autograd/observer.h; null without one.
inline thread_local constinit Observer* observers = nullptr;
/// Tells the observers that a scope begins or ends.
void notify_scope(const OpScope& scope, bool begins);

}  // namespace detail

/// The name of the operation that the user called and the line of the call, until the end of the scope. Every
/// public operation opens one first:
///
///   const OpScope scope("add", a.line());
///
/// Note [OpScope]: operations call each other, and the outermost one counts, because the user wrote it: an
/// error in `where` inside `masked_fill` is reported as an error of masked_fill, and what is recorded inside
/// is recorded at the line of masked_fill. While backward() runs the gradient rule of a node, the rule is a
/// scope of its own: the outermost operation inside it counts, and an error names that operation and the
/// rule.
class OpScope {
 public:
  /// An operation, or the gradient rule of one.
  enum class Role { operation, rule };

  /// `path` is that of the module whose operation a rule belongs to.
  explicit OpScope(const char* operation, SourceLocation call = {}, Role kind = Role::operation,
                   const char* path = "")
      : name(operation), line(call), role(kind), module(path), outer_(detail::current_scope) {
    if (outer_ && role != Role::rule && outer_->role != Role::rule) return;
    detail::current_scope = this;
    if (detail::observers) [[unlikely]]
      detail::notify_scope(*this, true);
  }
  ~OpScope() {
    if (detail::observers && detail::current_scope == this) [[unlikely]]
      detail::notify_scope(*this, false);
    detail::current_scope = outer_;
  }
  OpScope(const OpScope&) = delete;

  /// The gradient rule that is running in this thread, or null.
  static const OpScope* rule() {
    const OpScope* scope = detail::current_scope;
    return !scope || scope->role == Role::rule ? scope : scope->outer_;
  }

  const char* const name;
  const SourceLocation line;
  const Role role;
  const char* const module;

 private:
  const OpScope* outer_;
};

}  // namespace heed
