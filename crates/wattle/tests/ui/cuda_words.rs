use wattle::prelude::*;

#[kernel]
fn bits(acc: &Acc, x: Read<u32>, y: Shared<u32>) {
    y[0] = __popc(x[0]);
    y[1] = __clz(x[0]);
    y[2] = __ffs(x[0]);
    y[3] = __brev(x[0]);
    y[4] = __umulhi(x[0], x[1]);
    y[5] = __float_as_uint(1.5);
    y[6] = min(x[0], x[1]);
    y[7] = max(x[0], x[1]);
    __nanosleep(100);
    __trap();
}

#[kernel]
fn floats(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    y[0] = __ldg(x);
    y[1] = __expf(x[0]);
    y[2] = __sinf(x[0]);
    y[3] = __fdividef(x[0], x[1]);
    y[4] = rsqrtf(x[0]);
    y[5] = sqrtf(x[0]);
    y[6] = powf(x[0], x[1]);
    y[7] = fmaxf(x[0], x[1]);
    y[8] = fminf(x[0], x[1]);
    y[9] = fabsf(x[0]);
    y[10] = expf(x[0]);
    y[11] = fmaf(x[0], x[1], x[2]);
    y[12] = atan2f(x[0], x[1]);
    y[13] = __half2float(x[0]);
    y[14] = __hadd(x[0], x[1]);
}

#[kernel]
fn vectors(acc: &Acc, y: Shared<[f32; 4]>) {
    y[0] = make_float4(0.0, 1.0, 2.0, 3.0);
}

#[kernel]
fn places(acc: &Acc, y: Shared<u32>) {
    let i = blockIdx.x * blockDim.x + threadIdx.x;
    y[0] = threadIdx.x;
    y[1] = blockDim.x;
    y[2] = warpSize;
    y[3] = get_global_id(0);
    y[4] = get_local_id(0);
    barrier(1);
}

fn main() {}
