#!/usr/bin/env bash
# Builds everything and runs the tests: scripts/test.sh [ctest arguments...]. Full sweeps are left out: add `-L sweep` to run them.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh release
default=(-LE sweep)
[ $# -eq 0 ] || default=()
ctest --preset release -j "$(nproc)" "${default[@]}" "$@"
