//! Memory of every kind: copies, fills, mapping, and requests for too much.

mod common;

use common::{devices, in_a_child, no_messages, passed};
use wattle::ErrorKind;
use wattle::prelude::*;

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

/// Unified or host-mapped memory: the host writes, the device changes, the host reads, and again.
fn shared_with_the_host(queue: &Queue, mut x: Buffer<u32>) {
    assert!(x.map().unwrap().iter().all(|&x| x == 0), "it is zeroed");
    for (i, x) in x.map_mut().unwrap().iter_mut().enumerate() {
        *x = i as u32;
    }
    queue.launch(FrameSpec::cover(x.len(), 32), affine(&mut x, 3, 1)).unwrap();
    queue.wait().unwrap();
    assert!(x.map().unwrap().iter().enumerate().all(|(i, &x)| x == 3 * i as u32 + 1));
    x.map_mut().unwrap()[7] = 100;
    queue.launch(FrameSpec::cover(x.len(), 32), affine(&mut x, 2, 0)).unwrap();
    queue.wait().unwrap();
    let read = x.read(queue).unwrap();
    assert_eq!((read[6], read[7], read[8]), (38, 200, 50));
    assert_eq!(&*x.map().unwrap(), &read[..]);
}

#[test]
fn mapping() {
    for device in devices() {
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            shared_with_the_host(&queue, device.alloc_unified(1000).unwrap());
            shared_with_the_host(&queue, device.alloc_host_mapped(1000).unwrap());
        }
        let refused = device.alloc::<u32>(10).unwrap();
        assert!(refused.map().is_err(), "the device's own memory is not mapped");
    }
    no_messages();
}

/// Fills whole buffers, parts and regions, also with 8-byte elements of equal and of different halves.
fn fills<T: wattle_ir::Element + PartialEq + std::fmt::Debug>(device: &Device, zero: T, values: [T; 2]) {
    for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
        for value in values {
            let mut x = device.alloc_zeroed_nd::<T, 2>([7, 9]).unwrap();
            let mut expected = vec![zero; 63];
            queue.fill(x.region_mut([1, 2], [6, 8]).unwrap(), value).unwrap();
            (1..6).for_each(|i| expected[i * 9 + 2..i * 9 + 8].fill(value));
            assert_eq!(x.read(&queue).unwrap(), expected, "{}", device.name());
            queue.fill(&mut x, value).unwrap();
            assert_eq!(x.read(&queue).unwrap(), vec![value; 63]);
        }
        // This part does not begin at a word.
        let mut x = device.alloc_zeroed::<T>(21).unwrap();
        queue.fill(x.slice_mut(3..18).unwrap(), values[0]).unwrap();
        let mut expected = vec![zero; 21];
        expected[3..18].fill(values[0]);
        assert_eq!(x.read(&queue).unwrap(), expected);
    }
}

fn all_fills() {
    for device in devices() {
        // Copies and fills work on bytes, so they do not need types that the device supports.
        fills::<u8>(&device, 0, [7, 255]);
        fills::<i16>(&device, 0, [-3, 0x0102]);
        fills::<u32>(&device, 0, [0xdead_beef, 0]);
        fills::<f32>(&device, 0.0, [1.5, -0.25]);
        fills::<u64>(&device, 0, [0x0123_4567_0123_4567, 0x0123_4567_89ab_cdef]);
        fills::<f64>(&device, 0.0, [1.0 / 3.0, 2.5]);
    }
}

/// Copies between host and device, whole and in regions, and between buffers.
fn all_copies() {
    for device in devices() {
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            // The length exceeds a staging buffer and is no round number.
            let values: Vec<u32> = (0..1_500_001).collect();
            let mut x = device.alloc::<u32>(values.len()).unwrap();
            queue.copy_from_host(&mut x, &values).unwrap();
            let mut y = device.alloc::<u32>(values.len()).unwrap();
            queue.copy(&mut y, &x).unwrap();
            assert!(y.read(&queue).unwrap() == values);
            regions(&device, &queue);
            regions_of_bytes(&device, &queue);
        }
    }
}

fn regions(device: &Device, queue: &Queue) {
    let (rows, columns) = (200, 300);
    let values: Vec<u32> = (0..rows * columns).collect();
    let mut x = device.alloc_zeroed_nd::<u32, 2>([rows as usize, columns as usize]).unwrap();
    queue.copy_from_host(&mut x, &values).unwrap();
    // Copy a region to the host.
    let mut part = vec![0; 150 * 100];
    queue.copy_to_host(&mut part, x.region([20, 30], [170, 130]).unwrap()).unwrap();
    let expected: Vec<u32> = (20..170).flat_map(|i| (30..130).map(move |j| i * columns + j)).collect();
    assert!(part == expected);
    // Copy from the host to a region at another place.
    let mut y = device.alloc_zeroed_nd::<u32, 2>([rows as usize, columns as usize]).unwrap();
    queue.copy_from_host(y.region_mut([0, 100], [150, 200]).unwrap(), &part).unwrap();
    // Copy a region to a region with other runs.
    let mut z = device.alloc_zeroed_nd::<u32, 2>([150, 100]).unwrap();
    queue.copy(&mut z, y.region([0, 100], [150, 200]).unwrap()).unwrap();
    assert!(z.read(queue).unwrap() == expected);
    let all = y.read(queue).unwrap();
    let at = |i: u32, j: u32| all[(i * columns + j) as usize];
    assert_eq!((at(0, 99), at(0, 100), at(149, 199), at(150, 100)), (0, expected[0], expected[14_999], 0));
    // Copy between regions of one buffer.
    queue.copy(x.region_mut([0, 0], [1, 300]).unwrap(), z.region([0, 0], [3, 100]).unwrap()).unwrap_err();
}

fn regions_of_bytes(device: &Device, queue: &Queue) {
    let values: Vec<u8> = (0..77 * 33).map(|i| (i * 7) as u8).collect();
    let mut x = device.alloc_zeroed_nd::<u8, 3>([7, 11, 33]).unwrap();
    queue.copy_from_host(&mut x, &values).unwrap();
    let mut y = device.alloc_zeroed_nd::<u8, 3>([3, 5, 13]).unwrap();
    queue.copy(&mut y, x.region([1, 2, 3], [4, 7, 16]).unwrap()).unwrap();
    let expected: Vec<u8> = (1..4)
        .flat_map(|i| (2..7).flat_map(move |j| (3..16).map(move |k| ((i * 11 + j) * 33 + k) as usize)))
        .map(|at| values[at])
        .collect();
    assert_eq!(y.read(queue).unwrap(), expected);
}

#[test]
fn copies_and_fills() {
    all_copies();
    all_fills();
    no_messages();
}

/// Copies and fills work as on a GPU with memory of its own.
#[test]
fn copies_and_fills_through_a_staging_buffer() {
    match in_a_child("copies_and_fills_through_a_staging_buffer", &[("WATTLE_VULKAN_STAGED", "1")]) {
        Some(output) => passed(&output),
        None => {
            all_copies();
            all_fills();
            for device in devices() {
                between_devices(&device);
            }
            no_messages();
        }
    }
}

/// Copies to and from buffers of another device.
fn between_devices(device: &Device) {
    let queue = device.queue().unwrap();
    let others = devices().into_iter().chain([Device::host()]);
    for other in others.filter(|other| other != device) {
        let values: Vec<u32> = (0..600).collect();
        let mut there = other.alloc_nd::<u32, 2>([20, 30]).unwrap();
        other.queue().unwrap().copy_from_host(&mut there, &values).unwrap();
        let mut here = device.alloc_zeroed_nd::<u32, 2>([10, 10]).unwrap();
        queue.copy(&mut here, there.region([5, 5], [15, 15]).unwrap()).unwrap();
        queue.copy(there.region_mut([10, 20], [20, 30]).unwrap(), &here).unwrap();
        let (here, there) = (here.read(&queue).unwrap(), there.read(&other.queue().unwrap()).unwrap());
        let expected: Vec<u32> = (5..15).flat_map(|i| (5..15).map(move |j| i * 30 + j)).collect();
        assert_eq!(here, expected, "{} from {}", device.name(), other.name());
        let back: Vec<u32> = (10..20).flat_map(|i| (20..30).map(move |j| i * 30 + j)).map(|at| there[at]).collect();
        assert_eq!(back, expected, "{} to {}", device.name(), other.name());
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
