use wattle::prelude::*;

const TEXT: u32 = 1;

#[kernel]
fn checks(acc: &Acc, x: Read<f32>) {
    assert!(x[0] > 0.0, TEXT);
    assert_eq!(x[0], 1.0, "{nothing}");
}

fn main() {}
