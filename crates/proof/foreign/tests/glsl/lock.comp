#version 450
layout(local_size_x = 2) in;
layout(binding = 0) buffer Lock { uint held; };
layout(binding = 1) coherent buffer Data { uint count; };
void main() {
    while (atomicCompSwap(held, 0, 1) != 0) {
    }
    memoryBarrierBuffer();
    count += 1;
    memoryBarrierBuffer();
    atomicExchange(held, 0);
}
