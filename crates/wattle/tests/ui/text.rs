use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        let name = "wattle";
        let bytes = b"wattle";
        let letter = 'w';
        let quote = '\'';
        let other = 'ω';
        *y = 1.0;
    }
}

fn main() {}
