//! Methods of numbers that kernels lack are refused by their names, with what is written in their place.

use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Pair {
    x: f32,
    y: f32,
}

impl Pair {
    #[device_fn]
    fn lerp(self, to: Pair, t: f32) -> f32 {
        self.x + t * (to.y - self.x)
    }
}

#[kernel]
fn of_integers(acc: &Acc, x: Shared<u32>, s: Shared<i32>) {
    let a = x[0];
    x[1] = a.next_multiple_of(4);
    x[2] = a.carrying_mul(3, 1).0;
    x[3] = x[0].popcount();
    x[4] = x[0].ilog10();
    s[1] = s[0].is_negative() as i32;
    s[2] = s[0].wrapping_div(3);
    s[3] = s[0].saturating_neg();
}

#[kernel]
fn of_floats(acc: &Acc, f: Shared<f32>, pairs: Read<Pair>) {
    f[1] = pairs[0].lerp(pairs[1], 0.5);
    f[2] = f[0].lerp(1.0, 2.0);
    f[3] = f[0].saturate();
    f[4] = pairs[0].x.to_int_unchecked::<i32>() as f32;
    f[5] = f[0].log1p();
    f[6] = f[0].frexp().0;
    f[7] = pairs[0].saturate();
}

#[kernel]
fn functions(acc: &Acc, f: Shared<f32>) {
    f[1] = sinpif(f[0]);
    f[2] = erf(f[0]);
}

#[kernel]
fn of_signs(acc: &Acc, s: Shared<i32>, x: Shared<u32>) {
    x[0] = s[0].abs_diff(s[1]);
}

fn main() {}
