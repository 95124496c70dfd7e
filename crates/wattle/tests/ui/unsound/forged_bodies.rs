//! What a device function's type promises cannot be promised without `unsafe`.

use wattle::__private::{Bodies, OnlyInKernels};

struct Thief;

impl Bodies for Thief {
    type In<'a> = Thief;
    fn within<'a>(_: OnlyInKernels<'a>) -> Thief {
        Thief
    }
}

fn main() {}
