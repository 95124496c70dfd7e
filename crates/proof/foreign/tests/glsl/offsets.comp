#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer Words { uint x[]; };
shared uint part[2];
void main() {
    uint l = gl_LocalInvocationIndex, offset = 0;
    if (l % 2 == 0)
        part[l / 2] = x[l] + x[l + 1];
    // The barrier is missing.
    for (uint i = 0; i < l / 2; ++i)
        offset += part[i];
    x[l + 4] = offset;
}
