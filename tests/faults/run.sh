#!/usr/bin/env bash
# Failing allocations and system calls (heed_faults), killed processes, and arbitrary bytes as input.
# tests/faults/run.sh [--long]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

failed=0
.ci/build.sh heed_faults && ctest --preset release --no-tests=error -R '^faults' || failed=1
tests/faults/kills.sh "$@" || failed=1
tests/faults/fuzz.sh "$@" || failed=1
exit $failed
