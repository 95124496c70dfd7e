#!/usr/bin/env bash
# Tests and measures Wattle on this machine's NVIDIA GPU, in 7 minutes on an H100 and in 11 whatever happens, and writes
# gpu.json, and what fences cost in cost-fences.json, cost-interference.json, and pictures of both.
#   bash gpu.sh [FOLDER FOR WHAT IT WRITES]
# WATTLE_GPU names the device (cuda:0; vulkan:0 has no benchmarks), WATTLE_GPU_ELEMENTS the size of what is measured
# (2^28), WATTLE_GPU_STEPS the steps to take, of those below, between spaces; all without it.
# Nothing is needed but the driver. With nvcc the peers in CUDA C++ are built and measured too. The GPU's clocks and
# modes are left as they are.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
export WATTLE_TEST_DEVICE=${WATTLE_GPU:-cuda:0}
device=$WATTLE_TEST_DEVICE
chosen=${WATTLE_GPU_STEPS:-nvidia-smi devices cost-fences cost-interference peers bench conformance tour stress fuzz}
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
  [[ " $chosen " == *" $name "* ]] || return 0
  echo "== $name"
  timeout -k 5 "$most" "$@" >"$name.log" 2>&1
  local status=$?
  tail -n 5 "$name.log"
  printf '%s\t%s\t%s\n' "$name" "$status" "$((SECONDS - began))" >>"$steps"
  timeout -k 5 10 "$here/gpu-bench" add-steps "$steps" --json "$json" || echo "$json cannot be brought up to date"
}

# Runs the groups of the conformance suite, eight at a time, each in a process of its own, so that one that hangs or
# loses the device does not end the others. Most of their time goes to the driver's compiler. That about endings has launches
# that wait for others, which need the device for themselves.
conformance='
timeout -k 5 120 "$0" --exact endings --nocapture >conformance-endings.log 2>&1 || echo FAILED: endings
"$0" --list --format terse | sed -n "s/: test$//p" | grep -v "^endings$" |
  xargs -P 8 -I GROUP sh -c "timeout -k 5 120 \"$0\" --exact GROUP --nocapture >conformance-GROUP.log 2>&1 || echo FAILED: GROUP"
cat conformance-*.log
rm -f conformance-*.log
'
conformance() {
  bash -c "$conformance" "$here/conformance" | tee conformance.all | grep -E "^conformance,|FAILED|HANGS|panicked"
  ! grep -qE "^FAILED" conformance.all
}

chmod +x "$here"/{wattle,gpu-bench,xtask,conformance}
if ldd "$here/wattle" 2>&1 | grep 'not found'; then
  echo "this machine's C library is too old for these programs: build them on one that is as old, with cargo xtask pack"
  exit 2
fi
step nvidia-smi 20 nvidia-smi
step devices 10 "$here/wattle" devices
# First things first: what nobody else measures.
for cost in "fences 140" "interference 50"; do
  read -r what most <<<"$cost"
  step "cost-$what" "$most" "$here/wattle" cost "$what" --device "$device" --time "$((most - 8))" --save "cost-$what.json" \
    --svg "cost-$what.svg"
done
peers=()
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -n "$nvcc" ]; then
  step peers 60 "$nvcc" -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o "$out/libpeers.so" "$here/peers.cu"
  [ -e "$out/libpeers.so" ] && peers=(--peers "$out/libpeers.so")
else
  echo "nvcc is not here: there are no peers"
fi
# What is measured comes first, so that a test that hangs does not cost it.
step bench 90 "$here/gpu-bench" "$device" "${peers[@]}" ${WATTLE_GPU_ELEMENTS:+--n "$WATTLE_GPU_ELEMENTS"} --json "$json"
export -f conformance
export here conformance
step conformance 130 bash -c conformance
step tour 45 "$here/wattle" tour --device "$device"
# Litmus files beside the programs, of the device's memory model, and scenarios that observe.
step stress 50 "$here/wattle" stress store-buffering store-buffering-broken-acq-rel "$here/litmus" \
  --device "$device" --seconds 40 --report stress.html
step fuzz 50 "$here/xtask" fuzz --minutes 0.6 --device "$device"
cat "$steps"
awk -F'\t' '$2 != 0 { failed = 1 } END { exit failed }' "$steps"
