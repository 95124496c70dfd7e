//! An argument of a user's type would be given the thread that runs a block.

use wattle_core::{Arg, Argument, ArgumentValue, Thread};
use wattle_ir::Type;
use wattle_ir::builder::Builder;

#[derive(Clone)]
struct Mine;

impl Arg for Mine {
    type View = u32;
    type Built<'b> = ();
    const NUMBERS: usize = 1;
    fn argument_of(&self, name: &'static str, _: usize) -> Argument<'_> {
        Argument { name, value: ArgumentValue::Scalar { ty: Type::U32, bytes: &[0; 4] }, number: None }
    }
    fn view(&self, _: &'static str, _: &Thread<'_>) -> u32 {
        0
    }
    fn built<'b>(_: &'b Builder, _: &'static str) {}
}

fn main() {}
