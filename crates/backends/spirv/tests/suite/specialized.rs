//! Kernels that ask what their device is: of what it lacks nothing is emitted.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::Kernel;
use wattle_spirv::{Features, build, disassemble};

#[kernel]
fn sums(acc: &Acc, x: Read<f32>, out: Shared<f32>) {
    let device = acc.device();
    if device.has_f64() && device.has_u64() {
        let tile = [0.0f64; 8];
        let mut sum = tile[x.len() % 8];
        for i in 0..x.len() {
            sum += x[i] as f64;
        }
        out[0] = (sum as i64) as f32;
    } else {
        let mut sum = 0.0f32;
        for i in 0..x.len() {
            sum += x[i];
        }
        out[0] = sum;
    }
}

#[kernel]
fn always_wide(acc: &Acc, x: Read<f32>, out: Shared<f32>) {
    if !acc.device().has_f64() {
        out[0] = (x[0] as f64 * 2.0) as f32;
    }
}

fn built(kernel: impl Fn(&wattle::Buffer<f32>) -> Kernel) -> Kernel {
    kernel(&Device::simulated(0).alloc_zeroed::<f32>(4).unwrap())
}

#[test]
fn the_side_that_is_not_taken_is_not_emitted() {
    let kernel = built(|x| sums(x, x).build().expect("it verifies"));
    let mut validator = crate::val::Validator::new();
    for (name, features, wide) in [("all", Features::all(), true), ("least", Features::least(), false)] {
        let module = build(&kernel, &features).expect("no side needs what it lacks");
        let text = disassemble(&module.words).expect("a module");
        assert_eq!((text.contains("Float64"), text.contains("Int64")), (wide, wide), "{name}:\n{text}");
        validator.check(name, &module.words);
    }
    validator.done();
}

#[test]
fn what_is_taken_is_refused_where_it_is_lacking() {
    let kernel = built(|x| always_wide(x, x).build().expect("it verifies"));
    let refused = build(&kernel, &Features::least()).expect_err("the side that is taken uses f64").to_string();
    assert!(refused.contains("uses f64") && refused.contains("shaderFloat64"), "{refused}");
    assert!(build(&kernel, &Features::all()).is_ok());
}
