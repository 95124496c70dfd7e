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

// The compiler takes it for the same attribute.
#[derive(Clone, Copy, Element)]
#[repr(C)]
#[r#repr(align(256))]
struct RawAligned {
    x: [u64; 32],
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
