// What heed's side says of itself.
#include "tensor/version.h"
#include "workload.h"

namespace bench {

std::string about() { return heed::build_info(); }

void add_second_ways() {}

}  // namespace bench
