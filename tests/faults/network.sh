#!/usr/bin/env bash
# Trains on two machines: tests/faults/network.sh TRAINER. The machines are network namespaces with a cable between them, at
# 1 Gbit/s. The weights must be those of one process. Then the cable is pulled: all must end within 10 s with a message and a
# whole checkpoint. Exits with 77 where namespaces are not allowed.
set -euo pipefail
trainer=$(realpath "$1")
here=heed-$$-a there=heed-$$-b
folder=$(mktemp -d)
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
}
plug "$here" "ha$$" 10.77.0.1
plug "$there" "hb$$" 10.77.0.2

# In place of ssh: agent HOST command...
printf '#!/bin/sh\nshift\nexec ip netns exec %s sh -c "$*"\n' "$there" >"$folder/agent"
chmod +x "$folder/agent"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
cd "$folder"
# train OUT arguments: of the trainer, with processes 0 and 2 here, 1 and 3 there
train() {
  timeout 120 ip netns exec "$here" mpirun -np 4 --host 10.77.0.1:2,10.77.0.2:2 --map-by node --bind-to none \
    --mca plm_rsh_agent "$folder/agent" --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 \
    --mca oob_tcp_if_include 10.77.0.0/24 --mca oob_tcp_keepalive_time 2 \
    --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3 "$trainer" "$@"
}

"$trainer" alone 8 50
train network 8 50
cmp alone/weights network/weights
echo "two machines: the bytes of one process"

train pulled 8 1000000 >said 2>&1 &
for _ in $(seq 300); do
  [ ! -e pulled/checkpoints/step-00000010.safetensors ] || break
  sleep 0.1
done
ip -n "$here" link set "ha$$" down
start=$SECONDS code=0
wait $! || code=$?
cat said
echo "the cable was pulled: exit code $code after $((SECONDS - start)) s"
[ "$code" -ne 0 ] && [ "$code" -ne 124 ] && [ $((SECONDS - start)) -le 10 ]
grep -q "has been silent for 5 s" said
for _ in $(seq 50); do
  [ -n "$(ip netns pids "$there")" ] || break
  sleep 0.1
done
[ -z "$(ip netns pids "$there")" ]
# Its step is not known, so the rest of the training is compared with itself on one process.
newest=$(printf '%s\n' pulled/checkpoints/step-* | tail -n 1)
steps=$((10#${newest//[^0-9]/} + 20))
cp -r pulled again
timeout 60 mpirun -np 2 --oversubscribe --bind-to none "$trainer" pulled 8 $steps resume
"$trainer" again 8 $steps resume
cmp pulled/weights again/weights
echo "the checkpoint of step $((steps - 20)) is whole"
