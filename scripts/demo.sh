#!/usr/bin/env bash
# The main job on a fresh machine: build, generate Kimi-K3's decode attention, compile it for gfx950, run it, compare it.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh release mlaforge mlaforge_simulator_hip
mlaforge=build/release/cli/mlaforge

echo
echo "Kernels for Kimi-K3, 96 heads over 8 GPUs:"
"$mlaforge" generate --config configs/kimi_k3_tp8.json --out build/demo
echo
echo "One of them, compiled for gfx950, on the device at hand, against a float64 reference:"
"$mlaforge" run --config configs/kimi_k3_tp8.json --batch 1 --context 4096 --qlen 4 --splits auto
