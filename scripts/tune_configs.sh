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
  # The runtime goes by a point within a factor 5/4 in batch and 2 in context, elsewhere by its cost model.
  batches=1,8
  [ "$name" = kimi_k3_tp8 ] && batches=1,8,64
  "$mlaforge" tune --config "configs/$name.json" --device simulator --batch $batches --context 8192,65536 \
    --out "configs/tuning/$name.json"
done
