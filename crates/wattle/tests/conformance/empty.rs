//! Nothing is no error: buffers without an element, parts of them, launches without a block.

use wattle::ErrorKind;
use wattle::prelude::*;

use crate::harness::{Case, Outcome, kind, refused, says};
use crate::kernels::{counts, owns, owns_box, reads_and_owns};

pub const CASES: &[Case] = &[
    ("a buffer without an element", buffers),
    ("a part without an element", parts),
    ("a launch without a block", launches),
    ("a launch over views without an element", views),
    ("a frame or block without a thread", shares),
];

fn buffers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.alloc::<u32>(0)?;
    let y = device.from_slice::<u32>(&[])?;
    let plane = device.alloc_zeroed_nd::<f32, 2>([3, 0])?;
    assert_eq!((x.len(), x.is_empty(), plane.len(), plane.extent().get()), (0, true, 0, [3, 0]));
    queue.copy(&mut x, &y)?;
    queue.fill(&mut x, 7)?;
    x.write(&queue, &[])?;
    assert_eq!(x.read(&queue)?, []);
    assert_eq!(plane.read(&queue)?, []);
    for mut mapped in [device.alloc_unified::<u32, 1>(0)?, device.alloc_host_mapped::<u32, 1>(0)?] {
        match mapped.map_mut() {
            Ok(elements) => assert!(elements.is_empty()),
            Err(error) => kind!(error, ErrorKind::Capability { .. }),
        };
        match mapped.map() {
            Ok(elements) => assert!(elements.is_empty()),
            Err(error) => kind!(error, ErrorKind::Capability { .. }),
        };
    }
    // Another length is an error still.
    kind!(refused(x.write(&queue, &[1])), ErrorKind::CopyShape { .. });
    Ok(())
}

fn parts(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.from_slice(&[1u32, 2, 3])?;
    let none = device.from_slice::<u32>(&[])?;
    queue.fill(x.slice_mut(1..1)?, 9)?;
    queue.copy(x.slice_mut(3..3)?, &none)?;
    queue.launch(FrameSpec::new(2, 1), owns(x.slice_mut(2..2)?))?;
    // It overlaps with nothing: not with the part of the same launch around it.
    queue.launch(FrameSpec::new(2, 1), reads_and_owns(x.slice(1..1)?, x.slice_mut(1..1)?))?;
    assert_eq!(x.read(&queue)?, [1, 2, 3]);
    let backwards = std::ops::Range { start: 2, end: 1 };
    kind!(refused(x.slice(backwards).map(drop)), ErrorKind::ViewRange { .. });
    kind!(refused(x.slice(4..4).map(drop)), ErrorKind::ViewRange { .. });
    // Behind the last element of each row and column there is no memory to begin at.
    for extent in [[4usize, 1000], [0, 1000]] {
        let mut plane = device.alloc_zeroed_nd::<u32, 2>(extent)?;
        let kernel = owns_box(plane.region_mut(extent, extent)?);
        let begins = <dyn wattle::Kernel>::view(&kernel, wattle::ir::ParamId(0)).map(|view| view.offset());
        assert_eq!(begins?, 0);
        queue.launch(FrameSpec::new([1, 1], [1, 1]), kernel)?;
        assert_eq!(plane.region([0, extent[1]], extent)?.read(&queue)?, []);
        queue.wait()?;
    }
    Ok(())
}

fn launches(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.alloc_zeroed::<u32>(4)?;
    queue.launch(FrameSpec::new(0, 4), owns(&mut x))?;
    queue.launch(FrameSpec::cover(0, 64), owns(&mut x))?;
    // `cover(n, n.min(64))` of nothing has frames of nothing; frames of nothing that are to cover something are none.
    queue.launch(FrameSpec::cover(0, 0), owns(&mut x))?;
    kind!(refused(queue.launch(FrameSpec::cover(4, 0), owns(&mut x))), ErrorKind::Extent { .. });
    queue.launch(ThreadSpec::new(0, 1), owns(&mut x))?;
    queue.launch(ThreadSpec::new(0u32, 1024u32), counts(&x))?;
    queue.prepare(FrameSpec::new(0, 4), &counts(&x))?;
    queue.launch_with(LaunchOptions::new().cooperative(), ThreadSpec::new(0, 1), counts(&x))?;
    let mut plane = device.alloc_zeroed_nd::<u32, 2>([2, 2])?;
    queue.launch(FrameSpec::new([3, 0], [1, 1]), owns_box(&mut plane))?;
    queue.launch(ThreadSpec::new([0, u32::MAX], [1, 1]), owns_box(&mut plane))?;
    assert_eq!((x.read(&queue)?, plane.read(&queue)?), (vec![0; 4], vec![0; 4]));
    let error = refused(queue.launch_with_host(LaunchOptions::new(), ThreadSpec::new(0, 1), counts(&x), counts(&x)));
    kind!(error, ErrorKind::Extent { .. } | ErrorKind::Capability { .. });
    queue.launch(FrameSpec::new(2, 2), owns(&mut x))?;
    assert_eq!(x.read(&queue)?, [1; 4]);
    Ok(())
}

#[kernel]
fn lengths(acc: &Acc, x: Read<u32>, y: Read<u32, 3>, z: PerItem<u32, 2>, out: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..x.len()) {
        out[0] += x[i];
    }
    for at in acc.indices(LINEAR_THREADS_IN_GRID, [0, 0, 0]..y.extent()) {
        out[0] += y[at];
    }
    for (_, z) in acc.items(&mut z) {
        *z = 1;
        out[0] += 1;
    }
    if acc.thread_in_grid() == 0 {
        let [a, b, c] = y.extent();
        out[1] = x.len() * 1000 + a * 100 + b * 10 + c;
        out[2] = if x.is_empty() && y.is_empty() { 1 } else { 0 };
    }
}

fn views(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.alloc::<u32>(0)?;
    let y = device.alloc_nd::<u32, 3>([2, 0, 3])?;
    let mut z = device.alloc_nd::<u32, 2>([0, 5])?;
    let out = device.alloc_zeroed::<u32>(3)?;
    queue.launch(FrameSpec::new(4, 1), lengths(&x, &y, &mut z, &out))?;
    assert_eq!(out.read(&queue)?, [0, 203, 1]);
    // There is no element 0.
    let error = refused(queue.launch(ThreadSpec::new(1, 1), counts(&x)));
    says(&error, &["x", "0", "extent 0"]);
    Ok(())
}

fn shares(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.alloc_zeroed::<u32>(4)?;
    let check = |result: wattle::Result<()>, what: &str| {
        let error = refused(result);
        kind!(error, ErrorKind::Extent { .. });
        says(&error, &[what, "zero", "at least 1"]);
    };
    check(queue.launch(FrameSpec::new(4, 0), owns(&mut x)), "a frame extent of [0]");
    check(queue.launch(FrameSpec::cover(4, 0), owns(&mut x)), "a frame extent of [0]");
    check(queue.launch(ThreadSpec::new(1, 0), owns(&mut x)), "threads of [0]");
    kind!(refused(queue.launch(FrameSpec::new(-1, 1), owns(&mut x))), ErrorKind::Extent { .. });
    // Extents are `usize` or `u32`.
    queue.launch(FrameSpec::cover(x.len(), 2u32), owns(&mut x))?;
    queue.launch(FrameSpec::cover(4u32, 2usize), owns(&mut x))?;
    assert_eq!(x.read(&queue)?, [2; 4]);
    Ok(())
}
