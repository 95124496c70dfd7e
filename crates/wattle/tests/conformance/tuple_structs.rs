//! Structs whose fields have numbers, `Metres(2.0)`: in memory, as values, in patterns, with methods.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] =
    &[("structs with numbered fields", measured), ("structs taken apart by assignment", taken_apart)];

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Metres(f32);

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Step(pub u32, [Metres; 2], Metres);

const HALF: Metres = Metres(0.5);

impl Metres {
    #[device_fn]
    fn plus(self, other: Metres) -> Self {
        Self(self.0 + other.0)
    }

    #[device_fn]
    fn grow(&mut self, by: f32) {
        self.0 += by;
    }
}

#[device_fn]
fn scaled(step: Step, k: f32) -> Step {
    let Step(count, [a, b], last) = step;
    Step(count * 2, [Metres(a.0 * k), Metres(b.0 * k)], last.plus(HALF))
}

#[kernel]
fn measure(acc: &Acc, given: Step, steps: PerItem<Step>, out: Shared<Metres>) {
    let tile = acc.shared::<Metres, 2>();
    for (i, step) in acc.items(&mut steps) {
        *step = scaled(*step, 3.0);
        step.0 += i;
        step.1[1].0 += 0.25;
        step.2.grow(1.0);
        let sum = step.1[0].plus(step.1[1]).plus(given.1[0]);
        tile[0] = sum;
        out[2 * i] = tile[0];
        out[2 * i + 1].0 = match (*step, sum) {
            (Step(5, _, Metres(x)), _) => x,
            (Step(count, ..), Metres(y)) if count > 8 => y + count as f32,
            _ => 100.0,
        };
    }
}

fn measured(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let step = |count, x: f32| Step(count, [Metres(x), Metres(x + 1.0)], Metres(2.0 * x));
    let mut steps = device.from_slice(&[step(2, 1.0), step(2, 4.0), step(4, 0.5)])?;
    let out = device.from_slice(&[Metres(0.0); 6])?;
    queue.launch(ThreadSpec::new(1, 1), measure(step(7, 10.0), &mut steps, &out))?;
    let after = |count, x: f32| Step(count, [Metres(3.0 * x), Metres(3.0 * x + 3.25)], Metres(2.0 * x + 1.5));
    assert_eq!(steps.read(&queue)?, [after(4, 1.0), after(5, 4.0), after(10, 0.5)]);
    let sums = [19.25, 37.25, 16.25];
    let want = [sums[0], 100.0, sums[1], 9.5, sums[2], sums[2] + 10.0];
    assert_eq!(out.read(&queue)?, want.map(Metres));
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Span {
    from: u32,
    to: u32,
}

/// Swaps ends by assignments to parts, of which each takes what the others were before it.
#[kernel]
fn turn(acc: &Acc, spans: Shared<Span>, steps: Shared<Step>) {
    let mut span = spans[0];
    Span { from: span.to, to: span.from } = span;
    spans[0] = span;
    let (mut count, mut first) = (1, 0.25);
    steps[0].2 = Metres(first + count as f32);
    Step(count, [Metres(first), _], _) = steps[0];
    (spans[1], Span { to: count, .. }) = (Span { from: count, to: first as u32 }, spans[1]);
    steps[0].0 = count;
}

fn taken_apart(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let spans = device.from_slice(&[Span { from: 1, to: 2 }, Span { from: 3, to: 4 }])?;
    let steps = device.from_slice(&[Step(7, [Metres(9.0); 2], Metres(0.0))])?;
    queue.launch(ThreadSpec::new(1, 1), turn(&spans, &steps))?;
    assert_eq!(spans.read(&queue)?, [Span { from: 2, to: 1 }, Span { from: 7, to: 9 }]);
    assert_eq!(steps.read(&queue)?, [Step(4, [Metres(9.0); 2], Metres(1.25))]);
    Ok(())
}
