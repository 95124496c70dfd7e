use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    for i in 0..3 {
        break 3.0;
    }
    'outer: while y[0] < 1.0 {
        loop {
            break 'outer y[1];
        }
    }
}

fn main() {}
