#!/usr/bin/env bash
# Kills processes at random moments of their saves, then of their trainings: tests/faults/kills.sh [--long]. After each kill
# the file must be complete. Trainings resume, and must end with the weights, checkpoints and log of one that was not killed.
set -euo pipefail
cd "$(dirname "$0")/../.."

kills=40 cycles=6 steps=400
[ "${1-}" = --long ] && kills=200 cycles=50 steps=3000
.ci/build.sh heed_saver translate g2p language_model
saver=$PWD/build/release/tests/faults/heed_saver
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive

# Kills the last background process after 20 ms or more, up to $1 ms longer; fails if it had already ended.
kill_soon() {
  sleep "0.$(printf %03d $((RANDOM % $1 + 20)))"
  local alive=0
  kill -KILL $! 2>/dev/null || alive=1
  wait $! 2>/dev/null || true
  return $alive
}

saves() {
  local torn=0 saved=0 last=none round left
  for ((kill = 1; kill <= kills; ++kill)); do
    "$saver" "$folder/file" &
    [ "$kill" -gt 1 ] || until [ -e "$folder/file" ]; do sleep 0.01; done
    kill_soon 150
    round=$("$saver" --check "$folder/file") || torn=$((torn + 1))
    [ "$round" = "$last" ] || saved=$((saved + 1))
    last=$round
  done
  left=$(find "$folder" -name '.heed-*' | wc -l)
  echo "$kills kills during saves: $torn incomplete files; $saved processes had saved, $left were killed during a save"
  [ "$torn" -eq 0 ] && [ "$saved" -gt $((kills / 2)) ] && [ "$left" -gt 0 ]
}

# Prints the log without measured times.
log_of() { sed 's/"tokens_per_second":[^,}]*//' "$1/log.jsonl"; }

# trainings THREADS FILE PROGRAM options: FILE in --out is the result.
trainings() {
  local threads=$1 result=$2 program=$3 killed=0 file newest
  shift 3
  local train=("$PWD/build/release/examples/$program" "$@" --checkpoint-every 5)
  local whole=$folder/$program out=$folder/broken
  [ -e "$whole" ] || "${train[@]}" --out "$whole" >"$folder/said" 2>&1 || { cat "$folder/said" >&2; return 1; }
  local again=("${train[@]}" --out "$out" --resume --threads "$threads")
  while [ "$killed" -lt "$cycles" ]; do
    rm -rf "$out"
    while [ "$killed" -lt "$cycles" ]; do
      "${again[@]}" >"$folder/said" 2>&1 &
      kill_soon 400 || break  # the training is complete
      killed=$((killed + 1))
    done
    "${again[@]}" >"$folder/said" 2>&1 || { cat "$folder/said" >&2; return 1; }
    newest=$(cd "$whole" && printf '%s\n' checkpoints/step-* | tail -n 1)
    for file in "$result" checkpoints/best.safetensors "$newest"; do
      cmp "$whole/$file" "$out/$file" || return 1
    done
    cmp <(log_of "$whole") <(log_of "$out") || return 1
  done
  echo "$killed kills of a training of $program with $threads threads: the same weights, optimizer and log as without kills"
}

head -n 400 examples/g2p/cmudict/train.tsv >"$folder/train.tsv"
head -n 50 examples/g2p/cmudict/dev.tsv >"$folder/dev.tsv"
head -n 1000 README.md >"$folder/text"

failed=0
saves || failed=1
for threads in 1 2; do
  trainings $threads translate.safetensors translate --steps "$steps" --batch 8 || failed=1
  trainings $threads g2p.safetensors g2p train --train "$folder/train.tsv" --dev "$folder/dev.tsv" --width 32 --layers 1 \
    --batch 16 --epochs $((steps / 30)) || failed=1
  trainings $threads language_model.safetensors language_model train --text "$folder/text" --width 16 --layers 1 \
    --heads 2 --context 32 --vocabulary 300 --length 20 --steps "$steps" || failed=1
done
exit $failed
