// More of the library of OpenCL C. conveniences.spvasm is what this makes of it:
//   clang-15 -c -target spir64 -cl-std=CL2.0 -O1 -fdebug-compilation-dir=. -gline-tables-only -fno-discard-value-names -emit-llvm \
//     -Xclang -finclude-default-header conveniences.cl -o conveniences.bc
//   llvm-spirv-15 conveniences.bc -o conveniences.spv && spirv-dis conveniences.spv -o conveniences.spvasm

kernel void selects(global const int4 *in, global int4 *out, global const float *x, global float *y) {
  prefetch(in, 1);
  out[0] = select(in[0], in[1], in[2]);
  y[0] = select(x[0], x[1], in[2].x);
  y[1] = select(x[0], x[1], in[2].y);
}

kernel void shuffles(global const int4 *in, global int4 *out) {
  out[0] = shuffle(in[0], convert_uint4(in[2]));
  out[1] = shuffle2(in[0], in[1], convert_uint4(in[2]));
}

// One of all takes the flag, counts, and gives it back.
kernel void takes_turns(volatile global atomic_flag *flag, global int *count) {
  while (atomic_flag_test_and_set_explicit(flag, memory_order_acquire, memory_scope_device)) {}
  count[0] += 1;
  atomic_flag_clear_explicit(flag, memory_order_release, memory_scope_device);
}

kernel void takes_turns_relaxed(volatile global atomic_flag *flag, global int *count) {
  while (atomic_flag_test_and_set_explicit(flag, memory_order_relaxed, memory_scope_device)) {}
  count[0] += 1;
  atomic_flag_clear_explicit(flag, memory_order_release, memory_scope_device);
}
