#!/usr/bin/env bash
# Installs the Debian packages that are missing, and says which: .ci/setup.sh group...
# This is the one place that names them. Asks apt for nothing when everything is there.
set -euo pipefail

declare -A packages=(
  # build the library, the tests, the examples and the benchmarks; draw the pictures; make the guide, with the needed
  # characters of a font for formulas; several processes
  [build]="g++ cmake ninja-build pkgconf libopenblas-openmp-dev doctest-dev libcli11-dev nlohmann-json3-dev
           libbenchmark-dev gnuplot-nox pandoc fonts-texgyre-math libharfbuzz-bin libopenmpi-dev openmpi-bin"
  # second compiler, thread sanitizer, layout, lint; graphs drawn and a page opened in the tests; a cache for three
  # builds; 64-bit ARM; clang's standard library and the oldest g++; WebAssembly run outside of a browser
  [ci]="clang-16 libclang-rt-16-dev libomp-16-dev clang-format-16 clang-tidy-16 shellcheck graphviz chromium ccache
        g++-aarch64-linux-gnu qemu-user libc++-16-dev libc++abi-16-dev g++-11 nodejs"
  # the playground: a compiler for WebAssembly
  [wasm]="clang-16 lld-16 wasi-libc libc++-16-dev-wasm32 libc++abi-16-dev-wasm32 libclang-rt-16-dev-wasm32"
  # .ci/api.sh: the pages of the API
  [api]="doxygen"
  # bench/compare.sh: what reads the timings
  [compare]="jq"
  # bench/compare.sh without --torch and --python: the other side
  [libtorch]="libtorch-dev"
)

missing=()
for group in "$@"; do
  for package in ${packages[$group]:?"no such group: $group"}; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
  done
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "heed: this script installs packages on Debian and its kin only. Install what they stand for yourself," >&2
  echo "then: cmake --preset release && cmake --build --preset release" >&2
  echo "Packages: ${missing[*]}" >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
  if ! command -v sudo >/dev/null; then
    echo "heed: these packages are missing, and neither root nor sudo is at hand. As root:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi

echo "heed: installing ${missing[*]}" >&2
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" </dev/null >&2
}
apt update
apt install --yes --no-install-recommends "${missing[@]}"
