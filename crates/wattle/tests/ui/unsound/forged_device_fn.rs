//! The bodies of a device function cannot be made without `unsafe`, so a closure of a user's is none.

use wattle::__private::{DraftHost, draft_bodies, draft_host};
use wattle::prelude::*;

#[kernel]
fn map<F: DeviceFn<(u32,), Output = u32>>(acc: &Acc, out: PerItem<u32>, f: F) {
    for (_, x) in acc.items(&mut out) {
        *x = f(*x);
    }
}

fn launch(out: &mut Buffer<u32>) {
    map(out, |ask| {
        let draft = draft_bodies(ask, |ask| {
            let host = draft_host(ask, |_, (x,)| (x, ()));
            DraftHost::build(host, |_, (x,)| x)
        });
        draft.vouch()
    });
}

fn main() {}
