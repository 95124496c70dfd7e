use wattle::prelude::*;

#[kernel]
fn hexadecimal(acc: &Acc, x: Read<f32>) {
    println!("{:x}", x[acc.thread_in_grid()]);
}

fn main() {}
