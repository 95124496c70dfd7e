#!/usr/bin/env bash
# Tests and measures Wattle on this machine's NVIDIA GPU, in under 8 minutes, and writes gpu.json.
#   bash gpu.sh [FOLDER FOR WHAT IT WRITES]
# WATTLE_GPU names the device (cuda:0), WATTLE_GPU_ELEMENTS the size of what is measured (2^28).
# Nothing is needed but the driver. With nvcc the peers in CUDA C++ are built and measured too. The GPU's clocks and
# modes are left as they are.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
device=${WATTLE_GPU:-cuda:0}
mkdir -p "$out"
cd "$out" || exit 2
steps=$out/steps.tsv
: >"$steps"
export WATTLE_CACHE_DIR=$out/cache

# Runs a step for so many seconds at the most, and keeps what it says.
step() {
  local name=$1 most=$2 began=$SECONDS
  shift 2
  echo "== $name"
  timeout "$most" "$@" >"$name.log" 2>&1
  local status=$?
  tail -n 5 "$name.log"
  printf '%s\t%s\t%s\n' "$name" "$status" "$((SECONDS - began))" >>"$steps"
}

nvidia-smi >nvidia-smi.log 2>&1 || echo "nvidia-smi is not here"
chmod +x "$here"/{wattle,gpu-bench,xtask,conformance}
step devices 20 "$here/wattle" devices
step conformance 100 "$here/conformance" --test-threads=4 --nocapture
step fuzz 70 "$here/xtask" fuzz --minutes 1 --device "$device"
step tour 60 "$here/wattle" tour --device "$device"

peers=()
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -n "$nvcc" ]; then
  step peers 90 "$nvcc" -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o "$out/libpeers.so" "$here/peers.cu"
  [ -e "$out/libpeers.so" ] && peers=(--peers "$out/libpeers.so")
else
  echo "nvcc is not here: there are no peers"
fi
step bench 120 "$here/gpu-bench" "$device" "${peers[@]}" ${WATTLE_GPU_ELEMENTS:+--n "$WATTLE_GPU_ELEMENTS"} --steps "$steps" --json "$out/gpu.json"
cat "$steps"
# The benchmark's own step is not in the file that it writes.
awk -F'\t' '$2 != 0 { failed = 1 } END { exit failed }' "$steps"
