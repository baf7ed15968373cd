#!/usr/bin/env bash
# Builds everything and runs the tests: scripts/test.sh [ctest arguments...]. Full sweeps and hipcc are left out: `-L sweep`, `-L hipcc`.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh release
default=(-LE "sweep|hipcc")
[ $# -eq 0 ] || default=()
ctest --preset release -j "$(nproc)" "${default[@]}" "$@"
