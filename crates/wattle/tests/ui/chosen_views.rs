use wattle::prelude::*;

#[kernel]
fn swapped(acc: &Acc, out: Shared<u32>) {
    let mut src = acc.shared::<u32, 64>();
    let mut dst = acc.shared::<u32, 64>();
    (src, dst) = (dst, src);
    out[0] = src[0] + dst[0];
}

#[kernel]
fn assigned(acc: &Acc, a: Read<u32>, b: Read<u32>, out: Shared<u32>) {
    let mut from = a;
    from = b;
    out[0] = from[0];
}

#[kernel]
fn chosen(acc: &Acc, a: Read<u32>, b: Read<u32>, out: Shared<u32>, c: u32) {
    let of_if = if c == 1 { a } else { b };
    let (of_match, k) = match c {
        0 => (a, 5),
        _ => (b, 6),
    };
    let of_loop = loop {
        if c == 1 {
            break a;
        }
        break b;
    };
    out[0] = of_if[0] + of_match[k] + of_loop[0];
}

#[device_fn]
fn pick(a: Read<u32>, b: Read<u32>, c: u32) -> Read<u32> {
    if c == 1 {
        return a;
    }
    b
}
fn main() {}
