#!/usr/bin/env bash
# What must hold when something fails: memory, calls of the system (heed_faults), kills, and any bytes as input.
# tests/faults/run.sh [--long]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

failed=0
.ci/build.sh heed_faults && ctest --preset release --no-tests=error -R '^faults' || failed=1
tests/faults/kills.sh "$@" || failed=1
tests/faults/fuzz.sh "$@" || failed=1
exit $failed
