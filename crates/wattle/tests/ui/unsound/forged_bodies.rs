//! What a device function's type promises cannot be promised without `unsafe`.

use wattle::__private::{Bodies, OnlyInKernels};

struct Thief;

impl<'a> Bodies<'a> for Thief {
    fn within(_: OnlyInKernels<'a>) -> Self {
        Thief
    }
}

fn main() {}
