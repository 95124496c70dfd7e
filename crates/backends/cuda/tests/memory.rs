//! Memory of every kind: copies, fills, mapping, and requests that exceed the device's memory.

mod common;
#[path = "../../gpu/tests/drivers/memory.rs"]
mod memory;

use common::{devices, soft_devices};
use memory::affine;
use wattle::ErrorKind;
use wattle::prelude::*;

#[test]
fn mapping() {
    devices().iter().for_each(memory::mapping);
}

#[test]
fn fills() {
    devices().iter().for_each(memory::fills);
}

#[test]
fn copies() {
    devices().iter().for_each(memory::copies);
}

#[test]
fn between_devices() {
    let others: Vec<_> = devices().into_iter().chain([Device::host()]).collect();
    devices().iter().for_each(|device| memory::between(device, &others));
}

#[test]
fn too_much() {
    for device in devices() {
        let all = device.properties().memory as usize;
        // More than the device has, and as much as it has, of which the driver needs some for itself.
        for elements in [(all / 8 + 1).min(u32::MAX as usize), (all / 8).min(u32::MAX as usize)] {
            match device.alloc::<u64>(elements) {
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
                    assert!(error.to_string().contains(&(elements * 8).to_string()), "{error}");
                }
                Ok(_) => assert!(elements == u32::MAX as usize, "{elements} of 8 bytes in {all}"),
            }
        }
        let x = device.from_slice(&[1u32, 2]).unwrap();
        assert_eq!(x.read(&device.queue().unwrap()).unwrap(), [1, 2], "the device goes on");
    }
}

/// Memory that was dropped can be allocated again, even while launches are in flight all the time.
#[test]
fn memory_comes_back() {
    for device in soft_devices() {
        let third = device.properties().memory as usize / 3 / 4;
        let queue = device.queue_non_blocking().unwrap();
        for _ in 0..10 {
            let mut x = device.alloc_zeroed::<u32>(third).unwrap();
            queue.launch(FrameSpec::cover(10, 10), affine(&mut x.slice_mut(0..10).unwrap(), 1, 1)).unwrap();
        }
        queue.wait().unwrap();
    }
}
