#!/usr/bin/env bash
# Two machines for the script that reads this file, called here and there: network namespaces with a cable between them, at
# 1 Gbit/s. They and the folder are removed at the end. Exits with 77 where namespaces are not allowed.
: "${here:?a name}" "${there:?a name}" "${folder:?a new folder for files}"
cleanup() {
  ip netns pids "$there" 2>/dev/null | xargs -r kill -KILL || true
  ip netns del "$here" 2>/dev/null || true
  ip netns del "$there" 2>/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT
if ! command -v tc mpirun >/dev/null || ! ip netns add "$here" 2>/dev/null || ! ip netns add "$there" ||
  ! ip link add "ha$$" netns "$here" type veth peer name "hb$$" netns "$there"; then
  echo "skipped: network namespaces need root, ip, tc and mpirun"
  exit 77
fi

# plug NAMESPACE DEVICE ADDRESS
plug() {
  ip -n "$1" addr add "$3/24" dev "$2"
  ip -n "$1" link set "$2" up
  ip -n "$1" link set lo up
  tc -n "$1" qdisc add dev "$2" root tbf rate 1gbit burst 128kb latency 50ms
  # What mpirun's own daemon has sent, but nobody received, fails after 6 s in place of 15 minutes.
  ip netns exec "$1" sh -c 'echo 4 >/proc/sys/net/ipv4/tcp_retries2'
}
plug "$here" "ha$$" 10.77.0.1
plug "$there" "hb$$" 10.77.0.2

# In place of ssh: agent HOST command...
printf '#!/bin/sh\nshift\nexec ip netns exec %s sh -c "$*"\n' "$there" >"$folder/agent"
chmod +x "$folder/agent"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1

# processes N program arguments...: half of N processes on each machine, the even ones here.
processes() {
  timeout 120 ip netns exec "$here" mpirun -np "$1" --host "10.77.0.1:$(($1 / 2)),10.77.0.2:$(($1 / 2))" --map-by node \
    --bind-to none --mca plm_rsh_agent "$folder/agent" --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 \
    --mca oob_tcp_if_include 10.77.0.0/24 --mca oob_tcp_keepalive_time 2 \
    --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3 "${@:2}"
}
