// Kernels whose pointers go through variables, as a compiler leaves them that optimizes nothing. Compiled with
//   clang-15 -c -target spir64 -cl-std=CL2.0 -O0 -g -emit-llvm -Xclang -finclude-default-header unoptimized.cl -o unoptimized.bc
//   llvm-spirv-15 unoptimized.bc -o unoptimized.spv && spirv-dis unoptimized.spv -o unoptimized.spvasm

constant int SQUARES[4] = {0, 1, 4, 9};

int total(const int *from, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += from[i];
    return sum;
}

void swap(int *a, int *b) {
    int held = *a;
    *a = *b;
    *b = held;
}

int square(constant int *table, int i) { return table[i]; }

// Pointers to global, local and private memory, all given to one function.
kernel void totals(global const int *in, global int *out, local int *part) {
    int l = get_local_id(0);
    int own[2] = {in[l], 1};
    swap(&own[0], &own[1]);
    part[l] = own[1];
    swap(&part[l], &own[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        out[0] = total(in, 4);
        out[1] = total(part, 4);
    }
    out[2 + l] = total(own, 2) + square(SQUARES, l);
}

// The same without the barrier.
kernel void totals_race(global const int *in, global int *out, local int *part) {
    int l = get_local_id(0);
    part[l] = in[l];
    if (l == 0) out[0] = total(part, 4);
}

void count(volatile atomic_int *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_device);
}

// Counters in local and in global memory, by one function.
kernel void counts(global atomic_int *all, global int *out, local atomic_int *own) {
    int l = get_local_id(0);
    if (l == 0) atomic_store_explicit(own, 0, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    count(all);
    count(own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) out[get_group_id(0)] = atomic_load_explicit(own, memory_order_relaxed, memory_scope_work_group);
}

void release(volatile atomic_int *flag) {
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
}

int is_set(volatile atomic_int *flag) {
    return atomic_load_explicit(flag, memory_order_acquire, memory_scope_device);
}

// A flag in global memory orders what is there.
kernel void publishes(global atomic_int *flag, global int *data, global int *out) {
    if (get_group_id(0) == 0) {
        data[0] = 42;
        release(flag);
    } else if (is_set(flag)) {
        out[0] = data[0];
    }
}

// A flag in local memory orders nothing in global memory (OpenCL API 3.0, 3.3.6.3).
kernel void publishes_locally(local atomic_int *flag, global int *data, global int *out) {
    int l = get_local_id(0);
    if (l == 0) atomic_store_explicit(flag, 0, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        data[0] = 42;
        release(flag);
    } else if (is_set(flag)) {
        out[0] = data[0];
    }
}

int kind(void *p) {
    if (p == 0) return 0;
    if (to_global(p)) return 1;
    if (to_local(p)) return 2;
    return to_private(p) ? 3 : 4;
}

// A pointer says at run time what it points to, and null points to nothing.
kernel void kinds(global int *out, local int *part, int which) {
    int own = 0;
    int *any = which == 1 ? out : which == 2 ? (int *)part : &own;
    out[0] = kind(which == 0 ? (int *)0 : any);
}

// An element behind the end, by a pointer whose class only shows at run time.
kernel void goes_beyond(global int *out, local int *part) {
    int *at = get_global_id(0) == 0 ? out : (int *)part;
    at[1] = 7;
}

typedef struct {
    int count;
    long sum;
} pair;

// A structure is copied whole, with the bytes between its members that nobody has written.
kernel void copies(global int *out) {
    pair a, b;
    a.count = 3;
    b = a;
    if (b.count == 3) out[0] = 1;
}
