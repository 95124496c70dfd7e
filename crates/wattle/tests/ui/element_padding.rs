use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Between {
    small: u16,
    large: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct AtTheEnd {
    large: f64,
    small: f32,
}

fn main() {}
