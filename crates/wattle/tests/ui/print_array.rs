use wattle::prelude::*;

#[kernel]
fn array(acc: &Acc, x: Read<f32>) {
    let pair = [x[0], x[1]];
    println!("{:?}", pair);
}

fn main() {}
