// Products of matrices that are not square, from and to a buffer.
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer B { mat3x2 a; mat2x3 b; vec3 v; vec2 w; mat3 outer; mat2 both; vec2 av; vec3 wa; mat2x3 halved; } m;

void main()
{
    m.a = transpose(m.b);
    m.av = m.a * m.v;
    m.wa = m.w * m.a;
    m.both = m.a * m.b;
    m.outer = outerProduct(m.v, m.v + vec3(1.0));
    m.halved = m.b * 0.5;
}
