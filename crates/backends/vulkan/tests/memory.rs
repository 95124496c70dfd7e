//! Memory of every kind: copies, fills, mapping, and requests for too much.

mod common;
#[path = "../../gpu/tests/drivers/memory.rs"]
mod memory;

use common::{devices, in_a_child, no_messages, passed};
use memory::affine;
use wattle::ErrorKind;
use wattle::prelude::*;

#[test]
fn mapping() {
    devices().iter().for_each(memory::mapping);
    no_messages();
}

fn all_copies_and_fills() {
    devices().iter().for_each(memory::copies);
    devices().iter().for_each(memory::fills);
    let others: Vec<_> = devices().into_iter().chain([Device::host()]).collect();
    devices().iter().for_each(|device| memory::between(device, &others));
    no_messages();
}

#[test]
fn copies_and_fills() {
    all_copies_and_fills();
}

/// Copies and fills work as on a GPU with memory of its own.
#[test]
fn copies_and_fills_through_a_staging_buffer() {
    match in_a_child("copies_and_fills_through_a_staging_buffer", &[("WATTLE_VULKAN_STAGED", "1")]) {
        Some(output) => passed(&output),
        None => all_copies_and_fills(),
    }
}

#[test]
fn too_much_memory() {
    for device in devices() {
        // These lengths exceed the device's memory, or any device's.
        for len in [1usize << 31, (1 << 32) - 1] {
            let error = device.alloc::<u64>(len).map(|_| ()).unwrap_err();
            let ErrorKind::OutOfMemory { bytes, why, .. } = error.kind() else { panic!("{error}") };
            assert_eq!(*bytes, len as u64 * 8);
            assert!(!why.is_empty(), "{error}");
        }
        // Allocates until no memory is left; then what is freed can be allocated again.
        let most = device.properties().memory;
        if most > 4 << 30 {
            eprintln!("not possible: filling the memory of {}, which has {most} bytes", device.name());
            continue;
        }
        let (mut held, piece) = (Vec::new(), 128usize << 20);
        let error = loop {
            match device.alloc::<u8>(piece) {
                Ok(buffer) => held.push(buffer),
                Err(error) => break error,
            }
            assert!(held.len() * piece <= most as usize, "{} gives more than it has", device.name());
        };
        assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
        assert!(!held.is_empty());
        drop(held.pop());
        drop(device.alloc::<u8>(piece).unwrap());
        drop(held);
        let mut x = device.from_slice(&[1u32, 2, 3]).unwrap();
        let queue = device.queue().unwrap();
        queue.launch(FrameSpec::cover(3, 1), affine(&mut x, 2, 0)).unwrap();
        assert_eq!(x.read(&queue).unwrap(), [2, 4, 6]);
    }
    no_messages();
}

#[kernel]
fn last(acc: &Acc, x: Shared<u32>, value: u32) {
    x[x.len() - 1] = value + acc.thread_in_grid();
}

#[test]
fn more_than_one_descriptor_can_reach() {
    for device in devices() {
        // Some devices let a kernel reach less of a buffer than a buffer can have.
        let queue = device.queue().unwrap();
        let Ok(mut x) = device.alloc::<u32>(192 << 18) else {
            eprintln!("not possible: {} has no buffers of 192 MiB", device.name());
            continue;
        };
        let Err(error) = queue.launch(ThreadSpec::new(1, 1), last(&x, 1)) else {
            eprintln!("not possible: {} lets a kernel reach all of 192 MiB", device.name());
            continue;
        };
        assert!(matches!(error.kind(), ErrorKind::Capability { .. }), "{error}");
        assert!(error.to_string().contains("maxStorageBufferRange"), "{error}");
        // The error asks to use a part of the buffer, as done here.
        let part = (192 << 18) - 1001..(192 << 18) - 1;
        queue.fill(x.slice_mut(part.clone()).unwrap(), 3).unwrap();
        queue.launch(ThreadSpec::new(1, 1), last(x.slice(part.clone()).unwrap(), 7)).unwrap();
        let mut found = vec![0; 1000];
        queue.copy_to_host(&mut found, x.slice(part).unwrap()).unwrap();
        assert_eq!((found[0], found[998], found[999]), (3, 3, 7));
    }
    no_messages();
}
