// Kernels for the reader of SPIR-V of the OpenCL environment. kernels.spvasm is what this makes of them:
//   clang-15 -c -target spir64 -cl-std=CL2.0 -O1 -g -emit-llvm -Xclang -finclude-default-header kernels.cl -o kernels.bc
//   llvm-spirv-15 kernels.bc -o kernels.spv && spirv-dis kernels.spv -o kernels.spvasm

kernel void sum(global const float *in, global float *out, local float *part, uint n) {
  uint t = get_local_id(0), i = get_global_id(0);
  part[t] = i < n ? in[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

kernel void forgets_the_barrier(global const int *in, global int *out, local int *part) {
  uint t = get_local_id(0), n = get_local_size(0);
  part[t] = in[get_global_id(0)];
  out[get_global_id(0)] = part[(t + 1) % n];
}

// A barrier of local memory does not order global memory.
kernel void names_the_wrong_memory(global int *data, global int *out) {
  uint t = get_local_id(0), n = get_local_size(0);
  data[t] = (int)t;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = data[(t + 1) % n];
}

kernel void names_the_right_memory(global int *data, global int *out) {
  uint t = get_local_id(0), n = get_local_size(0);
  data[t] = (int)t;
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[t] = data[(t + 1) % n];
}

kernel void publishes(global atomic_int *flag, global int *data, global int *out) {
  if (get_global_id(0) == 0) {
    data[0] = 42;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
  } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 1) {
    out[0] = data[0];
  }
}

kernel void publishes_relaxed(global atomic_int *flag, global int *data, global int *out) {
  if (get_global_id(0) == 0) {
    data[0] = 42;
    atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
  } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 1) {
    out[0] = data[0];
  }
}

kernel void counts(global const int *in, global int *out) {
  local int total;
  local int bins[8];
  uint t = get_local_id(0);
  if (t == 0) total = 0;
  if (t < 8) bins[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&total, in[get_global_id(0)]);
  atomic_inc(&bins[in[get_global_id(0)] & 7]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) out[get_group_id(0)] = total + bins[1];
}

// The default order is memory_order_seq_cst.
kernel void buffers_no_store(global atomic_int *x, global atomic_int *y, global int *seen) {
  if (get_group_id(0) == 0) {
    atomic_store(x, 1);
    seen[0] = atomic_load(y);
  } else {
    atomic_store(y, 1);
    seen[1] = atomic_load(x);
  }
}

typedef struct {
  float3 position;
  float mass;
  uchar tag;
} body;

constant float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};

__attribute__((noinline)) float weight(body b, int k) { return b.mass * table[k & 3] + b.position.z; }

kernel void weighs(global const body *in, global float *out, constant float *scale, int k, body extra) {
  size_t i = get_global_id(0);
  out[i] = weight(in[i], k) * scale[0] + weight(extra, k);
}

__attribute__((noinline)) int first(int *p) { return p[0]; }

kernel void points_anywhere(global int *a, local int *b, global int *out) {
  int c[3] = {1, 2, 3};
  b[get_local_id(0)] = 7;
  out[get_global_id(0)] = first(a) + first(b + get_local_id(0)) + first(&c[get_local_id(0) % 3]);
}

kernel void points_to_one_of_two(global int *a, local int *b, int which) {
  int *p = which ? (int *)a : (int *)b;
  p[0] = 1;
}

kernel void chooses(global int *a, int n) {
  size_t i = get_global_linear_id();
  switch (n) {
  case 0: a[i] = 1; break;
  case 5: a[i] = 2; break;
  case 7:
  case 8: a[i] = a[i] + 3; break;
  default: a[i] = (int)get_global_size(0);
  }
}

kernel void computes(global uint *a, global int *b) {
  a[1] = mul_hi(a[0], 0x10000u) + rotate(a[0], 8u);
  b[1] = (int)abs_diff(b[0], 5) + mul_hi(b[0], -65536);
}

// What the loop leaves is looked at in front of its body, in the order in which LLVM has the blocks.
kernel void adds_up(global int *a, int n) {
  int sum = -10;
  for (int i = 0; i < n; i++) sum += a[i];
  a[0] = sum;
}

kernel void dimensions(global int *a) {
  if (get_global_linear_id() == 0) a[0] = get_work_dim();
}

// A lock whose attempts acquire where they succeed.
kernel void locks(volatile global atomic_int *lock, global int *count) {
  int free = 0;
  while (!atomic_compare_exchange_strong_explicit(lock, &free, 1, memory_order_acquire, memory_order_relaxed,
                                                  memory_scope_device))
    free = 0;
  count[0] = count[0] + 1;
  atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
}

// What is published is taken by an exchange that expects it, or seen by one that expects something else and fails.
kernel void takes(volatile global atomic_int *flag, global int *data, global int *out, int expected) {
  if (get_group_id(0) == 0) {
    data[0] = 42;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
  } else {
    int found = expected;
    atomic_compare_exchange_strong_explicit(flag, &found, 2, memory_order_acquire, memory_order_relaxed,
                                            memory_scope_device);
    if (found == 1) out[0] = data[0];
  }
}

// The second store continues what the first one released.
kernel void continues(global atomic_int *flag, global int *data, global int *out) {
  if (get_group_id(0) == 0) {
    data[0] = 42;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    atomic_store_explicit(flag, 2, memory_order_relaxed, memory_scope_device);
  } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 2) {
    out[0] = data[0];
  }
}
