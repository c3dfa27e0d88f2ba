#!/usr/bin/env bash
# Kills processes at random moments of their saves: tests/faults/kills.sh [--long]. After each kill the file must be whole.
# Fails if one is not, or if the processes that are killed save nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."

kills=40
[ "${1-}" = --long ] && kills=200
.ci/build.sh heed_saver
saver=$PWD/build/release/tests/faults/heed_saver
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=1

torn=0 saved=0 last=none
for ((kill = 1; kill <= kills; ++kill)); do
  "$saver" "$folder/file" &
  process=$!
  [ "$kill" -gt 1 ] || until [ -e "$folder/file" ]; do sleep 0.01; done
  sleep "0.$(printf %03d $((RANDOM % 150 + 20)))"
  kill -KILL "$process"
  wait "$process" 2>/dev/null || true
  if ! round=$("$saver" --check "$folder/file"); then
    torn=$((torn + 1))
    cp "$folder/file" "torn_$kill"
  fi
  [ "$round" = "$last" ] || saved=$((saved + 1))
  last=$round
done
left=$(find "$folder" -name '.heed-*' | wc -l)
echo "$kills kills during saves: $torn files torn; $saved processes had saved, $left were killed in the middle"
[ "$torn" -eq 0 ] && [ "$saved" -gt $((kills / 2)) ] && [ "$left" -gt 0 ]
