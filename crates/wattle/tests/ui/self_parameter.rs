use wattle::prelude::*;

struct Scale(f32);

impl Scale {
    #[device_fn]
    fn example(self, v: f32) -> f32 {
        v
    }
}

fn main() {}
