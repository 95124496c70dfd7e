//! Views that a kernel would choose while it runs, where the source does not show it: every device refuses the kernel.

use wattle::prelude::*;

#[device_fn]
fn first(a: Read<u32>, _b: Read<u32>) -> Read<u32> {
    a
}

#[device_fn]
fn second(_a: Read<u32>, b: Read<u32>) -> Read<u32> {
    b
}

#[kernel]
fn chooses(acc: &Acc, a: Read<u32>, b: Read<u32>, out: Shared<u32>, c: u32) {
    out[0] = (if c == 1 { first(a, b) } else { second(a, b) })[0];
}

#[kernel]
fn swaps(acc: &Acc, a: Read<u32>, b: Read<u32>, out: Shared<u32>) {
    let mut both = (a, b);
    both = (both.1, both.0);
    out[0] = both.0[0];
}

/// The same view on all ways is no choice.
#[kernel]
fn stays(acc: &Acc, a: Read<u32>, b: Read<u32>, out: Shared<u32>, c: u32) {
    let view = if c == 1 { first(a, b) } else { second(b, a) };
    out[0] = view[0] + second(a, b)[0];
}

#[test]
fn a_view_that_is_chosen_is_refused() -> Result<()> {
    let (is_refused, one) = (|error: wattle::Error| error.to_string(), ThreadSpec::new(1, 1));
    for device in Device::all() {
        let queue = device.queue()?;
        let [a, b] = [device.from_slice(&[1u32])?, device.from_slice(&[2u32])?];
        let out = device.alloc_zeroed::<u32>(1)?;
        let chosen = queue.launch(one, chooses(&a, &b, &out, 1)).map_err(is_refused).expect_err("it chooses");
        let swapped = queue.launch(one, swaps(&a, &b, &out)).map_err(is_refused).expect_err("it swaps");
        for error in [chosen, swapped] {
            assert!(error.contains("choose a number and not a view") && error.contains("chosen_views.rs"), "{error}");
        }
        queue.launch(one, stays(&a, &b, &out, 0))?;
        assert_eq!(out.read(&queue)?, [3]);
    }
    Ok(())
}
