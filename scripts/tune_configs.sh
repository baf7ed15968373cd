#!/usr/bin/env bash
# Writes configs/tuning/NAME.json of every default config anew, from the cycle model. Usage: scripts/tune_configs.sh [NAME...]
# Needs a built mlaforge: MLAFORGE, else build/release/cli/mlaforge.
set -euo pipefail
cd "$(dirname "$0")/.."
mlaforge=${MLAFORGE:-build/release/cli/mlaforge}
mkdir -p configs/tuning
if [ $# -eq 0 ]; then
  for config in configs/*.json; do
    name=$(basename "$config" .json)
    [ "$name" = schema ] || set -- "$@" "$name"
  done
fi
for name in "$@"; do
  # The default config at every power of two; the others at every second, which the runtime's factor of two still reaches.
  batches=1,4,16,64
  [ "$name" = kimi_k3_tp8 ] && batches=1,2,4,8,16,32,64,128
  "$mlaforge" tune --config "configs/$name.json" --device simulator --batch "$batches" --out "configs/tuning/$name.json"
done
