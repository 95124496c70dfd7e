// Kernels that leave a variable of a thread, or one of constant memory, and come into another one, as compilers lay them out.
// variables.spvasm is what this makes of them:
//   clang-15 -c -target spir64 -cl-std=CL2.0 -O1 -fno-inline -fno-discard-value-names -emit-llvm -Xclang -finclude-default-header variables.cl -o variables.bc
//   llvm-spirv-15 variables.bc -o variables.spv && spirv-dis variables.spv -o variables.spvasm

constant int FIRST[4] = {1, 2, 3, 4};
constant int SECOND[4] = {5, 6, 7, 8};

int sum(const int *of, int n) {
  int all = 0;
  for (int i = 0; i < n; i++) all += of[i];
  return all;
}

void set(int *of, int at) { of[at] = 7; }

kernel void reads(global int *out, int n) {
  int a[4] = {1, 1, 1, 1}, b[4] = {5, 5, 5, 5};
  out[0] = sum(a, n);
  out[1] = sum(b, 4);
}

kernel void writes(global int *out, int at) {
  int a[4] = {1, 1, 1, 1}, b[4] = {5, 5, 5, 5};
  set(a, at);
  out[0] = sum(a, 4);
  out[1] = sum(b, 4);
}

kernel void looks_up(global int *out, int at) {
  out[0] = FIRST[at];
  out[1] = SECOND[0];
}

typedef struct { int a[4]; } four;

int counted(four of) {
  of.a[0]++;
  return of.a[0] + of.a[3];
}

// A struct that is passed by value is the function's own.
kernel void by_value(global int *out, int n) {
  four own = {{n, 1, 2, 3}};
  out[0] = counted(own) + counted(own);
  out[1] = own.a[0];
}
