#!/usr/bin/env bash
# Tests and measures Wattle on this machine's NVIDIA GPU, in under 9 minutes, and writes gpu.json, and what fences cost in
# cost-fences.json, cost-interference.json, and pictures of both.
#   bash gpu.sh [FOLDER FOR WHAT IT WRITES]
# WATTLE_GPU names the device (cuda:0), WATTLE_GPU_ELEMENTS the size of what is measured (2^28).
# Nothing is needed but the driver. With nvcc the peers in CUDA C++ are built and measured too. The GPU's clocks and
# modes are left as they are.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
device=${WATTLE_GPU:-cuda:0}
mkdir -p "$out" && out=$(cd "$out" && pwd) && cd "$out" || exit 2
steps=$out/steps.tsv
json=$out/gpu.json
: >"$steps"
rm -f "$json"
# Machine code is kept, but not in the folder that is taken home.
WATTLE_CACHE_DIR=$(mktemp -d)
export WATTLE_CACHE_DIR
trap 'rm -rf "$WATTLE_CACHE_DIR"' EXIT
# Kernels are loaded when their modules are, and streams have connections of their own.
export CUDA_MODULE_LOADING=EAGER CUDA_DEVICE_MAX_CONNECTIONS=32

# Runs a step for at most the given number of seconds, keeps what it says, and brings the file up to date.
step() {
  local name=$1 most=$2 began=$SECONDS
  shift 2
  echo "== $name"
  timeout -k 5 "$most" "$@" >"$name.log" 2>&1
  local status=$?
  tail -n 5 "$name.log"
  printf '%s\t%s\t%s\n' "$name" "$status" "$((SECONDS - began))" >>"$steps"
  timeout -k 5 10 "$here/gpu-bench" add-steps "$steps" --json "$json" || echo "$json cannot be brought up to date"
}

chmod +x "$here"/{wattle,gpu-bench,xtask,conformance}
if ldd "$here/wattle" 2>&1 | grep 'not found'; then
  echo "this machine's C library is too old for these programs: build them on one that is as old, with cargo xtask pack"
  exit 2
fi
step nvidia-smi 20 nvidia-smi
step devices 20 "$here/wattle" devices
# First things first: what nobody else measures.
for what in fences interference; do
  step "cost-$what" 40 "$here/wattle" cost "$what" --device "$device" --time 35 --save "cost-$what.json" --svg "cost-$what.svg"
done
peers=()
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -n "$nvcc" ]; then
  step peers 90 "$nvcc" -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o "$out/libpeers.so" "$here/peers.cu"
  [ -e "$out/libpeers.so" ] && peers=(--peers "$out/libpeers.so")
else
  echo "nvcc is not here: there are no peers"
fi
# What is measured comes first, so that a test that hangs does not cost it.
step bench 110 "$here/gpu-bench" "$device" "${peers[@]}" ${WATTLE_GPU_ELEMENTS:+--n "$WATTLE_GPU_ELEMENTS"} --json "$json"
step tour 60 "$here/wattle" tour --device "$device"
step conformance 100 "$here/conformance" --test-threads=1 --nocapture
step fuzz 55 "$here/xtask" fuzz --minutes 0.6 --device "$device"
cat "$steps"
awk -F'\t' '$2 != 0 { failed = 1 } END { exit failed }' "$steps"
