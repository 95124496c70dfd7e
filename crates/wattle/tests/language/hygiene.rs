//! Kernels that `macro_rules` write: a variable of the macro's is none of its user's, whatever its name. And structs whose
//! names are those that the library has for something else.

use wattle::prelude::*;

/// Two parameters of one name: the user's, and the macro's own. On the host the loop reads both as slices.
macro_rules! two_views {
    ($x:ident) => {
        #[kernel]
        fn two_views(acc: &Acc, $x: Read<u32>, x: Read<u32>, y: PerItem<u32>) {
            for (i, y) in acc.items(&mut y) {
                *y = $x[i] + 10 * x[i];
            }
        }
    };
}
two_views!(x);

/// Variables of the macro's beside those that its arguments name; one of the two can be assigned to.
macro_rules! two_variables {
    ($t:ident, $sum:expr) => {
        #[kernel]
        fn two_variables(acc: &Acc, $t: u32, out: Shared<u32>) {
            let t = 100;
            out[0] = $sum + t;
            let mut t = 5;
            t += 1;
            out[1] = $sum + t;
        }
    };
}
two_variables!(t, t + 1);

/// A label of the macro's, within a loop of the same label that its user leaves.
macro_rules! two_labels {
    ($label:lifetime, $leave:stmt) => {
        #[kernel]
        fn two_labels(acc: &Acc, out: Shared<u32>) {
            $label: loop {
                'a: loop {
                    out[0] += 1;
                    if out[0] == 3 {
                        $leave
                    }
                    break 'a;
                }
                out[1] += 1;
            }
        }
    };
}
two_labels!('a, break 'a);

#[test]
fn variables_of_a_macro_are_none_of_its_users() {
    expect!(ThreadSpec::new(1, 1), [21; 64], |device, y| {
        two_views(&device.from_slice(&[1; 64]).unwrap(), &device.from_slice(&[2; 64]).unwrap(), &mut y)
    });
    expect!(ThreadSpec::new(1, 1), [108, 14], |_device, out| two_variables(7, &out));
    expect!(ThreadSpec::new(1, 1), [3, 2], |_device, out| two_labels(&out));
}

macro_rules! elements {
    ($($name:ident)*) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Default, Element)]
        #[repr(C)]
        struct $name {
            x: u32,
        }
    )*};
}
elements!(Layout ElementLayout Site Type Val Memory Values Vec Builder Family Variable Variables Places Ids KernelType OfElement IrValue F T);

#[derive(Clone, Copy, Debug, PartialEq, Default, wattle::Element)]
#[repr(C)]
struct Named {
    layout: Layout,
    f: F,
    r#type: [Type; 2],
    builder: u32,
    ids: T,
}

#[kernel]
fn named(acc: &Acc, out: Shared<Named>) {
    let mut all = out[0];
    all.r#type[1].x = all.layout.x + all.f.x;
    all.ids = T { x: all.builder };
    out[1] = all;
}

/// A trait with the names that a derived implementation might call.
mod shadow {
    #[allow(dead_code, reason = "nothing finds it, which is the point")]
    trait Shadow: Sized {
        fn iter(self) {}
        fn map<M>(self, _: M) {}
        fn collect<C>(self) {}
        fn count(self) {}
    }
    impl<T> Shadow for T {}

    #[derive(Clone, Copy, Debug, PartialEq, wattle::Element)]
    #[repr(C)]
    pub struct Pair {
        pub x: u32,
        pub y: [u32; 2],
    }
    pub const PAIRS: [Pair; 2] = [Pair { x: 1, y: [2, 3] }, Pair { x: 4, y: [5, 6] }];
}

#[kernel]
fn of_constants(acc: &Acc, number: u32, out: Shared<u32>) {
    out[0] = shadow::PAIRS[number].x;
    out[1] = shadow::PAIRS[number].y[number];
}

#[test]
fn elements_may_have_any_name() {
    let (layout, f) = (Layout { x: 3 }, F { x: 4 });
    for device in Device::all() {
        let queue = device.queue().unwrap();
        let before = Named { layout, f, builder: 9, ..Named::default() };
        let out = device.from_slice(&[before; 2]).unwrap();
        match queue.launch(ThreadSpec::new(1, 1), named(&out)) {
            Err(error) if crate::support::lacks(&device, &error) => continue,
            launched => launched.unwrap(),
        }
        let after = Named { r#type: [Type::default(), Type { x: 7 }], ids: T { x: 9 }, ..before };
        assert_eq!(out.read(&queue).unwrap(), [before, after], "on {}", device.name());
    }
    expect!(ThreadSpec::new(1, 1), [4, 6], |_device, out| of_constants(1, &out));
}
