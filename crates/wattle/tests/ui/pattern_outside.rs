use wattle::prelude::*;

const LIMIT: u32 = 3;
#[allow(non_upper_case_globals)]
const limit: u32 = 4;

#[kernel]
fn example(acc: &Acc, n: u32, y: Shared<u32>) {
    y[0] = match n {
        x | 3 => x,
        _ => 2,
    };
    match n {
        Some(x) => y[0] = x,
        _ => {}
    }
    match n {
        ref x => {}
    }
}

#[kernel]
fn lower_case_constant(acc: &Acc, n: u32, y: Shared<u32>) {
    y[0] = match n {
        LIMIT => 1,
        limit => 2,
        _ => 3,
    };
}

#[kernel]
fn not_exhaustive(acc: &Acc, n: u32, y: Shared<u32>) {
    match (n, n > 2) {
        (0, _) => y[0] = 1,
        (_, true) if n > 5 => y[0] = 2,
        (1.., false) => y[0] = 3,
    }
    let 3 = n else { y[0] = 4 };
}

fn main() {}
