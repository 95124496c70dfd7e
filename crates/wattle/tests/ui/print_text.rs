use wattle::prelude::*;

#[kernel]
fn text(acc: &Acc, x: Read<f32>) {
    println!("{}: {}", "x", x[0]);
    println!(x[0]);
}

fn main() {}
