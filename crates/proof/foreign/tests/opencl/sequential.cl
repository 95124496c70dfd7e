// Operations of the default order, which is memory_order_seq_cst. sequential.spvasm is what this makes of them:
//   clang-15 -c -target spir64 -cl-std=CL2.0 -O1 -fdebug-compilation-dir=. -gline-tables-only -fno-discard-value-names -emit-llvm \
//     -Xclang -finclude-default-header sequential.cl -o sequential.bc
//   llvm-spirv-15 sequential.bc -o sequential.spv && spirv-dis sequential.spv -o sequential.spvasm

// Who does not see the flag reads all the same.
kernel void hurries(global atomic_int *flag, global int *x, global int *seen) {
  if (get_group_id(0) == 0) {
    x[0] = 1;
    atomic_store(flag, 1);
  } else {
    atomic_load(flag);
    seen[0] = x[0];
  }
}

// The second who comes writes behind the end.
kernel void counts_too_far(global atomic_int *count, global int *out) { out[atomic_fetch_add(count, 1)] = 1; }

// Each waits for the other's flag before it sets its own.
kernel void waits_for_the_other(global atomic_int *flags) {
  int own = get_group_id(0);
  while (atomic_load(&flags[1 - own]) == 0) {}
  atomic_store(&flags[own], 1);
}

// At most one of two gets in; in no interleaving do both.
kernel void claims(global atomic_int *flags, global int *inside) {
  int own = get_group_id(0);
  atomic_store(&flags[own], 1);
  if (atomic_load(&flags[1 - own]) == 0) inside[0] += 1;
}
