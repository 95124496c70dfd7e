// Barriers of HLSL. Each NAME.spvasm is what glslang 12 makes of that entry point:
//   glslangValidator -D -V --target-env vulkan1.1 -g -S comp -e NAME barriers.hlsl -o NAME.spv && spirv-dis NAME.spv -o NAME.spvasm
RWStructuredBuffer<uint> data : register(u0);
RWStructuredBuffer<uint> count : register(u1);
globallycoherent RWStructuredBuffer<uint> shown : register(u2);

[numthreads(4, 1, 1)]
void turn(uint t : SV_GroupIndex) {
  data[t] = t + 1;
  DeviceMemoryBarrierWithGroupSync();
  uint x = data[(t + 1) % 4];
  AllMemoryBarrierWithGroupSync();
  data[t] = x;
}

[numthreads(4, 1, 1)]
void turn_with_the_wrong_barrier(uint t : SV_GroupIndex) {
  data[t] = t + 1;
  GroupMemoryBarrierWithGroupSync();
  uint x = data[(t + 1) % 4];
  AllMemoryBarrierWithGroupSync();
  data[t] = x;
}

// The last of two groups looks at what both have written, which takes `globallycoherent`.
[numthreads(1, 1, 1)]
void last(uint3 group : SV_GroupID) {
  uint before;
  data[group.x] = group.x + 1;
  DeviceMemoryBarrier();
  InterlockedAdd(count[0], 1, before);
  DeviceMemoryBarrier();
  if (before == 1) data[2] = data[0] + data[1];
}

[numthreads(1, 1, 1)]
void last_coherent(uint3 group : SV_GroupID) {
  uint before;
  shown[group.x] = group.x + 1;
  DeviceMemoryBarrier();
  InterlockedAdd(count[0], 1, before);
  DeviceMemoryBarrier();
  if (before == 1) shown[2] = shown[0] + shown[1];
}
