//! Parameters that are views of one buffer: they have one variable, since references of Vulkan's model are the descriptors that
//! variables are bound to.

use wattle::prelude::*;
use wattle_core::Kernel;
use wattle_spirv::{Features, build_for, disassemble};

#[derive(Element, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Pair {
    low: u32,
    high: f32,
}

#[kernel]
fn counts(acc: &Acc, x: Atomic<u32>, pairs: Shared<Pair>, y: Shared<u32>, others: Shared<Pair>, z: Read<u32>) {
    let _ = acc;
    x.fetch_add(0, 1);
    y[1] = z[0];
    pairs[0] = others[1];
}

#[test]
fn views_of_one_buffer_have_one_variable() {
    let device = Device::simulated(0);
    let (x, z) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_zeroed::<u32>(4).unwrap());
    let (y, pairs) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_zeroed::<Pair>(4).unwrap());
    let others = device.alloc_zeroed::<Pair>(4).unwrap();
    let mut validator = crate::val::Validator::new();
    let mut bound = |name: &str, kernel: &dyn Kernel, expected: &[[u32; 2]]| {
        let same = kernel.views_of_one_buffer();
        assert_eq!(same.iter().map(|pair| pair.map(|id| id.0)).collect::<Vec<_>>(), expected, "{name}");
        let module =
            build_for(&kernel.build().expect("it verifies"), &Features::all(), &same).expect("a device has it");
        validator.check(name, &module.words);
        let text = disassemble(&module.words).expect("a module");
        let variables = text.lines().filter(|line| line.contains("DescriptorSet 1")).count();
        assert_eq!(variables, module.layout.views.len(), "{text}");
        (variables, module.layout.views.iter().map(|view| view.writable).collect::<Vec<_>>())
    };
    let apart = bound("apart", &counts(&x, &pairs, &y, &others, &z), &[]);
    assert_eq!(apart, (5, vec![true, true, true, true, false]));
    // Each number of an element is a parameter of its own, and the first of them stands for the view.
    let together = bound("together", &counts(&x, &pairs, &x, &pairs, &z), &[[3, 0], [4, 1]]);
    assert_eq!(together, (3, vec![true, true, false]));
    validator.done();
}
