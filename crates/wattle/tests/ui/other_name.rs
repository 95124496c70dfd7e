use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: PerItem<f32>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i].powf(2.0);
        *y = x[i].log(3.0);
    }
}

#[kernel]
fn of_integers(acc: &Acc, x: Read<i32>, y: PerItem<u32>) {
    for (i, y) in acc.items(&mut y) {
        *y = x[i].unsigned_abs();
        if y.is_multiple_of(4) {
            *y = y.checked_sub(1);
        }
    }
}

fn main() {}
