use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
struct NoRepr {
    x: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C, align(16))]
struct Aligned {
    x: [f32; 4],
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Padded(u8, f32);

#[derive(Clone, Copy, Element)]
#[repr(C)]
enum Choice {
    One,
    Two,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Letter {
    letter: char,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Sized {
    len: usize,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Generic<T> {
    x: T,
}

fn main() {}
