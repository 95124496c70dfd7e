//! Copies, fills and mapping, which each driver does in its own way.

use wattle::prelude::*;

#[kernel]
pub fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
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
    queue.fill(&mut x, 9).unwrap();
    queue.wait().unwrap();
    assert!(x.map().unwrap().iter().all(|&x| x == 9));
}

/// Memory that the host reaches is mapped, and the device's own is not.
pub fn mapping(device: &Device) {
    for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
        match device.alloc_unified(1000) {
            Ok(x) => shared_with_the_host(&queue, x),
            Err(error) => eprintln!("not possible: {error}"),
        }
        shared_with_the_host(&queue, device.alloc_host_mapped(1000).unwrap());
    }
    let refused = device.alloc::<u32>(10).unwrap();
    assert!(refused.map().is_err(), "the device's own memory is not mapped");
}

/// Fills of whole buffers, of parts, and of regions; with 8-byte elements of equal and of different halves.
fn fills_of<T: wattle_ir::Element + PartialEq + std::fmt::Debug>(device: &Device, zero: T, values: [T; 3]) {
    for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
        for value in values {
            let mut x = device.alloc_zeroed_nd::<T, 2>([7, 9]).unwrap();
            let mut expected = vec![zero; 63];
            queue.fill(x.region_mut([1, 2], [6, 8]).unwrap(), value).unwrap();
            (1..6).for_each(|i| expected[i * 9 + 2..i * 9 + 8].fill(value));
            assert_eq!(x.read(&queue).unwrap(), expected, "{}", device.name());
            queue.fill(&mut x, value).unwrap();
            assert_eq!(x.read(&queue).unwrap(), vec![value; 63]);
            let mut x = device.alloc_zeroed_nd::<T, 3>([4, 5, 6]).unwrap();
            queue.fill(x.region_mut([1, 1, 2], [3, 4, 5]).unwrap(), value).unwrap();
            let mut expected = vec![zero; 120];
            (1..3).for_each(|i| (1..4).for_each(|j| expected[i * 30 + j * 6 + 2..i * 30 + j * 6 + 5].fill(value)));
            assert_eq!(x.read(&queue).unwrap(), expected);
        }
        // A part that does not begin at a word, and one that is longer than a piece of a copy.
        for (len, part) in [(21, 3..18), (3_000_001, 5..2_999_999)] {
            let mut x = device.alloc_zeroed::<T>(len).unwrap();
            queue.fill(x.slice_mut(part.clone()).unwrap(), values[0]).unwrap();
            let mut expected = vec![zero; len];
            expected[part].fill(values[0]);
            assert!(x.read(&queue).unwrap() == expected);
        }
    }
}

/// Fills work on bytes, so they do not need types that the device supports.
pub fn fills(device: &Device) {
    fills_of::<u8>(device, 0, [7, 255, 1]);
    fills_of::<i16>(device, 0, [-3, 0x0102, 0x0101]);
    fills_of::<u32>(device, 0, [0xdead_beef, 0x0102_0102, 0]);
    fills_of::<f32>(device, 0.0, [1.5, -0.25, -0.0]);
    fills_of::<u64>(device, 0, [0x0123_4567_89ab_cdef, 0x0123_4567_0123_4567, 0x0505_0505_0505_0505]);
    fills_of::<f64>(device, 0.0, [1.0 / 3.0, 2.5, -0.0]);
}

/// Copies between host and device, whole and in regions, and between buffers.
pub fn copies(device: &Device) {
    for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
        // Several pieces of a copy, and not a multiple of anything.
        let values: Vec<u32> = (0..3_500_001).collect();
        let mut x = device.alloc::<u32>(values.len()).unwrap();
        queue.copy_from_host(&mut x, &values).unwrap();
        let mut y = device.alloc::<u32>(values.len()).unwrap();
        queue.copy(&mut y, &x).unwrap();
        assert!(y.read(&queue).unwrap() == values);
        regions(device, &queue);
        regions_of_bytes(device, &queue);
        long_rows(device, &queue);
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
    // Regions of as many elements, but of another shape.
    queue.copy(x.region_mut([0, 0], [1, 300]).unwrap(), z.region([0, 0], [3, 100]).unwrap()).unwrap_err();
}

fn regions_of_bytes(device: &Device, queue: &Queue) {
    let values: Vec<u8> = (0..2 * 7 * 11 * 33).map(|i| (i * 7) as u8).collect();
    let mut x = device.alloc_zeroed_nd::<u8, 4>([2, 7, 11, 33]).unwrap();
    queue.copy_from_host(&mut x, &values).unwrap();
    let mut y = device.alloc_zeroed_nd::<u8, 4>([2, 3, 5, 13]).unwrap();
    queue.copy(&mut y, x.region([0, 1, 2, 3], [2, 4, 7, 16]).unwrap()).unwrap();
    let at = |h: usize, i: usize, j: usize, k: usize| values[((h * 7 + i) * 11 + j) * 33 + k];
    let rows = (0..2).flat_map(|h| (1..4).flat_map(move |i| (2..7).map(move |j| (h, i, j))));
    let expected: Vec<u8> = rows.flat_map(|(h, i, j)| (3..16).map(move |k| at(h, i, j, k))).collect();
    assert_eq!(y.read(queue).unwrap(), expected);
    let mut read = vec![0; expected.len()];
    queue.copy_to_host(&mut read, x.region([0, 1, 2, 3], [2, 4, 7, 16]).unwrap()).unwrap();
    assert_eq!(read, expected);
}

/// Rows, and slices, that are longer than a piece of a copy.
fn long_rows(device: &Device, queue: &Queue) {
    let values: Vec<u32> = (0..2 * 3 * 1_200_000).collect();
    let mut x = device.alloc_nd::<u32, 3>([2, 3, 1_200_000]).unwrap();
    queue.copy_from_host(&mut x, &values).unwrap();
    let mut read = vec![0; 2 * 2 * 1_100_000];
    queue.copy_to_host(&mut read, x.region([0, 1, 5], [2, 3, 1_100_005]).unwrap()).unwrap();
    let row = |i: u32, j: u32| (i * 3 + j) * 1_200_000 + 5..(i * 3 + j) * 1_200_000 + 1_100_005;
    let expected: Vec<u32> = [(0, 1), (0, 2), (1, 1), (1, 2)].into_iter().flat_map(|(i, j)| row(i, j)).collect();
    assert!(read == expected);
}

/// Copies to and from buffers of other devices.
pub fn between(device: &Device, others: &[Device]) {
    let queue = device.queue().unwrap();
    for other in others {
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
        let x = other.from_slice(&(0..1000u32).collect::<Vec<_>>()).unwrap();
        let mut y = device.alloc_zeroed_nd::<u32, 1>(2000).unwrap();
        queue.copy(y.slice_mut(100..1100).unwrap(), &x).unwrap();
        let mut back = other.alloc::<u32>(500).unwrap();
        queue.copy(&mut back, y.slice(300..800).unwrap()).unwrap();
        assert_eq!(back.read(&other.queue().unwrap()).unwrap(), (200..700).collect::<Vec<_>>(), "{}", other.name());
    }
}
