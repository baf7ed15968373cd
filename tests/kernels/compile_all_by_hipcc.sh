#!/usr/bin/env bash
# Compiles every kernel of a generated folder by MLAFORGE_HIPCC (as scripts/hipcc_sid.sh sets it), warnings being errors;
# spills are errors of `mlaforge compile` itself: compile_all_by_hipcc.sh MLAFORGE GENERATED OUTPUT
set -euo pipefail

mkdir -p "$3"
compiler=$3/hipcc_strict
printf '#!/bin/sh\nexec "%s" -Wall -Wextra -Werror "$@"\n' "$MLAFORGE_HIPCC" >"$compiler"
chmod +x "$compiler"
exec "$1" compile --kernels "$2" --out "$3/kernels" --compiler "$compiler" --cache "$3/cache"
