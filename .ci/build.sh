#!/usr/bin/env bash
# Builds targets of the preset release: .ci/build.sh target...
# Installs what is missing (.ci/setup.sh), and begins anew where the folder was moved or copied with its build tree.
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/setup.sh build
tree=build/release
made_for=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' $tree/CMakeCache.txt 2>/dev/null || true)
if [ -n "$made_for" ] && ! [ "$made_for" -ef . ]; then
  echo "heed: $tree was made for $made_for; building anew" >&2
  rm -rf $tree
fi
cmake --preset release
cmake --build --preset release --target "$@"
