// Barriers of WGSL. barriers.spvasm is what naga 30's command makes of it (`naga -g barriers.wgsl barriers.spv`), as text.
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> count: atomic<u32>;
var<workgroup> part: array<u32, 4>;

@compute @workgroup_size(4)
fn turn(@builtin(local_invocation_index) t: u32) {
  data[t] = t + 1u;
  storageBarrier();
  let x = data[(t + 1u) % 4u];
  storageBarrier();
  data[t] = x;
}

@compute @workgroup_size(4)
fn turn_too_early(@builtin(local_invocation_index) t: u32) {
  data[t] = t + 1u;
  let x = data[(t + 1u) % 4u];
  storageBarrier();
  data[t] = x;
}

@compute @workgroup_size(4)
fn turn_with_the_wrong_barrier(@builtin(local_invocation_index) t: u32) {
  data[t] = t + 1u;
  workgroupBarrier();
  let x = data[(t + 1u) % 4u];
  storageBarrier();
  data[t] = x;
}

@compute @workgroup_size(4)
fn sum(@builtin(local_invocation_index) t: u32) {
  part[t] = data[t];
  workgroupBarrier();
  if (t == 0u) { data[4] = part[0] + part[1] + part[2] + part[3]; }
}

// The last of two workgroups looks at what both have written: WGSL has no barrier for that.
@compute @workgroup_size(1)
fn last(@builtin(workgroup_id) group: vec3<u32>) {
  data[group.x] = group.x + 1u;
  storageBarrier();
  if (atomicAdd(&count, 1u) == 1u) {
    storageBarrier();
    data[2] = data[0] + data[1];
  }
}

@compute @workgroup_size(2)
fn counts(@builtin(local_invocation_index) t: u32) {
  data[0] += 1u;
}
