#!/usr/bin/env bash
# From a clone to tested: ./tests/run.sh [arguments of ctest], such as -L fast.
# Installs what is missing (.ci/setup.sh), builds, runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/setup.sh build
cmake --preset release
cmake --build --preset release --target heed_tests programs  # not bench/: libtorch's side takes minutes
ctest --preset release --parallel "$(nproc)" "$@"
