#!/usr/bin/env bash
# Do both sides compute the same? bench/agree.sh HEED_BENCH OTHER_BENCH [REGEX] runs each workload of both (whose name
# matches) once in either program, the other side's from the values that heed's started from, and fails where an output
# or a gradient differs by more than 1e-4 of its norm: see values.h. OTHER_BENCH is libtorch's program or a command such
# as "FOLDER/bin/python bench/python/torch_bench.py --compile".
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: bench/agree.sh HEED_BENCH OTHER_BENCH [REGEX]" >&2; exit 2; }
heed=("$1") other=("$2") matches=${3-.}
[ -x "$2" ] || read -ra other <<<"$2"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HEED_BENCH_VALUES=$work/values

# once NAME COMMAND...
once() { "${@:2}" --benchmark_min_time=0 --benchmark_filter="^$1\$" --benchmark_format=csv 2>>"$work/log"; }

failed=0 compared=0
"${other[@]}" --benchmark_list_tests=true >"$work/names"
for name in $("${heed[@]}" --benchmark_list_tests=true | grep -E -- "$matches" | grep -Fxf "$work/names"); do
  : >"$work/log"
  if once "$name" "${heed[@]}" >"$work/heeds" && once "$name" "${other[@]}" >"$work/found" &&
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
