//! A user's own `DeviceFn` would be given views, and the thread.

use wattle::__private::{Parameters, Thread};
use wattle::ir::builder::{self, Builder, Val};
use wattle::prelude::*;

struct X;
trait Thief: Fn(Parameters<(Read<u32>,)>) -> X + Sync + Send {}
impl<F: Fn(Parameters<(Read<u32>,)>) -> X + Sync + Send> Thief for F {}

// A reference to a type of the user's is of his crate, and an `Fn` by the trait.
impl DeviceFn<(Read<u32>,)> for &'static dyn Thief {
    type Output = u32;
    type Answer = X;
    fn on_host(self, _: &Thread<'_>, (_x,): (Read<u32>,)) -> u32 {
        0
    }
    fn in_builder<'b>(self, builder: &'b Builder, (_x,): (builder::Read<'b, u32>,)) -> Val<'b, u32> {
        builder.lit(0)
    }
}

fn main() {}
