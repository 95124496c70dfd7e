//! What stands for a user's type while a kernel is built could declare parameters for which no argument is passed.

use wattle::ir::KernelType;
use wattle::ir::builder::Val;

struct Mine;

impl KernelType for Mine {
    type Built<'b> = Val<'b, u32>;
}

fn main() {}
