#!/usr/bin/env bash
# Installs what a build needs by Debian package name. As root it installs what is missing; otherwise it prints the command and stops.
set -euo pipefail

packages=(
  cmake ninja-build g++ git                        # build
  clang-22 lld-22 llvm-22 llvm-22-dev              # compiler for gfx950 and the host; the simulator's disassembler
  nlohmann-json3-dev libvalijson-dev               # JSON and JSON Schema
  libcli11-dev libfmt-dev libkainjow-mustache-dev  # command line, formatting, templates
  libamdhip64-dev                                  # HIP's headers (never linked)
  zlib1g-dev libzstd-dev                           # compressed code objects in the simulator
  catch2 libbenchmark-dev                          # tests, benchmarks
  debootstrap                                      # a real hipcc for the tests (scripts/hipcc_sid.sh)
  python3-numpy                                    # the example in Python, which a test runs
)

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "These Debian packages are missing. Install them as root, then run this again:" >&2
  echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 2
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends "${missing[@]}"
