//! A struct with operators, in a file that has no kernel.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use wattle::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Vector {
    pub x: f32,
    pub y: f32,
}

#[device_fn]
impl Add for Vector {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Vector { x: self.x + other.x, y: self.y + other.y }
    }
}

#[device_fn]
impl Sub for Vector {
    type Output = Vector;
    fn sub(self, other: Vector) -> Vector {
        self + -other
    }
}

#[device_fn]
impl Neg for Vector {
    type Output = Self;
    fn neg(self) -> Self::Output {
        Vector { x: -self.x, y: -self.y }
    }
}

#[device_fn]
impl Mul<f32> for Vector {
    type Output = Self;
    fn mul(mut self, factor: f32) -> Self {
        self.x *= factor;
        self.y *= factor;
        self
    }
}

#[device_fn]
impl Mul<Vector> for f32 {
    type Output = Vector;
    fn mul(self, v: Vector) -> Vector {
        v * self
    }
}

/// The inner product.
#[device_fn]
impl Mul for Vector {
    type Output = f32;
    fn mul(self, v: Vector) -> f32 {
        self.x * v.x + self.y * v.y
    }
}

#[device_fn]
impl Div<i32> for Vector {
    type Output = Self;
    fn div(self, by: i32) -> Self {
        let inverse = 1.0 / by as f32;
        self * inverse
    }
}

impl Vector {
    #[device_fn]
    pub fn length(self) -> f32 {
        (self * self).sqrt()
    }
}

/// What calls a device function is a kernel's alone.
#[device_fn]
impl Rem<u32> for Vector {
    type Output = u32;
    fn rem(self, by: u32) -> u32 {
        if self.length() > 3.0 {
            return 0;
        }
        self.x as u32 % by
    }
}
