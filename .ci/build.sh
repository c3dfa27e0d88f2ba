#!/usr/bin/env bash
# Builds targets of the preset release: .ci/build.sh target...
# Installs what is missing (.ci/setup.sh), and begins anew where the folder was moved or copied with its build tree.
set -euo pipefail
cd "$(dirname "$0")/.."

groups=(build)
[[ " $* " != *" playground "* ]] || groups+=(wasm)
.ci/setup.sh "${groups[@]}"
tree=build/release
made_for=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' $tree/CMakeCache.txt 2>/dev/null || true)
if [ -n "$made_for" ] && ! [ "$made_for" -ef . ]; then
  echo "heed: $tree was made for $made_for; building anew" >&2
  rm -rf $tree
fi
echo "heed: configuring $tree" >&2
if ! printed=$(cmake --preset release); then  # warnings are on standard error
  printf '%s\n' "$printed" >&2
  exit 1
fi
sed -n 's/^-- \(heed: .*\)/\1/p' <<<"$printed" >&2  # what is left out
cmake --build --preset release --target "$@"
