//! What a kernel's `for` goes over could bring the user's code into the building of kernels.

use wattle::ir::KernelType;
use wattle::ir::builder::{Builder, Iterate, LoopHandle};
use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Mine {
    a: u32,
}

impl<'b> Iterate<'b> for <Mine as KernelType>::Built<'b> {
    type Item = ();
    fn begin(self, _: &'b Builder) -> (LoopHandle<'b>, ()) {
        unimplemented!()
    }
}

fn main() {}
