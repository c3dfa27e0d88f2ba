#!/usr/bin/env bash
# Training on two processes beside one process with one thread and with two: bench/processes.sh [rounds]. Prints the best time
# of a step in ms, of all rounds in turn, for GPTs of 0.6 and 10.8 million parameters; and the efficiency, the time of one
# thread divided by twice the time of two processes. As root also on two machines that a cable of 1 Gbit/s connects.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3}
.ci/build.sh processes >&2
program=$PWD/build/release/bench/processes
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# time_of WAY SIZE
time_of() {
  case $1 in
    thread) OMP_NUM_THREADS=1 "$program" "$2" ;;
    threads) OMP_NUM_THREADS=2 "$program" "$2" ;;
    processes) OMP_NUM_THREADS=1 mpirun -np 2 --bind-to none --oversubscribe "$program" "$2" ;;
    machines) (
      here=heed-$$-a there=heed-$$-b
      folder=$(mktemp -d)
      export here there folder
      # shellcheck source=/dev/null
      . tests/faults/two_machines.sh
      processes 2 "$program" "$2"
    ) ;;
  esac
}
for _ in $(seq "$rounds"); do
  for size in small large; do
    for way in thread threads processes machines; do
      echo "$size $way $(time_of "$way" "$size")"
    done
  done
done | awk '
  $3 + 0 > 0 && (!(($1, $2) in best) || $3 < best[$1, $2]) { best[$1, $2] = $3 }
  END {
    for (i = 1; i <= split("small large", sizes); ++i) {
      printf "%s:", sizes[i]
      for (j = 1; j <= split("thread threads processes machines", ways); ++j)
        if ((sizes[i], ways[j]) in best) {
          ms = best[sizes[i], ways[j]]
          printf "  %s %.1f ms", ways[j], ms
          if (j > 1) printf " (%.2f)", best[sizes[i], "thread"] / 2 / ms
        }
      print ""
    }
  }'
