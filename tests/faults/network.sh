#!/usr/bin/env bash
# Trains on two machines, see two_machines.sh: tests/faults/network.sh TRAINER. The weights must be those of one process.
# Then the cable is pulled: all must end within 10 s with a message and a whole checkpoint. Exits with 77 where network
# namespaces are not allowed.
set -euo pipefail
trainer=$(realpath "$1")
here=heed-$$-a there=heed-$$-b folder=$(mktemp -d)
# shellcheck source=/dev/null
. "$(dirname "$0")/two_machines.sh"
cd "$folder"

"$trainer" alone 8 50
processes 4 "$trainer" network 8 50
cmp alone/weights network/weights
echo "two machines: the bytes of one process"

processes 4 "$trainer" pulled 8 1000000 >said 2>&1 &
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
