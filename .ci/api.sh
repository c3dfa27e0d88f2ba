#!/usr/bin/env bash
# Makes the pages of the API, out/api/index.html. Fails if a public type or function has no comment, or if Doxygen cannot
# read one. Members whose names say everything need none.
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/setup.sh api
rm -rf out/api
mkdir -p out
warnings=$(doxygen .ci/Doxyfile 2>&1 | grep -vE 'Member .* of (class|struct) .* is not documented' || true)
if [ -n "$warnings" ]; then
  echo "$warnings" >&2
  exit 1
fi
