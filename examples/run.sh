#!/usr/bin/env bash
# From a clone to pictures: ./examples/run.sh [program [arguments]], by default kernel_regression.
# Installs what is missing (.ci/setup.sh), builds, runs the program, and ends with the paths of what it drew.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

program=kernel_regression
if [ $# -gt 0 ] && [[ $1 != -* ]]; then
  program=$1
  shift
fi
# A source with a header of its own is shared by the programs.
if [ ! -f "$root/examples/$program.cpp" ] || [ -f "$root/examples/$program.h" ]; then
  echo "run.sh: there is no example $program; there are:" >&2
  for file in "$root"/examples/*.cpp; do
    [ -f "${file%.cpp}.h" ] || basename "$file" .cpp >&2
  done
  exit 2
fi

# Standard output is the program's alone: --json - must give nothing but JSON.
"$root/.ci/setup.sh" build
(cd "$root" && cmake --preset release && cmake --build --preset release --target "$program") >&2

out=
next=
for argument in "$@"; do
  case $argument in
    --out=*) out=${argument#--out=} ;;
    *) [ "$next" = --out ] && out=$argument ;;
  esac
  next=$argument
done
if [ -z "$out" ]; then
  out=$root/out/$program
  out=${out#"$PWD/"}
  set -- "$@" --out "$out"
fi

"$root/build/release/examples/$program" "$@"
