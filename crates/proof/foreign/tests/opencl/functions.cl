// The library of OpenCL C. functions.spvasm is what this makes of it:
//   clang-15 -c -target spir64 -cl-std=CL2.0 -O1 -fno-discard-value-names -emit-llvm -Xclang -finclude-default-header functions.cl -o functions.bc
//   llvm-spirv-15 functions.bc -o functions.spv && spirv-dis functions.spv -o functions.spvasm

// Vectors that are aligned as their parts are.
kernel void packs(global const float *in, global float *out, global int *numbers) {
  uint t = get_global_id(0);
  vstore3(vload3(t, in) + (float3)(1.0f, 2.0f, 3.0f), t, out);
  vstore2(vload2(0, numbers + 1).yx, 1, numbers);
}

kernel void integers(global const int *in, global int *out) {
  int a = in[0], b = in[1];
  out[0] = mad24(a, b, 7);
  out[1] = mul24((uint)b, (uint)b);
  out[2] = hadd(a, b);
  out[3] = rhadd(a, b);
  out[4] = bitselect(a, b, 0xff00);
  out[5] = upsample((short)in[2], (ushort)in[3]);
  out[6] = mad24(a, in[4], 7);
}

// What comes of these is the device's; where it goes is not.
kernel void softmax(global const float *in, global float *out, local float *part) {
  uint t = get_local_id(0);
  part[t] = native_exp(in[t]) * rsqrt(length((float3)(in[t], 1.0f, pow(in[t], 2.0f))));
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (uint i = 0; i < get_local_size(0); i++) sum += part[i];
  out[t] = part[t] / sum;
}

kernel void softmax_races(global const float *in, global float *out, local float *part) {
  uint t = get_local_id(0);
  part[t] = exp(in[t]);
  out[t] = part[t] / (part[0] + part[1]);
}

kernel void branches(global const float *in, global float *out) {
  uint t = get_global_id(0);
  if (sin(in[t]) > 0.5f) out[0] = 1.0f;
}

kernel void vectors(global const float *in, global float *out) {
  float3 a = vload3(0, in), b = vload3(1, in);
  vstore3(cross(a, b), 0, out);
  out[3] = distance(a, b) + normalize(a).x;
  out[4] = step(2.0f, in[0]) + step(2.0f, in[5]);
  out[5] = fmod(in[3], in[1]);
}
