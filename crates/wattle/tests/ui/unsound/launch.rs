//! A kernel that says of itself that it is for launches of another rank: two blocks would have the same items.

use wattle_core::{Bundle, Kernel, Launch};

struct Mine<K>(K);

impl<const D: usize, A> Launch<2> for Mine<Bundle<D, A>> where Mine<Bundle<D, A>>: Kernel {}

fn main() {}
