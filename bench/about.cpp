// What heed's side says of itself.
#include <cstdlib>

#include "nn/debug/anomaly.h"
#include "nn/debug/profile.h"
#include "tensor/version.h"
#include "workload.h"

namespace bench {

std::string about() { return heed::version_text(); }

// heed reads OMP_NUM_THREADS itself. HEED_BENCH_WATCH=anomaly or =profile: what a step takes under one's
// eyes.
void prepare() {
  const char* watch = std::getenv("HEED_BENCH_WATCH");
  const std::string by = watch ? watch : "";
  if (by == "anomaly") static const heed::AnomalyGuard guard;
  if (by == "profile") static const heed::Profile profile;
}

}  // namespace bench
