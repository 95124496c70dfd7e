use wattle::prelude::*;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Body {
    position: [f32; 3],
    mass: f32,
}

#[derive(Clone, Copy)]
struct Plain {
    x: f32,
}

#[kernel]
fn wrong_field(acc: &Acc, bodies: PerItem<Body>) {
    for (i, body) in acc.items(&mut bodies) {
        body.weight += 1.0;
    }
}

#[kernel]
fn missing_field(acc: &Acc, bodies: PerItem<Body>) {
    for (i, body) in acc.items(&mut bodies) {
        *body = Body { mass: 1.0 };
    }
}

#[kernel]
fn read_only(acc: &Acc, bodies: Read<Body>) {
    bodies[0].mass = 1.0;
}

#[kernel]
fn not_an_element(acc: &Acc, x: Read<Plain>) {
    assert!(x.len() > 0);
}

#[kernel]
fn added(acc: &Acc, bodies: Read<Body>, out: Shared<Body>) {
    out[0] = bodies[0] + bodies[1];
}

fn main() {}
