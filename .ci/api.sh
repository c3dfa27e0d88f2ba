#!/usr/bin/env bash
# Makes the pages of the API, out/api/index.html. Fails where a public name has no comment, or Doxygen cannot read one.
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/setup.sh api
rm -rf out/api
mkdir -p out
doxygen .ci/Doxyfile
