#!/usr/bin/env bash
# heed against libtorch on the workloads of this folder, both on the same cores of this machine, in turn.
#
# A workload runs in a process of its own, several processes a side, alternating between the sides: a machine shared
# with others slows down for minutes, and this way it slows down both. A process repeats the measurement 9 times for at
# least 0.15 s each and gives their median; the smallest of the medians is compared. ratio = libtorch / heed.
# A time of op_overhead_* is that of one operation: an iteration runs 1000.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
  cat <<'END'
usage: bench/compare.sh [options]
  --filter REGEX   only the workloads whose names match (extended regular expression)
  --threads LIST   thread counts, such as "1 2" (default: 1)
  --rounds N       processes for each side of a workload (default: 3)
  --json FILE      write a list of {name, threads, heed_ns, libtorch_ns, ratio, floor_ns}; - is standard output
  --tuned          give libtorch an allocator that keeps its memory, its widest vector code, and OpenBLAS on OpenMP
  --help
Installs what is missing (.ci/setup.sh), builds the release preset, and prints a row for each workload: the time of each
side with the quartiles of its best process, the ratio, and the floor: what this machine's matrix products and memory
need for the work at least.
END
}

bad_flag() {
  echo "compare.sh: $1" >&2
  usage >&2
  exit 2
}

filter=.
threads_list=1
rounds=3
json=
tuned=
while [ $# -gt 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --tuned) tuned=yes; shift; continue ;;
    --filter | --threads | --rounds | --json) [ $# -ge 2 ] || bad_flag "$1 needs a value" ;;
    *) bad_flag "no such option: $1" ;;
  esac
  case $1 in
    --filter) filter=$2 ;;
    --threads) threads_list=$2 ;;
    --rounds) rounds=$2 ;;
    --json) json=$2 ;;
  esac
  shift 2
done

# The cores that we may use, one a line.
allowed_cores() {
  awk '/^Cpus_allowed_list/ {
    parts = split($2, part, ",")
    for (i = 1; i <= parts; ++i) {
      split(part[i], ends, "-")
      last = ends[2] == "" ? ends[1] : ends[2]
      for (core = ends[1] + 0; core <= last + 0; ++core) print core
    }
  }' /proc/self/status
}

cores=$(allowed_cores)
[[ $rounds =~ ^[1-9][0-9]*$ ]] || bad_flag "--rounds takes a number from 1, not '$rounds'"
[[ $threads_list =~ ^[[:space:]]*[1-9][0-9]*([[:space:]]+[1-9][0-9]*)*[[:space:]]*$ ]] ||
  bad_flag "--threads takes numbers from 1, such as \"1 2\", not '$threads_list'"
for threads in $threads_list; do
  [ "$threads" -le "$(wc -l <<<"$cores")" ] || bad_flag "--threads $threads: there are $(wc -l <<<"$cores") cores"
done
status=0
grep -qE -- "$filter" <<<"" || status=$?
[ "$status" -lt 2 ] || bad_flag "--filter: not a regular expression: $filter"

exec 3>&1  # what --json - writes to
if [ "$json" = - ]; then
  exec >&2
elif [ -n "$json" ] && ! : >>"$json"; then  # find out now, not after ten minutes
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$root/.ci/setup.sh" build
"$root/.ci/setup.sh" compare || true  # said below, if it matters
command -v jq >/dev/null || { echo "compare.sh: jq is missing (Debian: apt-get install jq)" >&2; exit 1; }
echo "building"
(cd "$root" && cmake --preset release && cmake --build --preset release --target benchmarks) >"$work/build.log" 2>&1 ||
  { cat "$work/build.log" >&2; exit 1; }

binaries=$root/build/release/bench
sides=()
for side in heed libtorch; do
  if [ -x "$binaries/${side}_bench" ]; then
    sides+=("$side")
    echo "$side: $("$binaries/${side}_bench" --version)"
  fi
done
[ ${#sides[@]} -gt 0 ] || { echo "compare.sh: neither side has been built" >&2; exit 1; }
[[ " ${sides[*]} " == *" heed "* ]] || echo "heed: heed_bench has not been built, so libtorch's times stand alone"
[[ " ${sides[*]} " == *" libtorch "* ]] ||
  echo "libtorch: NOT INSTALLED, so heed's times stand alone (Debian: apt-get install libtorch-dev)"

# What --tuned sets for libtorch: no page faults for memory that it had before, and OpenBLAS on the thread pool of its
# own loops. It believes ATEN_CPU_CAPABILITY without asking the processor, so ask first.
tuning=()
if [ -n "$tuned" ]; then
  tuning=(GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4294967296)
  if grep -qm1 'avx512f.*avx512dq.*avx512bw.*avx512vl' /proc/cpuinfo; then
    tuning+=(ATEN_CPU_CAPABILITY=avx512)
  fi
  openblas=$(ldd "$binaries/blas" | awk '/libopenblas/ { print $3 }')  # the flavour that we link
  tuning+=(LD_LIBRARY_PATH="${openblas%/*}")
  echo "libtorch tuned: ${tuning[*]}"
fi

# pinned THREADS COMMAND...: on the last of the cores, since interrupts come to the first.
pinned() {
  local threads=$1
  shift
  OMP_NUM_THREADS=$threads taskset -c "$(tail -n "$threads" <<<"$cores" | paste -sd,)" "$@"
}

# Google Benchmark marks wall-clock time in the name.
workloads() {
  for side in "${sides[@]}"; do
    "$binaries/${side}_bench" --benchmark_list_tests=true | sed 's|/real_time$||'
  done | awk '!seen[$0]++' | grep -E -- "$filter"
}

# measure SIDE NAME THREADS: one process; prints [median, lower quartile, upper quartile] in ns.
measure() {
  local side=$1 name=$2 threads=$3 environment=()
  [ "$side" = heed ] || environment=("${tuning[@]}")
  pinned "$threads" env "${environment[@]}" "$binaries/${side}_bench" --benchmark_filter="^$name(/real_time)?\$" \
    --benchmark_min_time=0.15 --benchmark_repetitions=9 --benchmark_format=json 2>"$work/stderr" |
    jq -ce --arg name "$name" '
      def at(part): .[(length - 1) * part | round];
      (if $name | startswith("op_overhead") then 1000 else 1 end) as $per
      | [.benchmarks[] | select(.run_type == "iteration")
         | if .error_occurred then error(.error_message) else . end
         | .real_time * {ns: 1, us: 1e3, ms: 1e6, s: 1e9}[.time_unit] / $per]
      | sort | if length == 0 then error("no result") else [at(0.5), at(0.25), at(0.75)] end'
}

# Rows of JSON to rows of the table.
print_rows() {
  jq -r '[.name, .threads, (.heed[0] // ""), .heed[1], .heed[2], (.libtorch[0] // ""), .libtorch[1], .libtorch[2],
          .ratio, .floor_ns] | @tsv' | awk -F '\t' '
    function unit(ns) { return ns < 1e3 ? 1 : ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9 }
    function time(ns,    u) {
      if (ns == "") return "-"
      u = unit(ns)
      return sprintf("%.4g %s", ns / u, u == 1 ? "ns" : u == 1e3 ? "us" : u == 1e6 ? "ms" : "s")
    }
    function spread(ns, low, high) {
      return ns == "" ? "" : sprintf("%.4g-%.4g", low / unit(ns), high / unit(ns))
    }
    { printf "%-27s %7d %10s %-15s %10s %-15s %6s %10s\n", $1, $2, time($3), spread($3, $4, $5), time($6),
             spread($6, $7, $8), $9 == "" ? "-" : sprintf("%.2f", $9), time($10) }'
}

status=0
names=$(workloads) || bad_flag "--filter: no workload matches '$filter'"
printf '\n%-27s %7s %10s %-15s %10s %-15s %6s %10s\n' name threads heed quartiles libtorch quartiles ratio floor
for threads in $threads_list; do
  echo '{}' >"$work/floors"
  if [ -x "$binaries/blas" ]; then
    pinned "$threads" "$binaries/blas" --json "$work/floors" >/dev/null
  fi
  for name in $names; do
    : >"$work/runs"
    for ((round = 0; round < rounds; ++round)); do
      for ((turn = 0; turn < ${#sides[@]}; ++turn)); do
        side=${sides[(round + turn) % ${#sides[@]}]}  # who goes first alternates too
        if times=$(measure "$side" "$name" "$threads"); then
          echo "{\"side\": \"$side\", \"times\": $times}" >>"$work/runs"
        else
          echo "compare.sh: ${side}_bench failed at $name with $threads threads: $(tail -n 3 "$work/stderr")" >&2
          status=1
        fi
      done
    done
    jq -cs --arg name "$name" --argjson threads "$threads" --slurpfile floors "$work/floors" '
      def best(side): map(select(.side == side).times) | min_by(.[0]);
      {$name, $threads, heed: best("heed"), libtorch: best("libtorch")}
      | .ratio = (if .heed and .libtorch then .libtorch[0] / .heed[0] else null end)
      | .floor_ns = $floors[0].floor_ns[$name]' "$work/runs" | tee -a "$work/rows" | print_rows
  done
done

jq -rs 'group_by(.threads)[] | [.[] | .ratio | values] as $ratios | select($ratios | length > 0)
        | "geometric mean of \($ratios | length) ratios with \(.[0].threads) threads: " +
          "\($ratios | (map(log) | add / length | exp) * 100 | round / 100)"' "$work/rows"

if [ -n "$json" ]; then
  jq -s 'map({name, threads, heed_ns: .heed[0], libtorch_ns: .libtorch[0], ratio, floor_ns})' "$work/rows" >"$work/json"
  if [ "$json" = - ]; then cat "$work/json" >&3; else cat "$work/json" >"$json"; fi
fi
exit "$status"
