//! A device function is one by its type: a closure of a user's that passes the question on to one of two has no type, since
//! a kernel would be built with the one and run with the other.

use std::sync::atomic::{AtomicBool, Ordering};

use wattle::prelude::*;

static SECOND: AtomicBool = AtomicBool::new(false);

#[kernel]
fn map<F: DeviceFn<(u32,), Output = u32>>(acc: &Acc, out: PerItem<u32>, f: F) {
    for (i, x) in acc.items(&mut out) {
        *x = f(i);
    }
}

struct Twice;
struct Thrice;

trait Scales {
    #[device_fn]
    fn scaled(x: u32) -> u32;
}

impl Scales for Twice {
    #[device_fn]
    fn scaled(x: u32) -> u32 {
        2 * x
    }
}

impl Scales for Thrice {
    #[device_fn]
    fn scaled(x: u32) -> u32 {
        3 * x
    }
}

fn launch(out: &mut Buffer<u32>) {
    let (f, g) = (device_closure!(|x: u32| x + 1), device_closure!(|x: u32| x + 1000));
    map(out, move |ask| if SECOND.load(Ordering::Relaxed) { g(ask) } else { f(ask) });
    map(out, |ask| if SECOND.load(Ordering::Relaxed) { Twice::scaled(ask) } else { Thrice::scaled(ask) });
}

fn main() {}
