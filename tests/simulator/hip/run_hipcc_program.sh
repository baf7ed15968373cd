#!/usr/bin/env bash
# Builds a HIP program by MLAFORGE_HIPCC (as scripts/hipcc_sid.sh sets it) and runs it on the simulator, which it finds
# by LD_LIBRARY_PATH alone: run_hipcc_program.sh SIMULATOR_FOLDER OUTPUT SOURCE [HIPCC_FLAGS...]
# With --genco among the flags, OUTPUT is a code object, which the Python program beside this script loads by ctypes.
set -euo pipefail

simulator=$1
output=$2
source=$3
shift 3
"$MLAFORGE_HIPCC" --offload-arch=gfx950 -Wall -Wextra -Werror "$@" "$source" -o "$output"
export LD_LIBRARY_PATH="$simulator" MLAFORGE_SIM_CHECKS=all
case " $* " in
  *" --genco "*) exec python3 "$(dirname "$0")/drive_by_ctypes.py" "$output" ;;
  *) exec "$output" ;;
esac
