#include "autograd/observer.h"

namespace heed {

Observer::~Observer() {
  Observer** link = &detail::observers;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

bool Observer::any_wants_attention() {
  for (const Observer* observer = detail::observers; observer; observer = observer->next_)
    if (observer->wants_attention()) return true;
  return false;
}

void detail::notify_scope(const OpScope& scope, bool begins) {
  Observer::each([&](Observer& observer) { begins ? observer.on_begin(scope) : observer.on_end(scope); });
}

}  // namespace heed
