use wattle::prelude::*;

struct Point {
    x: f32,
}

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        let p = Point { x: 1.0 };
        *y = p.x;
    }
}

fn main() {}
