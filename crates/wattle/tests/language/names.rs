//! What a user's own names and traits change in kernels: nothing.

use wattle::prelude::*;

/// Methods of the names that kernels know, by value, so that they would be found before the library's own.
mod shadow {
    use wattle::prelude::*;

    #[allow(dead_code, reason = "nothing finds it, which is the point")]
    trait Shadow: Sized {
        fn load(self, _: u32) -> u32 {
            unreachable!()
        }
        fn fetch_add(self, _: u32, _: u32) -> u32 {
            unreachable!()
        }
        fn len(self) -> u32 {
            unreachable!()
        }
        fn extent(self) -> u32 {
            unreachable!()
        }
        fn thread_in_grid(self) -> u32 {
            unreachable!()
        }
        fn lanes<const N: usize>(self, _: u32) -> [u32; N] {
            unreachable!()
        }
        fn __get(self, _: u32, _: &wattle_core::Thread<'_>) -> u32 {
            unreachable!()
        }
        fn __set(self, _: u32, _: u32, _: &wattle_core::Thread<'_>) {
            unreachable!()
        }
        fn __named(self, _: &'static str) -> Self {
            unreachable!()
        }
        fn strided(self) -> Self {
            unreachable!()
        }
        fn step_by(self, _: u32) -> Self {
            unreachable!()
        }
    }
    impl<T> Shadow for T {}

    #[kernel]
    pub fn shadowed(acc: &Acc, x: Read<u32>, counters: Atomic<u32>, out: Shared<u32>) {
        let tile = acc.shared::<u32, 4>();
        let mut array = [1, 2, 3];
        for i in acc.indices(ALL_THREADS, 0..1).strided() {
            tile[i] = x[i] + x.len() + x.extent();
        }
        array[1] += 5;
        for i in (0..4).step_by(2) {
            counters.fetch_add(0, i);
        }
        let lanes = x.lanes::<2>(0);
        out[0] = tile[0] + array[1] + lanes[1] + counters.load(0) + acc.thread_in_grid();
    }
}

#[test]
fn a_trait_of_the_users_does_not_step_in() {
    expect!(ThreadSpec::new(1, 1), [14 + 7 + 20 + 2], |device, out| {
        let x = device.from_slice(&[10u32, 20]).unwrap();
        shadow::shadowed(&x, &device.alloc_zeroed::<u32>(1).unwrap(), &out)
    });
}

/// The same for what the macro's own code calls, and methods that are found by reference.
mod stepping_in {
    use wattle::prelude::*;

    #[allow(dead_code, reason = "nothing finds it, which is the point")]
    trait Length {
        fn len(&self) -> usize {
            0
        }
    }
    impl<T> Length for &mut [T] {}

    #[allow(dead_code, reason = "nothing finds it, which is the point")]
    trait Labels: Sized {
        fn break_label(self) -> u32 {
            unreachable!()
        }
        fn continue_label(self) -> u32 {
            unreachable!()
        }
        fn thread(self) -> u32 {
            unreachable!()
        }
        fn builder(self) -> u32 {
            unreachable!()
        }
        fn worked(self, _: u32) -> bool {
            unreachable!()
        }
        fn elements(self) -> u32 {
            unreachable!()
        }
    }
    impl<T> Labels for T {}

    #[kernel]
    pub fn fill(acc: &Acc, y: PerItem<u32>) {
        for (i, y) in acc.items(&mut y) {
            let mut left = i;
            loop {
                if left == 0 {
                    break;
                }
                left -= 1;
                if left > 1 {
                    continue;
                }
            }
            *y = 1 + left;
        }
    }
}

#[test]
fn a_trait_that_is_found_by_reference_does_not_step_in() {
    expect!(ThreadSpec::new(1, 1), [1, 1, 1], |device, out| stepping_in::fill(&mut out));
}

/// Names that the macro's own code has, or could have.
#[allow(non_upper_case_globals, dead_code)]
mod constants {
    pub const thread: u32 = 1;
    pub const builder: u32 = 2;
    pub const value: u32 = 3;
    pub const condition: u32 = 4;
    pub const source: u32 = 5;
    pub const index: u32 = 6;
    pub const INFO: u32 = 7;
    pub const AFTER: u32 = 8;
    pub const number: u32 = 9;
}

#[allow(non_camel_case_types, dead_code)]
mod types {
    pub struct Some;
    pub struct Option;
    pub struct None;
    pub trait Copy {}
    pub mod core {}
    pub mod std {}
}

mod named {
    #[allow(unused_imports)]
    use super::constants::*;
    #[allow(unused_imports)]
    use super::types::*;
    use wattle::prelude::*;

    #[device_fn]
    pub fn host(body: u32) -> u32 {
        if body > number {
            return body;
        }
        body + AFTER
    }

    #[device_fn]
    pub fn build(result: u32) -> u32 {
        result * 2
    }

    #[kernel]
    pub fn meets(a: &Acc, x: Read<u32>, acc: Shared<u32>, views: PerItem<u32>) {
        for (begin, end) in a.items(&mut views) {
            *end = x[begin] + INFO;
        }
        let mut count = 0;
        while count < thread {
            count += 1;
        }
        let chosen = if count == 1 { condition } else { source };
        acc[0] = host(index) + build(builder) + value + chosen;
    }
}

#[test]
fn names_of_the_users_are_his_own() {
    expect!(ThreadSpec::new(1, 1), [14 + 4 + 3 + 4], |device, out| {
        let x = device.from_slice(&[10u32]).unwrap();
        named::meets(&x, &out, &mut device.alloc_zeroed::<u32>(1).unwrap())
    });
}

/// A function of the user's by a name that is a word for something else where nobody has given it to one.
#[device_fn]
fn mix(x: f32, y: f32, part: f32) -> f32 {
    x + (y - x) * part * part
}

static STEPS: [f32; 3] = [0.0, 0.5, 2.0];

#[kernel]
fn mixes(acc: &Acc, out: Shared<f32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..out.len()) {
        out[i] = mix(1.0, 3.0, STEPS[i]);
    }
}

#[test]
fn functions_of_the_users_have_their_names() {
    expect!(ThreadSpec::new(1, 1), vec![1.0f32, 1.5, 9.0], |device, out| mixes(&out));
}

/// Methods of names that numbers have elsewhere, and that kernels refuse of numbers.
mod elsewhere {
    use wattle::prelude::*;

    pub trait Special: Element {
        #[device_fn]
        fn erf(self) -> f32;
        #[device_fn]
        fn lerp(self, to: f32, t: f32) -> f32;
    }

    impl Special for f32 {
        #[device_fn]
        fn erf(self) -> f32 {
            self + 100.0
        }
        #[device_fn]
        fn lerp(self, to: f32, t: f32) -> f32 {
            self * 1000.0 + to * t
        }
    }

    #[derive(Clone, Copy, Element)]
    #[repr(C)]
    pub struct Interval {
        pub low: f32,
        pub high: f32,
    }

    impl Interval {
        #[device_fn]
        pub fn saturate(self, x: f32) -> f32 {
            x.clamp(self.low, self.high)
        }
        #[device_fn]
        pub fn maximum(&self) -> f32 {
            self.high
        }
        #[device_fn]
        pub fn next_up(&mut self) -> f32 {
            self.high += 1.0;
            self.high
        }
        #[device_fn]
        pub fn moved(self) -> Interval {
            Interval { low: self.low + 1.0, high: self.high + 1.0 }
        }
    }
}

/// Neither these methods nor their types are in this module.
mod calls {
    use wattle::prelude::*;

    use super::elsewhere::{Interval, Special};

    #[device_fn]
    fn of_any<S: Special>(x: S) -> f32 {
        x.erf() + x.lerp(2.0, 0.5)
    }

    #[kernel]
    pub fn named_as_elsewhere(acc: &Acc, of: Interval, x: Read<f32>, out: Shared<f32>) {
        let y = x[0];
        out[0] = y.erf() + x[0].lerp(2.0, 0.5);
        out[1] = of.moved().saturate(7.0) + of.moved().maximum();
        let mut changed = of.moved();
        out[2] = changed.next_up() + changed.high;
        out[3] = of.low.erf() + of_any(y);
    }
}

#[test]
fn methods_may_have_the_names_of_what_kernels_lack() {
    let of = elsewhere::Interval { low: 0.0, high: 2.0 };
    let expected = [3.0 + 100.0 + 3001.0, 3.0 + 3.0, 8.0, 100.0 + 103.0 + 3001.0f32];
    expect!(ThreadSpec::new(1, 1), expected, |device, out| calls::named_as_elsewhere(
        of,
        &device.from_slice(&[3.0]).unwrap(),
        &out
    ));
}

/// Names of the library's, and of attributes, that stand for other things here.
mod of_other_things {
    use wattle::device_fn as marked;
    use wattle::prelude::{Acc, Number, Shared, kernel};

    type Order = u32;
    type Word = u32;

    /// A scope that is no scope.
    pub struct Scope;
    impl Scope {
        pub const LIMIT: u32 = 5;
    }

    #[allow(dead_code, reason = "the first one gives the other its number")]
    enum Kind {
        First = 3,
        Second,
    }

    const BIG: u128 = (1 << 40) + 6;

    #[allow(non_upper_case_globals, reason = "its name is an attribute's")]
    const kernel: usize = 1;
    /// Behind it stands a function that is no kernel.
    pub static PICKED: [u32; kernel] = [7];

    #[marked]
    fn helper(x: u32) -> u32 {
        x + 1
    }

    trait Area {
        #[cfg_attr(all(), marked)]
        fn area(self) -> f32;
    }
    impl Area for f32 {
        #[marked]
        fn area(self) -> f32 {
            self * self
        }
    }

    #[kernel]
    pub fn named<Scale: Number>(acc: &Acc, order: Order, scale: Scale, out: Shared<f32>) {
        let limit = if order > 3 { Scope::LIMIT } else { 7 };
        out[0] = (limit + helper(order)) as f32;
        out[1] = (Kind::Second as Word + BIG as Word) as f32;
        out[2] = out[1].area();
        out[3] = scale as f32;
    }
}

#[test]
fn names_may_be_those_of_other_things() {
    assert_eq!(of_other_things::PICKED, [7]);
    expect!(ThreadSpec::new(1, 1), [10.0, 10.0, 100.0, 2.5f32], |device, out| of_other_things::named(4, 2.5f32, &out));
}
