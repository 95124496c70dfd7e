use wattle::prelude::*;

#[kernel]
fn one_by_one(acc: &Acc, out: Shared<u32>) {
    let (a, b);
    (a, b) = (1, 2);
    out[0] = a + b;
}

#[kernel]
fn view(acc: &Acc, out: Shared<u32>) {
    let other;
    other = out;
    other[0] = 1;
}

#[kernel]
fn not_on_every_way(acc: &Acc, n: u32, out: Shared<u32>) {
    let v: u32;
    if n > 3 {
        v = 1;
    }
    out[0] = v;
}

#[kernel]
fn twice(acc: &Acc, n: u32, out: Shared<u32>) {
    let v;
    v = n;
    out[0] = v;
    v = 2;
    out[1] = v;
}

#[kernel]
fn of_two_types(acc: &Acc, n: u32, out: Shared<u32>) {
    let v;
    if n > 3 {
        v = n;
    } else {
        v = 1.5f32;
    }
    out[0] = v;
}

fn main() {}
