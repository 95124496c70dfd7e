#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer B { uint count; float part; int low; vec2 both; int rest[]; } b;
layout(push_constant) uniform P { float dt; uint n; } pc;
void main() {
    b.count = pc.n;
    b.part = pc.dt * 2;
    b.low = -7;
    b.both.y += b.both.x;
    b.rest[1] = b.rest[0] - 9;
}
