#!/usr/bin/env bash
# From a clone to tested: ./tests/run.sh [arguments of ctest], such as -L fast; or ./tests/run.sh -tc="*masks*", the test
# cases of these names alone. Builds first (.ci/build.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/build.sh all_tests programs  # not bench/: libtorch's side takes minutes
if [[ ${1-} == -tc=* ]]; then
  build/release/tests/heed_tests "$@"
  build/release/tests/heed_example_tests "$@"
else
  ctest --preset release --parallel "$(nproc)" "$@"
fi
