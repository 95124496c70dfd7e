#version 450
layout(local_size_x = 8) in;
layout(binding = 0) readonly buffer In { uint x[]; };
layout(binding = 1) writeonly buffer Out { uint sum; };
shared uint part[8];
void main() {
    uint l = gl_LocalInvocationIndex;
    part[l] = l < x.length() ? x[l] : 0;
    barrier();
    for (uint half_ = 4; half_ > 0; half_ >>= 1) {
        if (l < half_)
            part[l] += part[l + half_];
        // The barrier of each turn is missing.
    }
    if (l == 0)
        sum = part[0];
}
