//! A constant of a user's type would bring his code into the building of kernels, and the type into their bodies.

use wattle::ir::builder::{Builder, Lift};

#[derive(Clone, Copy)]
struct Mine;

impl Lift for Mine {
    type Built<'b> = Mine;
    fn lift(self, _: &Builder) -> Mine {
        self
    }
}

fn main() {}
