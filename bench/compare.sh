#!/usr/bin/env bash
# heed against libtorch, PyTorch and JAX on the workloads of this folder, in turn on the same cores of this machine.
#
# A workload runs in a process of its own, several processes a side, alternating between the sides: a machine shared
# with others slows down for minutes, and this way it slows down all. A process repeats the measurement 9 times (5 and 3
# for the longest) for at least 0.15 s each and gives their median; the smallest of the medians is compared. Where
# libtorch's side has a second way to do a workload (mha_step_nnmodule), its better one counts. ratio = other / heed.
# A time of op_overhead_* is that of one operation: an iteration runs 1000.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

usage() {
  cat <<'END'
usage: bench/compare.sh [options]
  --torch FOLDER   compare with the libtorch in this folder instead of Debian's, /usr; several times: with each
  --python FOLDER  compare with PyTorch (eager and torch.compile) and JAX, whichever this virtual environment contains;
                   libtorch only where --torch names one
  --side LIST      only these sides of --python, such as "pytorch jax" (default: "pytorch compile jax")
  --filter REGEX   only the workloads whose names match (extended regular expression)
  --threads LIST   thread counts, such as "1 2" (default: 1)
  --rounds N       processes for each side of a workload (default: 3)
  --memory         instead of times: the memory that workloads need and what a program's start costs, with 1 thread
  --json FILE      write a list of {name, threads, heed_ns, libtorch_ns, ratio, floor_ns, ns, first_call_ns}; - is
                   standard output
  --tuned          give the others an allocator that keeps its memory, its widest vector code, and OpenBLAS on OpenMP
  --help
Installs what is missing (.ci/setup.sh), builds the release preset, and prints a row for each workload: the time of each
side with the quartiles of its best process, the ratio, to the fastest other side as well if there are several, and the
floor: what this machine's multiply-adds and memory need for the work at least. torch.compile and JAX compile a step
when it is first called: "first call" is the time of that call in a process that finds nothing compiled. In --json, ns
has the time of each side and first_call_ns the first call of each Python side; libtorch_ns is the time of the fastest
libtorch, ratio that of the fastest other side to heed's.

PyTorch's own libtorch comes with its Python package, from which nothing else is used:
  python3 -m venv /tmp/torch
  /tmp/torch/bin/pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu
  bench/compare.sh --torch /usr --torch /tmp/torch/lib/python3*/site-packages/torch
The Python sides need numpy as well, and jax: see bench/README.md.
END
}

bad_flag() {
  echo "compare.sh: $1" >&2
  usage >&2
  exit 2
}

# The version of the libtorch in a folder; fails if there is none.
version_of() {
  local file
  for file in "$1"/{share,lib,lib/*}/cmake/Torch/TorchConfigVersion.cmake; do
    [ ! -f "$file" ] || { sed -n 's/^set(PACKAGE_VERSION "\(.*\)").*/\1/p' "$file"; return; }
  done
  return 1
}

filter=.
threads_list=1
rounds=3
json=
tuned=
memory=
python=
python_sides=
sides=(heed)
declare -A folder  # of each libtorch
add_libtorch() {
  local side
  side=libtorch-$(version_of "$1") || return
  [ -z "${folder[$side]-}" ] || bad_flag "--torch $1: there is a ${side/-/ } already, in ${folder[$side]}"
  sides+=("$side")
  folder[$side]=$(realpath "$1")
}

while [ $# -gt 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --tuned) tuned=yes; shift; continue ;;
    --memory) memory=yes; shift; continue ;;
    --torch | --python | --side | --filter | --threads | --rounds | --json) [ $# -ge 2 ] || bad_flag "$1 needs a value" ;;
    *) bad_flag "no such option: $1" ;;
  esac
  case $1 in
    --torch)
      add_libtorch "$2" || bad_flag "--torch $2: no libtorch there, which has share/cmake/Torch/TorchConfig.cmake" ;;
    --python)
      python=${2%/}/bin/python
      [ -x "$python" ] || bad_flag "--python $2: no bin/python there, so it is not a virtual environment" ;;
    --side) python_sides=$2 ;;
    --filter) filter=$2 ;;
    --threads) threads_list=$2 ;;
    --rounds) rounds=$2 ;;
    --json) json=$2 ;;
  esac
  shift 2
done

# Packages decide which sides there are; asking for their names does not import them, which would take seconds.
has_package() {
  "$python" -c "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))" "$@"
}
[ -z "$python_sides" ] || [ -n "$python" ] || bad_flag "--side chooses among the sides of --python, which is missing"
for side in ${python_sides:=pytorch compile jax}; do
  case $side in
    pytorch | compile) package=torch ;;
    jax) package=jax ;;
    *) bad_flag "--side takes some of pytorch, compile and jax, not '$side'" ;;
  esac
  [ -z "$python" ] || ! has_package "$package" numpy || sides+=("$side")
done
if [ -n "$python" ]; then
  [ -z "$memory" ] || bad_flag "--memory does not measure the sides of --python"
  [[ " ${sides[*]} " =~ \ (pytorch|compile|jax)\  ]] ||
    bad_flag "--python ${python%/bin/python}: neither torch nor jax (and numpy) is installed there for: $python_sides"
fi

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
export TORCHINDUCTOR_CACHE_DIR=$work/inductor  # of torch.compile: empty for each workload's first process

"$root/.ci/setup.sh" build
"$root/.ci/setup.sh" compare || true  # said below, if it matters
[ ${#sides[@]} -gt 1 ] || "$root/.ci/setup.sh" libtorch || true
command -v jq >/dev/null || { echo "compare.sh: jq is missing (Debian: apt-get install jq)" >&2; exit 1; }
if [ ${#sides[@]} -eq 1 ] && ! add_libtorch /usr; then
  echo "libtorch: NOT INSTALLED, so heed's times stand alone (Debian: apt-get install libtorch-dev)"
fi

# program SIDE NAME: where it is built. Every libtorch has a folder of its own, and all stay built.
program() {
  echo "$root/build/${1/#heed/release}/bench/${1%%-*}_$2"
}

# choose_program SIDE: sets `bench`, the command that runs its workloads.
choose_program() {
  case $1 in
    pytorch) bench=("$python" "$root/bench/python/torch_bench.py") ;;
    compile) bench=("$python" "$root/bench/python/torch_bench.py" --compile) ;;
    jax) bench=("$python" "$root/bench/python/jax_bench.py") ;;
    *) bench=("$(program "$1" bench)") ;;
  esac
}

build() {  # `set -e` does not hold in what || follows
  cd "$root" && cmake --preset release -DHEED_BUILD_BENCH=ON &&
    cmake --build --preset release --target benchmarks || return
  local side
  for side in "${!folder[@]}"; do
    # The prefix, since the search for its libraries must come by this folder before /usr.
    cmake --fresh --preset release -B "build/$side" -DCMAKE_PREFIX_PATH="${folder[$side]}" \
      -DHEED_BUILD_BENCH=ON -DHEED_BUILD_TESTS=OFF -DHEED_BUILD_EXAMPLES=OFF &&
      cmake --build "build/$side" --target libtorch_benchmarks || return
  done
}

echo "building"
(build) >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
for side in "${sides[@]}"; do
  choose_program "$side"
  echo "$side: $("${bench[@]}" --version)"
done

# What --tuned sets for the others: no page faults for memory that it had before, and OpenBLAS on the thread pool of its
# own loops. It believes ATEN_CPU_CAPABILITY without asking the processor, so ask first.
tuning=()
if [ -n "$tuned" ]; then
  tuning=(GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4294967296)
  if grep -qm1 'avx512f.*avx512dq.*avx512bw.*avx512vl' /proc/cpuinfo; then
    tuning+=(ATEN_CPU_CAPABILITY=avx512)
  fi
  for openblas in /usr/lib/*/openblas-openmp; do tuning+=(LD_LIBRARY_PATH="$openblas"); done
  echo "tuned: ${tuning[*]}"
fi

# pinned THREADS COMMAND...: on the last of the cores, since interrupts come to the first.
pinned() {
  local threads=$1
  shift
  OMP_NUM_THREADS=$threads taskset -c "$(tail -n "$threads" <<<"$cores" | paste -sd,)" "$@"
}

# Google Benchmark marks wall-clock time in the name.
for side in "${sides[@]}"; do
  choose_program "$side"
  "${bench[@]}" --benchmark_list_tests=true | sed 's|/real_time$||' >"$work/names.$side"
done
second_way='_nnmodule|_atsdpa'
workloads() {
  for side in "${sides[@]}"; do cat "$work/names.$side"; done | sed -E "s/$second_way//" | awk '!seen[$0]++' |
    if [ -z "$memory" ]; then cat; else grep -E '^(mha_step/8x256x512h8|gpt_step|attention_long/.*)$'; echo startup; fi |
    grep -E -- "$filter"
}

# ways SIDE NAME: the names that a workload has on this side.
ways() {
  awk -v name="$2" -v second="$second_way" '{ way = $0; sub(second, "") } $0 == name { print way }' "$work/names.$1"
}

# run SIDE NAME THREADS OPTION...: one process of it, in JSON.
run() {
  local side=$1 name=$2 threads=$3 environment=()
  shift 3
  [ "$side" = heed ] || environment=("${tuning[@]}")
  choose_program "$side"
  pinned "$threads" env "${environment[@]}" "${bench[@]}" --benchmark_format=json \
    --benchmark_filter="^$name(/iterations:2)?(/real_time)?\$" "$@" 2>"$work/stderr" |
    jq -ce 'if .benchmarks == [] then error("no result") else . end
            | .benchmarks[] | if .error_occurred then error(.error_message) else . end'
}

failed() {
  echo "compare.sh: $1 failed: $(tail -n 3 "$work/stderr")" >&2
  status=1
}

# measure SIDE NAME THREADS: prints [median, lower quartile, upper quartile, first call] in ns; C++ has no first call.
measure() {
  local repetitions=9
  case $2 in
    attention_long*/4096) repetitions=5 ;;
    attention_long*/8192) repetitions=3 ;;
  esac
  run "$@" --benchmark_min_time=0.15 --benchmark_repetitions=$repetitions | jq -cs --arg name "$2" '
    def at(part): .[(length - 1) * part | round];
    (if $name | startswith("op_overhead") then 1000 else 1 end) as $per
    | .[0].first_call_ns as $first
    | [.[] | select(.run_type == "iteration") | .real_time * {ns: 1, us: 1e3, ms: 1e6, s: 1e9}[.time_unit] / $per]
    | sort | [at(0.5), at(0.25), at(0.75), $first]'
}

compiling='compile|jax'  # the sides that have a column for the first call

# Rows of JSON to rows of the table.
print_rows() {
  jq -r '[.name, .threads, .floor_ns, (.times[] | .[0], .[1], .[2], .[3])] | @tsv' |
    awk -F '\t' -v sides="${sides[*]}" '
    BEGIN { split(sides, side, " ") }
    function unit(ns) { return ns < 1e3 ? 1 : ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9 }
    function time(ns,    u) {
      if (ns == "") return "-"
      u = unit(ns)
      return sprintf("%.4g %s", ns / u, u == 1 ? "ns" : u == 1e3 ? "us" : u == 1e6 ? "ms" : "s")
    }
    function spread(ns, low, high) {
      return ns == "" ? "" : sprintf("%.4g-%.4g", low / unit(ns), high / unit(ns))
    }
    function ratio(ns) { return ns == "" || $4 == "" ? "-" : sprintf("%.2f", ns / $4) }
    {
      printf "%-29s %7d", $1, $2
      best = ""
      for (i = 4; i < NF; i += 4) {
        printf " %15s %-15s", time($i), spread($i, $(i + 1), $(i + 2))
        if (i > 4) printf " %6s", ratio($i)
        if (i > 4 && $i != "" && (best == "" || $i < best)) best = $i
        if (side[i / 4] ~ /^('"$compiling"')$/) printf " %10s", time($(i + 3))
      }
      if (NF > 11) printf " %7s", ratio(best)
      printf " %10s\n", time($3)
    }'
}

# The smallest floors so far, as what else the computer does slows down this measurement too.
measure_floors() {
  local floors=$root/build/release/bench/floors
  floors_at=$SECONDS
  [ -x "$floors" ] || return 0
  pinned "$1" "$floors" >"$work/floors.new"
  jq -s '.[0] as $best | .[1] | with_entries(.value = ([.value, $best[.key]] | map(values) | min))' \
    "$work/floors" "$work/floors.new" >"$work/floors.best"
  mv "$work/floors.best" "$work/floors"
}

compare_times() {
  local threads name round turn side way times
  printf '\n%-29s %7s %15s %-15s' name threads heed quartiles
  for side in "${sides[@]:1}"; do
    printf ' %15s %-15s %6s' "$side" quartiles ratio
    [[ ! $side =~ ^($compiling)$ ]] || printf ' %10s' "first call"
  done
  [ ${#sides[@]} -lt 3 ] || printf ' %7s' fastest
  printf ' %10s\n' floor
  for threads in $threads_list; do
    echo '{}' >"$work/floors"
    : >"$work/rows.now"
    measure_floors "$threads"
    for name in $names; do
      : >"$work/runs"
      rm -rf "$TORCHINDUCTOR_CACHE_DIR"
      for ((round = 0; round < rounds; ++round)); do
        for ((turn = 0; turn < ${#sides[@]}; ++turn)); do
          side=${sides[(round + turn) % ${#sides[@]}]}  # who goes first alternates too
          for way in $(ways "$side" "$name"); do
            if times=$(measure "$side" "$way" "$threads"); then
              echo "{\"side\": \"$side\", \"times\": $times}" >>"$work/runs"
            else
              failed "$side at $way with $threads threads"
            fi
          done
        done
      done
      jq -cs --arg name "$name" --argjson threads "$threads" --slurpfile floors "$work/floors" '
        . as $runs
        | {$name, $threads, floor_ns: $floors[0][$name],
           times: [$ARGS.positional[] | . as $side | [$runs[] | select(.side == $side).times]
                   | min_by(.[0])[:3] + [map(.[3]) | max]]}
        | def by_side(f): [$ARGS.positional, [.times[] | f]] | transpose | map({(.[0]): .[1]}) | add;
        .ns = by_side(.[0]) | .first_call_ns = (by_side(.[3]) | map_values(values))
        | .heed_ns = .times[0][0]
        | .libtorch_ns = ([.ns | to_entries[] | select(.key | startswith("libtorch")).value | values] | min)
        | ([.times[1:][][0] | values] | min) as $fastest
        | .ratio = (if .heed_ns and $fastest then $fastest / .heed_ns else null end)' \
        --args "${sides[@]}" <"$work/runs" | tee -a "$work/rows.now" | print_rows
      [ $((SECONDS - floors_at)) -lt 120 ] || measure_floors "$threads"
    done
    measure_floors "$threads"
    jq -c --slurpfile floors "$work/floors" '.floor_ns = $floors[0][.name]' "$work/rows.now" >>"$work/rows"
  done
  jq -rs '
    def mean(f): map(f | values | log) | if . == [] then "-" else add / length | exp * 100 | round / 100 end;
    map(select(.ratio)) | group_by(.threads)[]
    | "geometric mean of \(length) ratios with \(.[0].threads) threads: \(mean(.ratio))",
      if .[0].times | length < 3 then empty
      else (.[0].ns | keys_unsorted[1:][]) as $side
      | "  to \($side) alone: \(map(select(.ns[$side])) | mean(.ns[$side] / .heed_ns))" end' "$work/rows"
  jq -s 'map({name, threads, heed_ns, libtorch_ns, ratio, floor_ns, ns, first_call_ns})' "$work/rows" >"$work/json"
}

# memory_of SIDE NAME: rows of JSON, what three steps add to the memory of a process, and the most that it has.
memory_of() {
  local way
  : >"$work/runs"
  for way in $(ways "$1" "$2"); do
    HEED_BENCH_MEMORY=1 run "$1" "$way" 1 >>"$work/runs" || failed "$1 at $way"
  done
  jq -cs --arg side "$1" --arg name "$2" 'select(. != []) | min_by(.growth_mib)
    | {$side, name: "\($name), growth MiB", value: .growth_mib}, {$side, name: "\($name), peak MiB", value: .peak_mib}' \
    "$work/runs"
}

# start_of SIDE: rows of JSON, what the smallest program costs.
start_of() {
  local program libraries run start
  program=$(program "$1" startup)
  strip -o "$work/stripped" "$program"
  libraries=$(ldd "$program" | grep -o '/[^ ]*' | xargs realpath | sort -u | xargs stat -c %s | paste -sd,)
  (
    taskset -cp "$(tail -n 1 <<<"$cores")" $BASHPID >/dev/null
    export OMP_NUM_THREADS=1
    for ((run = 0; run <= 20; ++run)); do
      start=${EPOCHREALTIME/[.,]/}
      "$program" >"$work/number"
      echo $((${EPOCHREALTIME/[.,]/} - start))
    done
  ) | tail -n 20 >"$work/runs"
  jq -cs --arg side "$1" --argjson libraries "[$libraries]" --argjson peak "$(cut -d ' ' -f 2 "$work/number")" \
    --argjson stripped "$(stat -c %s "$work/stripped")" '
    [["ms", (sort | (.[9] + .[10]) / 2000)], ["peak MiB", $peak / 1024], ["program MiB", $stripped / 1048576],
     ["libraries", ($libraries | length)], ["libraries MiB", ($libraries | add) / 1048576]][]
    | {$side, name: "startup, \(.[0])", value: .[1]}' "$work/runs"
}

compare_memory() {
  local name side
  printf '\n%-44s' name
  printf ' %15s' "${sides[@]}"
  for name in $names; do
    for side in "${sides[@]}"; do
      if [ "$name" = startup ]; then start_of "$side"; else memory_of "$side" "$name"; fi
    done >"$work/facts"
    jq -cs 'group_by(.name)[] | {name: .[0].name} + (map({(.side): .value}) | add)' "$work/facts" | tee -a "$work/rows" |
      jq -r '[.name, .[$ARGS.positional[]]] | @tsv' --args "${sides[@]}" | awk -F '\t' '{
        printf "\n%-44s", $1
        for (i = 2; i <= NF; ++i) printf " %15s", $i == "" ? "-" : sprintf("%.4g", $i)
      }'
  done
  echo
  jq -s . "$work/rows" >"$work/json"
}

status=0
: >"$work/rows"
names=$(workloads) || bad_flag "--filter: no workload matches '$filter'"
if [ -n "$memory" ]; then compare_memory; else compare_times; fi
if [ "$json" = - ]; then cat "$work/json" >&3; elif [ -n "$json" ]; then cat "$work/json" >"$json"; fi
exit "$status"
