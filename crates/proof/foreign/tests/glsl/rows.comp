// Matrices that lie by rows, as HLSL's do in SPIR-V.
#version 450
layout(local_size_x = 1) in;
layout(std430, row_major, binding = 0) buffer B { mat3x2 m; mat2 both[2]; vec2 av; vec2 column; float one; } b;

void main()
{
    b.av = b.m * vec3(1.0, 10.0, 100.0);
    b.column = b.m[1];
    b.one = b.both[1][0][1];
    b.both[0] = transpose(b.both[1]);
    b.m[2][1] = 9.0;
}
