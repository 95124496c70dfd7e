use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<u32>) {
    y[0] = 1;
    #[cfg(any())]
    {
        y[0] = 99;
    }
    #[allow(unused)]
    let unused = 1;
}

fn main() {}
