#!/usr/bin/env bash
# Lints generator, runtime, simulator, reference and cli: scripts/tidy.sh [build folder] [part of a file's path].
# Skipped, and said so, where clang-tidy is not installed (Debian package clang-tidy-22); the build needs it for nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-build/release}
part=${2:-}
if ! command -v run-clang-tidy-22 >/dev/null; then
  echo "clang-tidy: left out, because run-clang-tidy-22 is not installed (Debian package clang-tidy-22)"
  exit 0
fi
if [ ! -f "$folder/compile_commands.json" ]; then
  echo "$folder has no compile_commands.json: build it first, by scripts/build.sh" >&2
  exit 2
fi
exec run-clang-tidy-22 -quiet -p "$folder" -j "$(nproc)" "/(generator|runtime|simulator|reference|cli)/.*$part.*\.cpp$"
