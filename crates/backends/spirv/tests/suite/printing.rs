//! What printing, the clock, and minimum and maximum of floats become.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_spirv::{Features, Lacking, build, lint};

#[kernel]
fn prints(acc: &Acc, x: Read<f32>, y: Atomic<f32>) {
    let (i, start) = (acc.thread_in_grid(), acc.clock());
    y.fetch_add(0, x[i]);
    let old = y.fetch_max(0, x[i]);
    let found = y.compare_exchange(1, old, 0.5);
    let took = acc.clock() - start;
    assert!(found != 7.0, "found {found}, took {took}");
    println!("{i}: {} {old} {took}", x[i]);
}

fn kernel() -> wattle_ir::Kernel {
    let device = Device::host();
    let (x, y) = (device.from_slice(&[1.0f32]).unwrap(), device.alloc_zeroed::<f32>(2).unwrap());
    prints(&x, &y).build().expect("a kernel")
}

#[test]
fn modules_are_valid() {
    let kernel = kernel();
    let mut validator = crate::val::Validator::new();
    for device_clock in [false, true] {
        for adds in [false, true] {
            let features = Features { device_clock, buffer_float32_add: adds, ..Features::all() };
            let module = build(&kernel, &features).expect("the device has all of it");
            assert_eq!(lint(&module.words), Ok(vec![]));
            validator.check(&format!("device clock {device_clock}, adds {adds}"), &module.words);
        }
    }
    validator.done();
}

#[test]
fn a_device_without_a_clock_is_named_with_its_lack() {
    let features = Features { device_clock: false, subgroup_clock: false, ..Features::all() };
    let lacking = build(&kernel(), &features).expect_err("there is no clock");
    assert!(matches!(lacking, Lacking::Clock { .. }));
    assert!(
        lacking.to_string().contains("reads the clock at crates/backends/spirv/tests/suite/printing.rs:9"),
        "{lacking}"
    );
    assert!(lacking.to_string().contains("VK_KHR_shader_clock"));
}
