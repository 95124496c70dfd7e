use std::ops::{Add, AddAssign, Mul, Shl, Sub};

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

#[device_fn]
impl AddAssign for Vec2 {
    fn add_assign(&mut self, other: Vec2) {
        *self = *self + other;
    }
}

#[device_fn]
impl Shl<u32> for Vec2 {
    type Output = Vec2;
    fn shl(self, _: u32) -> Vec2 {
        self
    }
}

#[device_fn]
impl Sub<&Vec2> for Vec2 {
    type Output = Vec2;
    fn sub(self, other: &Vec2) -> Vec2 {
        Vec2 { x: self.x - other.x, y: self.y - other.y }
    }
}

#[device_fn]
impl Vec2 {
    fn length(self) -> f32 {
        (self.x * self.x + self.y * self.y).sqrt()
    }
}

#[device_fn]
impl Mul<f32> for Vec2 {
    type Output = Vec2;
    fn mul(self, by: f32) -> Vec2 {
        Vec2 { x: self.x * by, y: self.y * by.iter() }
    }
}

#[kernel]
fn k(acc: &Acc, a: Read<Vec2>, out: Shared<Vec2>) {
    out[0] = a[0] - a[1];
    out[1] = a[0] * a[1].x + -a[1];
}
fn main() {}
