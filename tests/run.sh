#!/usr/bin/env bash
# Builds and runs the tests: ./tests/run.sh [arguments of ctest], such as -L fast; or -tc="*masks*" for test cases by name.
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/build.sh all_tests programs  # without bench/: libtorch's part takes minutes
if [[ ${1-} == -tc=* ]]; then
  build/release/tests/heed_tests "$@"
  build/release/tests/heed_example_tests "$@"
else
  ctest --preset release --parallel $(($(nproc) + 1)) "$@"  # one of them mostly waits for a browser
fi
