use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    fn helper(v: f32) -> f32 {
        v
    }
    for (i, y) in acc.items(&mut y) {
        *y = helper(x[i]);
    }
}

fn main() {}
