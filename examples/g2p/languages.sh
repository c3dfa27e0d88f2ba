#!/usr/bin/env bash
# The 15 languages of SIGMORPHON 2020's shared task 1, by g2p: examples/g2p/languages.sh FOLDER [minutes]
# FOLDER is task1/data of the repository sigmorphon/2020: train/LLL_train.tsv, dev/LLL_dev.tsv, test/LLL_test.tsv.
# For each language three models are trained, each for so many minutes (1.5 without), as many at a time as there are
# cores; then they answer together, once, for the words to test. All goes to out/g2p_languages; what is there already is
# not done again.
set -euo pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '2s/^# //p' "$0" >&2
  exit 2
fi
data=$(cd "$1" && pwd)
minutes=${2:-1.5}
cd "$(dirname "$0")/../.."
.ci/build.sh g2p >&2
out=out/g2p_languages

# learn LLL: ends with out/g2p_languages/LLL.json.
learn() {
  local language=$1 seed models=() place
  [ ! -e "$out/$language.json" ] || return 0
  for seed in 1 2 3; do
    place=$out/$language-$seed
    models+=(--ensemble "$place/g2p.safetensors")
    [ ! -e "$place/g2p.safetensors" ] || continue
    build/release/examples/g2p train --train "$data/train/${language}_train.tsv" --dev "$data/dev/${language}_dev.tsv" \
      --width 192 --batch 32 --lr 0.002 --average 5 --minutes "$minutes" --seed "$seed" --threads 1 --resume \
      --out "$place" >"$out/$language-$seed.txt"
  done
  build/release/examples/g2p evaluate "$data/test/${language}_test.tsv" "${models[@]}" --test-words 0 --threads 1 \
    --out "$out/$language" --json "$out/$language.json" >"$out/$language.txt"
  echo "$language: $(head -n 1 "$out/$language.txt")"
}
export -f learn
export data minutes out

mkdir -p "$out"
languages=$(find "$data/test" -name '*_test.tsv' -exec basename {} _test.tsv \; | sort)
if [ -z "$languages" ]; then
  echo "languages.sh: there is no test/LLL_test.tsv in $data" >&2
  exit 2
fi
xargs -P "$(nproc)" -I LLL bash -euc 'learn LLL' <<<"$languages"

echo
for language in $languages; do
  awk -v language="$language" '
    { gsub(/[",]/, "") }
    $1 == "word_errors:" { words = 100 * $2 }
    $1 == "phone_errors:" { phones = 100 * $2 }
    END { print language, words, phones }' "$out/$language.json"
done | awk '
  BEGIN { print "language  words wrong, %  phones wrong, %" }
  { printf "%-8s  %14.2f  %15.2f\n", $1, $2, $3; words += $2; phones += $3 }
  END { printf "%-8s  %14.2f  %15.2f\n", "mean", words / NR, phones / NR }'
