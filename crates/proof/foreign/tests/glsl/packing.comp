// Vectors in words, there and back.
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Words { uint words[]; };

void main()
{
    words[0] = packHalf2x16(vec2(1.0, -2.5));
    words[1] = packUnorm4x8(vec4(0.0, 1.0, 0.2, 2.0));
    words[2] = packSnorm4x8(vec4(-1.0, 1.0, -3.0, 0.0));
    words[3] = packUnorm2x16(vec2(1.0, 0.0));
    words[4] = packSnorm2x16(vec2(-1.0, 1.0));
    words[5] = uint(unpackHalf2x16(words[0]).y * -2.0);
    words[6] = uint(unpackUnorm4x8(words[1]).z * 510.0);
    words[7] = uint(-unpackSnorm4x8(words[2]).x);
    words[8] = uint(unpackUnorm2x16(words[3]).x);
    words[9] = uint(unpackSnorm2x16(words[4]).y + unpackSnorm2x16(0x00008000u).x + 4.0);
    words[10] = packHalf2x16(vec2(0.1, 1.0));
    words[11] = packUnorm4x8(vec4(0.5, 0.0, 0.0, 0.0));
}
