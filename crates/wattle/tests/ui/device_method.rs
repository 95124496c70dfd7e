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
}

#[kernel]
fn example(acc: &Acc, points: Read<Point>, out: Shared<f32>) {
    let p = points[0];
    out[0] = p.norm();
    out[1] = p.x.lerp(p.y, 0.5);
}

fn main() {}
