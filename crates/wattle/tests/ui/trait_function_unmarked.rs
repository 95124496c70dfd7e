//! A trait's device function is marked in the trait too, and is called as marked.

use wattle::prelude::*;

trait Shape {
    fn area(size: f32) -> f32;
    #[device_fn]
    fn side(size: f32) -> f32;
}

struct Square;

impl Shape for Square {
    fn area(size: f32) -> f32 {
        size * size
    }
    #[device_fn]
    fn side(size: f32) -> f32 {
        size
    }
}

#[kernel]
fn example<S: Shape>(acc: &Acc, out: Shared<f32>) {
    out[0] = S::side(1.0);
    out[1] = S::area(1.0);
}

fn main() {}
