#version 450
#extension GL_EXT_shader_16bit_storage : enable
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : enable
// Floats of 16 bits in registers, and what GLSL computes of floats in two parts.

layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Halves { float16_t halves[]; };
layout(std430, binding = 1) buffer Floats { float floats[]; };
layout(std430, binding = 2) buffer Whole { int whole[]; };

void main()
{
    float16_t x = halves[0], y = halves[1];
    if (x < y && !isnan(x) && -x > -y)
        halves[2] = max(x, y) - abs(min(-x, y)) + floor(y);
    halves[3] = fma(x, y, float16_t(1)) + clamp(y, float16_t(0), float16_t(1)) + sqrt(float16_t(4)) + sign(y);
    int exponent;
    floats[1] = frexp(floats[0], exponent);
    whole[0] = exponent;
    float integral;
    floats[2] = modf(floats[0], integral);
    floats[3] = integral;
    floats[4] = ldexp(floats[1], exponent + 1);
}
