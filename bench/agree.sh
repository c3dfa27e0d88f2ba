#!/usr/bin/env bash
# Do both sides compute the same? bench/agree.sh HEED_BENCH LIBTORCH_BENCH [REGEX] runs each workload (whose name matches)
# once in either program, libtorch's from the values that heed's started from, and fails where an output or a gradient
# differs by more than 1e-4 of its norm: see values.h.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: bench/agree.sh HEED_BENCH LIBTORCH_BENCH [REGEX]" >&2; exit 2; }
heed=$1 libtorch=$2 matches=${3-.}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HEED_BENCH_VALUES=$work/values

once() { "$1" --benchmark_min_time=0 --benchmark_filter="^$2\$" --benchmark_format=csv 2>>"$work/log"; }

failed=0 compared=0
for name in $("$heed" --benchmark_list_tests=true | grep -E -- "$matches"); do
  : >"$work/log"
  if once "$heed" "$name" >"$work/heeds" && once "$libtorch" "$name" >"$work/found" &&
    ! grep -q ERROR "$work/log" && grep -q "differs by" "$work/found"; then
    compared=$((compared + 1))
    echo "$name: $(grep -o 'differs by [^"]*' "$work/found")"
  else
    failed=$((failed + 1))
    echo "$name FAILED: $(cat "$work/log")" >&2
  fi
done
echo "$compared workloads agree, $failed do not"
[ "$failed" -eq 0 ] && [ "$compared" -gt 0 ]
