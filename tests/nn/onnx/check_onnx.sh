#!/usr/bin/env bash
# Checks exported models in Python: tests/nn/onnx/check_onnx.sh VENV FOLDER [DOCUMENT]. Compares the models in FOLDER with
# results that are there, or runs the programs of DOCUMENT, "```python NAME", in FOLDER; what they print is in NAME.out.
# The virtual environment is made if it does not exist. Exits with 77 if PyPI is not reached.
set -euo pipefail
python=$1/bin/python
if ! "$python" -c 'import onnx, onnxruntime' 2>/dev/null; then
  python3 -m venv "$1" >&2 || exit 77
  timeout 600 "$python" -m pip install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime >&2 || exit 77
fi
if [ $# -lt 3 ]; then
  exec "$python" "$(dirname "$0")/check_onnx.py" "$2"
fi
document=$(realpath "$3")
cd "$2"
awk '/^```python ./ { file = $2; next } /^```/ { file = "" } file { print > file }' "$document"
for program in *.py; do
  "$python" "$program" >"$program.out"
done
