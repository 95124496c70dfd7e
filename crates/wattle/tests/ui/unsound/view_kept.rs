//! A view cannot be made of an argument without `unsafe`.

use wattle::prelude::*;
use wattle_core::{Arg, IntoArg, Thread};

fn view(buffer: &Buffer<u32>, thread: &Thread<'_>) -> Read<u32> {
    IntoArg::<Read<u32>>::into_arg(buffer).view("x", thread)
}

fn main() {}
