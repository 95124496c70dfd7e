#![deny(unused_must_use)]
use wattle::prelude::*;

#[kernel]
fn fill(acc: &Acc, value: u32, out: PerItem<u32>) {
    for (_, out) in acc.items(&mut out) {
        *out = value;
    }
}

fn main() {
    let device = Device::select("host").unwrap();
    let mut out = device.alloc::<u32>(64).unwrap();
    fill(3, &mut out);
}
