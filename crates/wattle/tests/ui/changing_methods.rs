//! Methods with `&mut self`, called on what cannot be changed or is changed meanwhile.

use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Rng {
    state: u32,
}

impl Rng {
    #[device_fn]
    fn new(state: u32) -> Self {
        Rng { state }
    }

    #[device_fn]
    fn draw(&mut self) -> u32 {
        self.state += 1;
        self.state
    }

    #[device_fn]
    fn add(&mut self, n: u32) -> u32 {
        self.state += n;
        self.state
    }

    #[device_fn]
    fn more(self, n: u32, m: u32) -> u32 {
        self.state + n + m
    }

    #[device_fn]
    fn forgotten(&self) -> u32 {
        self.state += 1;
        self.state
    }
}

#[kernel]
fn not_mut(acc: &Acc, out: Shared<u32>) {
    let rng = Rng::new(7);
    out[0] = rng.draw();
}

#[kernel]
fn of_a_view(acc: &Acc, out: Shared<u32>, rngs: Shared<Rng>) {
    out[0] = rngs[0].draw();
}

#[kernel]
fn meanwhile(acc: &Acc, out: Shared<u32>) {
    let mut rng = Rng::new(7);
    out[0] = rng.add(rng.draw());
}

#[kernel]
fn before_another(acc: &Acc, out: Shared<u32>) {
    let mut rng = Rng::new(7);
    out[0] = rng.more(rng.draw(), 1);
}

#[kernel]
fn by_value(acc: &Acc, out: Shared<u32>) {
    let mut rng = Rng::new(7);
    out[0] = Rng::draw(rng) + rng.draw();
}

fn main() {}
