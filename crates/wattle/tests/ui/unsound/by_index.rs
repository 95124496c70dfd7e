use wattle::__private::{Thread, support};
use wattle::prelude::*;

// What a kernel's `p[i]` calls runs on a fiber's stack, which is thrown away where a launch ends early.
#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Pair {
    a: u32,
}

impl support::Get for Pair {
    type Index = u32;
    type Value = u32;
    fn get(&self, _: u32, thread: &Thread<'_>) -> u32 {
        let held = vec![1];
        thread.must_stop();
        held[0]
    }
}

fn main() {}
