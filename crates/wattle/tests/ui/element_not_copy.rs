use wattle::prelude::*;

#[derive(Element)]
#[repr(C)]
struct NotCopy {
    position: [f32; 3],
    mass: f32,
}

fn main() {}
