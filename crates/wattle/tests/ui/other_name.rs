use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i].powf(2.0);
        *y = x[i].log(3.0);
    }
}

fn main() {}
