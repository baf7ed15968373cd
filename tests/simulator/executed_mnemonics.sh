#!/usr/bin/env bash
# usage: executed_mnemonics.sh FOLDER
# Runs the built simulator tests below FOLDER (the build's tests/simulator), each noting the mnemonics that it executes,
# and compares docs/instructions.md with them; with MLAFORGE_WRITE_DOCS=1 writes it.
set -euo pipefail
build=$1
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
mkdir "$lists/alu"
for program in "$build"/simulator_* "$build"/alu/simulator_alu_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=$(basename "$program")
  case $name in
    simulator_instructions_doc) continue ;;
    simulator_alu_*) list=alu/${name#simulator_alu_}_test.cpp ;;
    *) list=${name#simulator_}_test.cpp ;;
  esac
  MLAFORGE_EXECUTED=$lists/$list "$program" >/dev/null || { echo "$name failed" >&2; exit 1; }
done
MLAFORGE_EXECUTED_LISTS=$lists "$build/simulator_instructions_doc" "[measured]"
