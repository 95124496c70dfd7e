use wattle::prelude::*;

struct Point {
    x: f32,
}

struct Pair(f32, f32);

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        let p = Point { x: 1.0 };
        *y = p.x;
    }
}

#[kernel]
fn pairs(acc: &Acc, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        let p = Pair(1.0, 2.0);
        *y = p.0;
    }
}

fn main() {}
