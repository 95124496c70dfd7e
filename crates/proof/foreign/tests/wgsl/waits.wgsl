// Loops that wait, each of which naga gives a counter of 64 bits.
@group(0) @binding(0) var<storage, read_write> turn: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> seen: array<u32>;

@compute @workgroup_size(1)
fn passes(@builtin(workgroup_id) id: vec3<u32>) {
    while (atomicLoad(&turn) != id.x) { }
    seen[id.x] = id.x + 1u;
    atomicStore(&turn, id.x + 1u);
}

@compute @workgroup_size(1)
fn keeps(@builtin(workgroup_id) id: vec3<u32>) {
    while (atomicLoad(&turn) != id.x) { }
    seen[id.x] = id.x + 1u;
}

@compute @workgroup_size(1)
fn counts(@builtin(workgroup_id) id: vec3<u32>) {
    var sum = 0u;
    for (var i = 0u; i < 5u; i++) {
        sum += i;
    }
    seen[id.x] = sum;
}
