//! A user's arithmetic would bring his code into the building of kernels.

use wattle::ir::builder::{Builder, Val};
use wattle::ir::{Arithmetic, BuiltArithmetic, KernelType};
use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Mine {
    a: u32,
}

impl Arithmetic for Mine {
    type Number = u32;
    fn zip(self, _: Self, _: impl FnMut(u32, u32) -> u32) -> Self {
        self
    }
    fn zip3(self, _: Self, _: Self, _: impl FnMut(u32, u32, u32) -> u32) -> Self {
        self
    }
    fn zip_in<'b>(
        _: &'b Builder,
        x: Self::Built<'b>,
        _: Self::Built<'b>,
        _: impl FnMut(Numbers<'b>, Numbers<'b>) -> Numbers<'b>,
    ) -> Self::Built<'b> {
        x
    }
}

type Numbers<'b> = Val<'b, u32>;

impl<'b> BuiltArithmetic<'b> for <Mine as KernelType>::Built<'b> {
    type Number = u32;
    fn zip(self, _: &'b Builder, _: Self, _: impl FnMut(Numbers<'b>, Numbers<'b>) -> Numbers<'b>) -> Self {
        self
    }
    fn zip3(
        self,
        _: &'b Builder,
        _: Self,
        _: Self,
        _: impl FnMut(Numbers<'b>, Numbers<'b>, Numbers<'b>) -> Numbers<'b>,
    ) -> Self {
        self
    }
}

fn main() {}
