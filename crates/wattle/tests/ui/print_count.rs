use wattle::prelude::*;

#[kernel]
fn few(acc: &Acc, x: Read<f32>) {
    println!("{} {}", x[0]);
    println!("{}", x[0], acc.thread_in_grid());
    println!("{2}", x[0], x[1]);
    assert!(x[0] > 0.0, "{0} {}, {}", x[0]);
}

fn main() {}
