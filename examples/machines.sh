#!/usr/bin/env bash
# Runs a program that trains on several processes: ./examples/machines.sh N [hosts] program [options]. N is the number of
# processes; hosts are machines with the number of processes on each, `here:2,there:2`, that ssh reaches without a password
# and where this folder has the same path. Without hosts all processes run here. docs/processes.md says more.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
usage="usage: examples/machines.sh N [host:processes,...] program [options]"

count=${1-} hosts=()
shift || true
if [[ ${1-} == *:* ]]; then
  hosts=(--host "$1")
  shift
fi
if [[ ! $count =~ ^[1-9][0-9]*$ ]] || [ $# -eq 0 ]; then
  echo "$usage" >&2
  exit 2
fi
program=$1
shift
case $program in
  translate | g2p | language_model) ;;
  *) echo "machines.sh: $program does not train on several processes; translate, g2p and language_model do" >&2; exit 2 ;;
esac
"$root/.ci/build.sh" "$program" >&2

out=(--out "$root/out/$program")
for argument in "$@"; do
  [[ $argument != --out && $argument != --out=* ]] || out=()
done

# By default mpirun binds each of two processes to one core, kills processes one second after SIGTERM, and notices after
# minutes that a machine vanished.
flags=(--bind-to none --oversubscribe
  --mca odls_base_sigkill_timeout 60
  --mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3
  -x "OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}" -x "OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}")
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
exec mpirun -np "$count" ${hosts[@]+"${hosts[@]}"} "${flags[@]}" \
  "$root/build/release/examples/$program" "$@" ${out[@]+"${out[@]}"}
