use wattle::prelude::*;

#[kernel]
fn example() {
    return;
}

fn main() {}
