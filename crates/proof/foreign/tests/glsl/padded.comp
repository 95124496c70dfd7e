#version 450
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer In { uint x[]; };
layout(binding = 1) writeonly buffer Out { uint y[]; };
shared uint tile[4];
void main() {
    uint l = gl_LocalInvocationIndex;
    tile[l] = l < x.length() ? x[l] : 0;
    // The barrier is missing.
    y[l] = tile[(l + 1) % 4];
}
