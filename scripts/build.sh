#!/usr/bin/env bash
# Installs what is missing, then configures and builds a preset (release by default): scripts/build.sh [preset] [targets...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
[ $# -eq 0 ] || shift

scripts/install_deps.sh
cmake --preset "$preset" >/dev/null
targets=()
[ $# -eq 0 ] || targets=(--target "$@")
cmake --build --preset "$preset" "${targets[@]}"
