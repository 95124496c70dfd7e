use wattle::prelude::*;

#[kernel]
fn format(acc: &Acc, x: Read<f32>) {
    let i = acc.thread_in_grid();
    println!("{i:>w$}");
    println!("{:.*}", 3, x[i]);
    println!("{:p}", i);
    println!("{x[i]}");
    println!("{i");
    println!("i}");
}

fn main() {}
