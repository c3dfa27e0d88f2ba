// What heed's side says of itself.
#include "tensor/version.h"
#include "workload.h"

namespace bench {

std::string about() { return heed::build_info(); }

void prepare() {}  // heed reads OMP_NUM_THREADS itself

void add_second_ways() {}

}  // namespace bench
