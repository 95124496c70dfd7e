// How numbers lie in memory, and functions that give two results. memory.spvasm is what this makes of it:
//   clang-15 -c -target spir64 -cl-std=CL2.0 -O1 -fdebug-compilation-dir=. -gline-tables-only -fno-discard-value-names -emit-llvm \
//     -Xclang -finclude-default-header memory.cl -o memory.bc
//   llvm-spirv-15 memory.bc -o memory.spv && spirv-dis memory.spv -o memory.spvasm

// The optimizer counts from the first part of the first vector.
kernel void flattens(global const float4 *in, global float *out)
{
    global const float *numbers = (global const float *)in;
    out[get_global_id(0)] = numbers[6] + numbers[9 + get_global_id(0)];
}

// Rows of a tile as one array.
kernel void tiles(global int *out)
{
    local int tile[4][4];
    int lane = get_local_id(0);
    local int *flat = &tile[0][0];
    flat[lane] = 10 * lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[lane] = tile[lane & 3][lane >> 2];
}

// One thread more than the first array has items; what is behind it is not its own.
kernel void overruns(global int *out)
{
    local int first[4], second[4];
    int lane = get_local_id(0);
    first[lane] = lane;
    second[lane & 3] = lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[lane] = first[1] + second[1];
}

// Floats that have 16 bits in memory alone.
kernel void halves(global half *numbers, global float *out)
{
    int i = get_global_id(0);
    out[i] = vload_half(i, numbers);
    // What it rounds to is the number doubled.
    vstore_half(out[i] * 2.0f + 0.0001f, i, numbers);
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i == 0)
        vstore_half2_rte((float2)(1.0f, -0.5f), 2, numbers);
    if (i == 1)
        out[2] = vload_half2(0, numbers).y + vload_half2(1, numbers).y;
}

// Fractions, exponents and what is printed.
kernel void splits(global float *in, global float *out, global int *exponents)
{
    float whole, below;
    int exponent;
    out[0] = modf(in[0], &whole);
    out[1] = whole;
    out[2] = frexp(in[0], &exponent);
    exponents[0] = exponent;
    out[3] = fract(in[1], &below);
    out[4] = below;
    out[5] = ldexp(in[0], exponents[1]);
    out[6] = round(in[1]);
    printf("%f\n", out[0]);
}

// Conversions that saturate and that round in other ways.
kernel void converts(global float *in, global int *out, global char *bytes)
{
    for (int i = 0; i < 5; i++)
        bytes[i] = convert_char_sat(in[i]);
    out[0] = convert_int_rte(in[2]);
    out[1] = convert_int_rtp(in[2]);
    out[2] = convert_int_rtn(in[3]);
    out[3] = convert_int_rtz(in[3]);
    out[4] = convert_short_sat((int)in[2] * 35000);
    out[5] = convert_uint_sat((int)in[3]);
    out[6] = convert_float_rtp((int)in[2] * 8388608 + 1);
    out[7] = convert_float_rtz((int)in[2] * 8388608 + 1);
}
