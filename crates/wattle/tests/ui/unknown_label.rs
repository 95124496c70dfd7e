use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc) {
    loop {
        break 'outer;
    }
}

fn main() {}
