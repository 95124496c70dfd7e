// Looks back over the workgroups before it: over what one of them has published alone, up to one that has published the sum.
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) coherent buffer Flags { uint flag[3]; uint part[3]; uint sum[3]; } F;
layout(std430, binding = 1) buffer Out { uint found[3]; } O;

void main()
{
    uint own = gl_WorkGroupID.x, before = 0u;
    F.part[own] = own + 1u;
    memoryBarrierBuffer();
    if (own == 0u) {
        F.sum[0] = 1u;
        memoryBarrierBuffer();
        atomicExchange(F.flag[0], 2u);
    } else {
        atomicExchange(F.flag[own], 1u);
        uint at = own - 1u;
        while (true) {
            uint state = atomicAdd(F.flag[at], 0u);
            memoryBarrierBuffer();
            if (state == 2u) {
                before += F.sum[at];
                break;
            } else if (state == 1u) {
                before += F.part[at];
                at--;
            }
        }
        F.sum[own] = before + own + 1u;
        memoryBarrierBuffer();
        atomicExchange(F.flag[own], 2u);
    }
    O.found[own] = before;
}
