//! A method and a function of a type that are not marked are refused as a function of a module is.

use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Vector {
    x: f32,
    y: f32,
}

impl Vector {
    fn norm(self) -> f32 {
        self.x
    }
    fn length(&self) -> f32 {
        self.y
    }
    fn unit() -> f32 {
        1.0
    }
    #[device_fn]
    fn twice(self) -> Vector {
        Vector { x: self.x * 2.0, y: self.y * 2.0 }
    }
}

#[kernel]
fn of_elements(acc: &Acc, vectors: Read<Vector>, out: PerItem<f32>) {
    for (i, out) in acc.items(&mut out) {
        *out = vectors[i].norm();
    }
}

#[kernel]
fn of_variables(acc: &Acc, out: Shared<f32>) {
    let v = Vector { x: 1.0, y: 2.0 };
    out[0] = v.length();
    out[1] = v.twice().norm();
}

#[kernel]
fn of_types(acc: &Acc, out: Shared<f32>) {
    out[0] = Vector::unit();
}

fn main() {}
