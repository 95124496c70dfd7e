// Atomic functions that name no scope. scopeless.spvasm is what this makes of them; with -cl-std=CL1.2 only its OpSource differs.
//   clang-15 -c -target spir64 -cl-std=CL2.0 -O1 -gline-tables-only -fno-discard-value-names -emit-llvm \
//     -Xclang -finclude-default-header scopeless.cl -o scopeless.bc
//   llvm-spirv-15 scopeless.bc -o scopeless.spv && spirv-dis scopeless.spv -o scopeless.spvasm

kernel void counts(global const uint *in, volatile global uint *bins) {
  atomic_inc(&bins[in[get_global_id(0)]]);
}

// The bins of the group are not all zeroed before they are counted in.
kernel void counts_early(global const uint *in, volatile global uint *bins, local uint *own) {
  uint l = get_local_id(0);
  own[l] = 0;
  own[in[get_global_id(0)]] += 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[l], own[l]);
}

// Exactly one work-item of all takes it.
kernel void takes(volatile global uint *lock, volatile global uint *winners) {
  if (atomic_cmpxchg(lock, 0, 1) == 0) atomic_inc(winners);
}
