#include "tensor/preallocated_set.h"

#include "tests/support/expect.h"

TEST_CASE("a preallocated set is ordered and reuses the nodes of erased values") {
  heed::PreallocatedSet<int> set;
  set.reserve(3);
  for (const int value : {5, 3, 4}) set.insert(value);
  const int* const node = &*set.values().find(3);
  set.erase(3);
  set.insert(7);
  CHECK(std::ranges::equal(set.values(), std::vector{4, 5, 7}));
  CHECK(&*set.values().find(7) == node);
}
