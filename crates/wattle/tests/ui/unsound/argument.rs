//! An argument of a user's type would be given the thread that runs a block.

use wattle_core::{Arg, Argument, Thread};
use wattle_ir::Const;
use wattle_ir::builder::Builder;

#[derive(Clone)]
struct Mine;

impl Arg for Mine {
    type View = u32;
    type Built<'b> = ();
    fn visit(&self) -> Argument<'_> {
        Argument::Scalar(Const::of(0u32))
    }
    fn view(&self, _: &'static str, _: &Thread<'_>) -> u32 {
        0
    }
    fn built<'b>(_: &'b Builder, _: &'static str) {}
}

fn main() {}
