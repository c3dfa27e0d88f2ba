#!/usr/bin/env bash
# From a clone to pictures: ./examples/run.sh [program] [options]. By itself it runs kernel_regression and translate, and
# names the others; options alone are for kernel_regression. Builds (.ci/build.sh), runs, and ends with the paths of
# what was drawn. The name api makes the pages of the API instead, out/api/index.html.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

# The sources of programs of this name, or of all: those without a header of their own, which parts of programs have.
sources() {
  local file
  find "$root/examples" -mindepth 2 -maxdepth 2 -name "${1:-*}.cpp" | sort | while read -r file; do
    [ -f "${file%.cpp}.h" ] || echo "$file"
  done
}

# What the first line of a program's source says.
about() { sed -n '1s|^// ||p' "$1"; }

# The programs except those given.
list() {
  local file name
  sources | while read -r file; do
    name=$(basename "$file" .cpp)
    [[ " $* " == *" $name "* ]] || printf '  %-22s%s\n' "$name" "$(about "$file")"
  done
}

# The pages of the API are made of the headers alone, with nothing built.
if [ "${1:-}" = api ]; then
  "$root/.ci/api.sh" >&2
  pages=$root/out/api/index.html
  echo "${pages#"$PWD/"}"
  exit
fi

programs=(kernel_regression)
if [ $# -eq 0 ]; then
  programs=(kernel_regression translate)
elif [[ $1 != -* ]]; then
  programs=("$1")
  shift
fi
for program in "${programs[@]}"; do
  if [[ ! $program =~ ^[a-z0-9_]+$ ]] || [ -z "$(sources "$program")" ]; then
    echo "run.sh: there is no example $program; there are:" >&2
    list >&2
    printf '  %-22s%s\n' api 'The pages of the API: every public name with formula, shapes and errors.' >&2
    exit 2
  fi
done
in_tour=
if [[ $(sources "${programs[0]}") == */examples/tour/* ]]; then
  in_tour=yes
  if [ $# -gt 0 ]; then
    echo "run.sh: the programs of examples/tour take no options; change numbers in examples/tour/${programs[0]}.cpp" >&2
    exit 2
  fi
fi

# Standard output is the programs' alone: --json - must give nothing but JSON.
"$root/.ci/build.sh" "${programs[@]}" >&2

# run program options: writes into out/program unless the options say where. Those of the tour write nothing.
run() {
  local program=$1 out=$root/out/$1 argument
  shift
  for argument in "$@"; do
    [[ $argument != --out && $argument != --out=* ]] || out=
  done
  if [ -n "$out" ] && [ -z "$in_tour" ]; then
    set -- "$@" --out "${out#"$PWD/"}"
  fi
  "$root/build/release/examples/$program" "$@"
}

if [ ${#programs[@]} -eq 1 ]; then
  run "${programs[0]}" "$@"
  exit
fi
start=$(mktemp)
trap 'rm -f "$start"' EXIT
for program in "${programs[@]}"; do
  printf '\n%s: %s\n\n' "$program" "$(about "$(sources "$program")")"
  run "$program"
done
printf '\nThere is more; %s NAME runs it, and NAME --help says what it can do:\n' "$0"
list "${programs[@]}"
printf '\nDrawn:\n'
out=$root/out
find "${programs[@]/#/${out#"$PWD/"}/}" -newer "$start" \( -name '*.svg' -o -name '*.html' \) | sort
