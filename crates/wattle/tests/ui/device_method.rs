use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

impl Point {
    #[device_fn]
    fn norm(self) -> f32 {
        self.x.hypot(self.y)
    }

    #[device_fn]
    fn turn(self: &Self) -> f32 {
        self.x
    }
}

#[kernel]
fn example(acc: &Acc, points: Read<Point>, out: Shared<f32>) {
    let p = points[0];
    out[0] = p.norm();
    out[1] = p.x.lerp(p.y, 0.5);
}

#[kernel]
fn misspelled(acc: &Acc, points: Read<Point>, out: Shared<f32>) {
    out[0] = points[0].norn();
}

fn main() {}
