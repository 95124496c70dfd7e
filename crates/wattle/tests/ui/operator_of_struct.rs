use std::ops::Add;

use wattle::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Vec2 {
    x: f32,
    y: f32,
}

impl Add for Vec2 {
    type Output = Vec2;
    #[device_fn]
    fn add(self, other: Vec2) -> Vec2 {
        Vec2 { x: self.x + other.x, y: self.y + other.y }
    }
}

#[kernel]
fn k(acc: &Acc, a: Read<Vec2>, out: Shared<Vec2>) {
    out[0] = a[0] + a[1];
}
fn main() {}
