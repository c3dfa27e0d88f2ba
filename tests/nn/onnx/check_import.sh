#!/usr/bin/env bash
# Runs ONNX's own tests of operators, and models exported from PyTorch: tests/nn/onnx/check_import.sh [PYTHON]. PYTHON has
# the packages onnx and, for the models, torch and onnxscript. What is not installed is skipped by name.
set -euo pipefail
cd "$(dirname "$0")/../../.."
python=${1-python3}
if ! "$python" -c 'import onnx' 2>/dev/null; then
  echo "ONNX's tests: skipped, since $python has no package onnx"
  exit 77
fi
cmake --build --preset release --target onnx_cases >&2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" tests/nn/onnx/check_import.py build/release/tests/onnx_cases "$folder"
