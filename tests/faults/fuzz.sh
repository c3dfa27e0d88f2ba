#!/usr/bin/env bash
# Runs the fuzz targets, one on each core: tests/faults/fuzz.sh [--long] [target...]. Each takes ten seconds, or with --long
# a million inputs, and must find nothing and need less than 256 MiB for inputs below 4 KiB. Findings are in out/fuzz/.
set -euo pipefail
cd "$(dirname "$0")/../.."

limit=(-runs=20000 -max_total_time=10)
if [ "${1-}" = --long ]; then
  limit=(-runs=1000000)
  shift
fi
.ci/setup.sh build ci
cmake --preset debug
cmake --build --preset debug --target fuzz_targets

cores=$(nproc)  # before OMP_NUM_THREADS, which would limit it
# AddressSanitizer keeps little freed memory, so that the limit applies to heed.
export OMP_NUM_THREADS=1 ASAN_OPTIONS=quarantine_size_mb=8:allocator_may_return_null=1
fuzz() {
  local name=$1 folder=out/fuzz/$1
  shift
  rm -rf "$folder"
  mkdir -p "$folder/inputs"
  case $name in
    safetensors) find tests/data/safetensors -name '*.safetensors' -size -9 -exec cp {} "$folder/inputs" \; ;;
  esac
  if build/debug/tests/faults/fuzz_"$name" "$folder/inputs" -max_len=4096 -rss_limit_mb=256 -seed=1 \
    -artifact_prefix="$folder/" -print_final_stats=1 "$@" 2>"$folder/log"; then
    awk -v name="$name" '/number_of_executed_units/ { n = $2 } /peak_rss_mb/ { print name ": " n " inputs, at most " $2 " MiB" }' \
      "$folder/log"
  else
    echo "$name: FAILED, see $folder" >&2
    grep -v '^#' "$folder/log" | head -n 40 >&2
    return 1
  fi
}
export -f fuzz

targets=("$@")
[ ${#targets[@]} -gt 0 ] || for source in tests/faults/fuzz/*.cpp; do
  name=$(basename "$source" .cpp)
  [ "$name" = fuzz ] || targets+=("$name")
done
printf '%s\n' "${targets[@]}" | xargs -P "$cores" -I{} bash -c 'fuzz "$@"' fuzz {} "${limit[@]}"
