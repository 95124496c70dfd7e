//! Mistakes are reported with their place, and do no harm.

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind, FaultKind};

use crate::harness::{Case, Outcome, has_driver, kind, not_possible, refused, refused_unless_lacking, says};
use crate::kernels::{affine, owns, reads};

pub const CASES: &[Case] = &[
    ("an index out of bounds, in 1 dimension", beyond_line),
    ("an index out of bounds, in several dimensions", beyond_plane),
    ("lanes out of bounds", beyond_lanes),
    ("an index out of an array's and of shared memory's bounds", beyond_arrays),
    ("the first fault of a launch is told", first_fault),
    ("extents that overflow", overflow),
    ("a range of 2^32 indices", range_of_too_many),
    ("more memory than there is", memory),
    ("copies of another size", copy_sizes),
    ("slices out of range", ranges),
    ("an assertion that fails", assertions),
    ("a division by zero", division),
    ("a device of an unknown name", unknown_device),
    ("too much shared memory", shared_memory),
    ("shared memory whose length no launch gives", no_shared_len),
    ("as much shared memory as there is", all_shared_memory),
    ("a barrier of the grid in a launch that is not cooperative", grid_barrier),
];

/// After an error everything goes on.
pub fn still_works(queue: &Queue) -> Outcome {
    queue.wait()?;
    let device = queue.device();
    let mut x = device.from_slice(&[1u32, 2, 3])?;
    queue.launch(FrameSpec::cover(3, 2), affine(&mut x, 2, 1))?;
    assert_eq!(x.read(queue)?, [3, 5, 7]);
    Ok(())
}

fn here(line: u32) -> String {
    format!("bad_input.rs:{line}")
}

/// The error is a fault of this kernel at this line.
#[track_caller]
fn fault<'e>(error: &'e Error, kernel: &str, line: u32) -> &'e FaultKind {
    let ErrorKind::Fault(fault) = error.kind() else { panic!("not a fault: {error}") };
    assert_eq!((fault.kernel.as_str(), fault.site.line), (kernel, line), "{error}");
    says(error, &[&format!("kernel `{kernel}`"), &here(line), "thread", "block"]);
    &fault.what
}

#[track_caller]
fn out_of_bounds(error: &Error, kernel: &str, line: u32, names: [&str; 3]) {
    match fault(error, kernel, line) {
        FaultKind::OutOfBounds { view, index, extent } => assert_eq!([view.as_str(), index, extent], names),
        other => panic!("another fault: {other}"),
    }
}

const LINE: u32 = line!();
#[kernel]
fn loads(acc: &Acc, x: Read<u32>, out: Shared<u32>, i: u32) {
    out[0] = x[i] + 1;
    out[1] = 7;
}
#[kernel]
fn stores(acc: &Acc, x: Shared<u32>, i: u32) {
    x[0] = 8;
    x[i] = 5;
    x[1] = 9;
}
#[kernel]
fn updates(acc: &Acc, x: Atomic<u32>, i: u32, out: Shared<u32>) {
    out[0] = x.fetch_add(i, 5);
    out[1] = x.exchange(i, 5) + x.compare_exchange(i, 0, 5) + x.load(i);
    x.store(i, 5);
    x.fetch_max(0, 8);
    x.fetch_max(1, 9);
}

fn beyond_line(device: &Device) -> Outcome {
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let one = ThreadSpec::new(1, 1);
        // A view in the midst of a buffer, with guards around it.
        for i in [4, 5, 8, u32::MAX] {
            let index = i.to_string();
            let mut x = device.alloc::<u32>(12)?;
            queue.fill(&mut x, 0xaaaa)?;
            let view = x.slice(4..8)?;
            let out = device.from_slice(&[0u32, 0])?;
            let launched = queue.launch(one, loads(&view, &out, i)).and_then(|()| queue.wait());
            out_of_bounds(&refused(launched), "loads", LINE + 3, ["x", &index, "4"]);
            assert_eq!(out.read(&queue)?, [1, 7], "it goes on with 0");

            let launched = queue.launch(one, stores(&view, i)).and_then(|()| queue.wait());
            out_of_bounds(&refused(launched), "stores", LINE + 9, ["x", &index, "4"]);
            let a = 0xaaaa;
            assert_eq!(x.read(&queue)?, [a, a, a, a, 8, 9, a, a, a, a, a, a], "nothing else is written");

            queue.fill(&mut x, 0)?;
            let launched = queue.launch(one, updates(&view, i, &out)).and_then(|()| queue.wait());
            out_of_bounds(&refused(launched), "updates", LINE + 14, ["x", &index, "4"]);
            assert_eq!(out.read(&queue)?, [0, 0]);
            assert_eq!(x.read(&queue)?, [0, 0, 0, 0, 8, 9, 0, 0, 0, 0, 0, 0]);
            still_works(&queue)?;
        }
    }
    Ok(())
}

const PLANE: u32 = line!();
#[kernel]
fn stores_in_plane(acc: &Acc, x: Shared<u32, 2>, i: u32, j: u32) {
    x[[0, 0]] = 8;
    x[[i, j]] = 5;
    x[[1, 2]] = 9;
}
#[kernel]
fn loads_in_space(acc: &Acc, x: Read<u32, 3>, out: Shared<u32>, i: u32, j: u32, k: u32) {
    out[0] = x[[i, j, k]] + 1;
}
#[kernel]
fn updates_in_space(acc: &Acc, x: Atomic<u32, 4>, i: u32) {
    x.fetch_add([0, i, 0, 0], 1);
    x.fetch_add([0, 0, 0, 0], 1);
}

fn beyond_plane(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let one = ThreadSpec::new(1, 1);
    for (i, j) in [(2, 0), (0, 3), (1, 4), (u32::MAX, 0), (0, u32::MAX), (2, 3)] {
        let mut x = device.alloc_zeroed_nd::<u32, 2>([4, 5])?;
        let view = x.region([1, 1], [3, 4])?;
        let error = refused(queue.launch(one, stores_in_plane(&view, i, j)));
        out_of_bounds(&error, "stores_in_plane", PLANE + 4, ["x", &format!("[{i}, {j}]"), "[2, 3]"]);
        let mut expected = [0; 20];
        (expected[6], expected[13]) = (8, 9);
        assert_eq!(x.read(&queue)?, expected);
        queue.fill(&mut x, 1)?;
    }
    let space = device.alloc_zeroed_nd::<u32, 3>([2, 3, 4])?;
    let out = device.from_slice(&[0u32])?;
    let error = refused(queue.launch(one, loads_in_space(&space, &out, 1, 1, 4)));
    out_of_bounds(&error, "loads_in_space", PLANE + 9, ["x", "[1, 1, 4]", "[2, 3, 4]"]);
    assert_eq!(out.read(&queue)?, [1]);
    let hyper = device.alloc_zeroed_nd::<u32, 4>([1, 2, 1, 2])?;
    let error = refused(queue.launch(one, updates_in_space(&hyper, 2)));
    out_of_bounds(&error, "updates_in_space", PLANE + 13, ["x", "[0, 2, 0, 0]", "[1, 2, 1, 2]"]);
    assert_eq!(hyper.read(&queue)?, [1, 0, 0, 0]);
    still_works(&queue)
}

const LANES: u32 = line!();
#[kernel]
fn takes_four(acc: &Acc, x: Read<u16>, out: Shared<u16>, i: u32) {
    let four = x.lanes::<4>(i);
    out[0] = four[0] + four[3] + 1;
}

fn beyond_lanes(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let one = ThreadSpec::new(1, 1);
    let x = device.from_slice(&[10u16, 11, 12, 13, 14, 15, 16, 17])?;
    let (view, out) = (x.slice(0..6)?, device.from_slice(&[0u16])?);
    queue.launch(one, takes_four(&view, &out, 2))?;
    assert_eq!(out.read(&queue)?, [12 + 15 + 1]);
    for (i, named) in [(3, "6"), (6, "9"), (u32::MAX, "4294967295"), (u32::MAX - 3, "4294967295")] {
        let error = refused(queue.launch(one, takes_four(&view, &out, i)));
        out_of_bounds(&error, "takes_four", LANES + 3, ["x", named, "6"]);
        assert_eq!(out.read(&queue)?, [1]);
    }
    still_works(&queue)
}

const ARRAYS: u32 = line!();
#[kernel]
fn indexes_array(acc: &Acc, out: Shared<u32>, i: u32) {
    let mut values = [1, 2, 3];
    values[i] = 9;
    out[0] = values[0] + values[1] + values[2];
}
#[kernel]
fn indexes_shared(acc: &Acc, out: Shared<u32>, i: u32) {
    let tile = acc.shared::<u32, 4>();
    let words = acc.shared_atomic::<u32, 4>();
    words.store(0, 1);
    tile[0] = 1;
    tile[i] = 9;
    words.store(i, 9);
    out[0] = tile[0] + words.load(0);
}

fn beyond_arrays(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let one = ThreadSpec::new(1, 1);
    let out = device.from_slice(&[0u32])?;
    for i in [3, u32::MAX] {
        let error = refused(queue.launch(one, indexes_array(&out, i)));
        fault(&error, "indexes_array", ARRAYS + 4);
        says(&error, &["extent 3", &i.to_string()]);
        assert_eq!(out.read(&queue)?, [6]);
    }
    for i in [4, u32::MAX] {
        let error = refused(queue.launch(one, indexes_shared(&out, i)));
        out_of_bounds(&error, "indexes_shared", ARRAYS + 13, ["tile", &i.to_string(), "4"]);
        assert_eq!(out.read(&queue)?, [2]);
    }
    still_works(&queue)
}

const FIRST: u32 = line!();
#[kernel]
fn one_block_is_wrong(acc: &Acc<2>, x: Shared<u32>) {
    if acc.linear_block_in_grid() == 4 {
        x[7] = 1;
        x[9] = 1;
    }
    x[acc.linear_block_in_grid()] = 1;
}
#[kernel]
fn wrong_thrice<const FIRST: u32>(acc: &Acc, x: Shared<u32>, zero: u32) {
    if FIRST < 1 {
        x[8] = 1;
    }
    if FIRST < 2 {
        x[0] = 1 / zero;
    }
    assert!(zero != 0, "zero is not wanted");
    x[9] = 1;
}

fn first_fault(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.alloc_zeroed::<u32>(6)?;
    let error = refused(queue.launch(ThreadSpec::new([2, 3], [1, 1]), one_block_is_wrong(&x)));
    out_of_bounds(&error, "one_block_is_wrong", FIRST + 4, ["x", "7", "6"]);
    says(&error, &["block [1, 1]", "thread [0, 0]"]);
    assert_eq!(x.read(&queue)?, [1; 6], "the other blocks and the rest of this one ran");
    // Of one thread the first, of whatever kind.
    let one = ThreadSpec::new(1, 1);
    out_of_bounds(&refused(queue.launch(one, wrong_thrice::<0>(&x, 0))), "wrong_thrice", FIRST + 12, ["x", "8", "6"]);
    let error = refused(queue.launch(one, wrong_thrice::<1>(&x, 0)));
    assert_eq!(*fault(&error, "wrong_thrice", FIRST + 15), FaultKind::DivisionByZero);
    says(&refused(queue.launch(one, wrong_thrice::<2>(&x, 0))), &["zero is not wanted"]);
    still_works(&queue)
}

fn overflow(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.alloc_zeroed::<u32>(4)?;
    let check = |result: wattle::Result<()>, texts: &[&str]| {
        let error = refused(result);
        kind!(error, ErrorKind::Extent { .. });
        says(&error, texts);
    };
    let memory = &["2^63", "allocate less"];
    check(device.alloc::<u8>(usize::MAX).map(drop), memory);
    check(device.alloc::<u64>(1 << 60).map(drop), memory);
    check(device.alloc_nd::<u8, 2>([1usize << 32, 1 << 32]).map(drop), memory);
    check(device.alloc_nd::<u8, 3>([0, 1usize << 32, 1 << 32]).map(drop), memory);
    check(device.alloc_zeroed_nd::<u8, 4>([usize::MAX, usize::MAX, usize::MAX, 2]).map(drop), memory);
    let count = &["2^32 or more", "4294967295 at the most", "split the work"];
    check(queue.launch(FrameSpec::new(1usize << 32, 1), owns(&mut x)), count);
    check(queue.launch(ThreadSpec::new(1, 1usize << 32), owns(&mut x)), count);
    check(queue.launch(ThreadSpec::new(usize::MAX, usize::MAX), owns(&mut x)), count);
    let check = |result: wattle::Result<()>| {
        let error = refused(result);
        kind!(error, ErrorKind::LongLaunch { .. });
        says(&error, &["2^32 threads or more", "#[kernel(wide)]", "split the work"]);
    };
    check(queue.launch(FrameSpec::new(1 << 20, 1 << 12), owns(&mut x)));
    check(queue.launch(ThreadSpec::new(1 << 16, 1 << 16), owns(&mut x)));
    assert_eq!(x.read(&queue)?, [0; 4]);
    still_works(&queue)
}

const RANGE: u32 = line!() + 3;
#[kernel]
fn numbered(acc: &Acc, extent: [u32; 3], x: Shared<u32>) {
    for [i, j, k] in acc.indices(LINEAR_THREADS_IN_GRID, extent) {
        x[i + j + k] = 1;
    }
}

fn range_of_too_many(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.alloc_zeroed::<u32>(1)?;
    let launch = |extent| {
        queue.launch(ThreadSpec::new(1, 1), numbered(extent, &x))?;
        queue.wait()
    };
    for extent in [[1 << 16, 1 << 16, 1], [1, u32::MAX, 1 << 31]] {
        let error = refused(launch(extent));
        let FaultKind::Assertion(text) = fault(&error, "numbered", RANGE) else { panic!("another fault: {error}") };
        assert!(text.contains("2^32 indices or more") && text.contains("share out its slower dimensions"), "{text}");
    }
    launch([1 << 16, 1 << 16, 0])?;
    launch([1, 1, 1])?;
    assert_eq!(x.read(&queue)?, [1]);
    still_works(&queue)
}

fn memory(device: &Device) -> Outcome {
    // What a buffer can have at the most.
    const MOST: usize = u32::MAX as usize;
    let has = device.properties().memory;
    if has > 8 * MOST as u64 {
        return not_possible(format!("its {has} bytes are more than a buffer can have"));
    }
    let error = refused(device.alloc::<f64>(MOST));
    kind!(error, ErrorKind::OutOfMemory { .. });
    says(&error, &[device.name(), &(8 * MOST).to_string(), "allocate less", "free buffers"]);
    refused(device.alloc_zeroed_nd::<u64, 2>([MOST / 2, 2]));
    refused(device.alloc_unified::<u64, 1>(MOST));
    still_works(&device.queue()?)
}

fn copy_sizes(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.alloc_zeroed::<u32>(4)?;
    let y = device.from_slice(&[1u32; 5])?;
    let check = |result: wattle::Result<()>, source: &str, destination: &str, line: u32| {
        let error = refused(result);
        kind!(error, ErrorKind::CopyShape { .. });
        let extents = [format!("source has extent {source} "), format!("destination {destination};")];
        says(&error, &[&extents[0], &extents[1], &here(line), "subviews"]);
    };
    check(queue.copy(&mut x, &y), "5", "4", line!());
    check(queue.copy_from_host(&mut x, &[1; 3]), "3", "4", line!());
    check(queue.copy_from_host(x.slice_mut(1..3)?, &[]), "0", "2", line!());
    check(queue.copy_to_host(&mut [0; 5], &x), "4", "5", line!());
    check(x.write(&queue, &[1; 5]), "5", "4", line!());
    let (mut wide, tall) = (device.alloc_nd::<u32, 2>([2, 3])?, device.alloc_nd::<u32, 2>([3, 2])?);
    check(queue.copy(&mut wide, &tall), "[3, 2]", "[2, 3]", line!());
    assert_eq!(x.read(&queue)?, [0; 4]);
    still_works(&queue)
}

#[expect(clippy::reversed_empty_ranges, reason = "that is what is wrong with it")]
fn ranges(device: &Device) -> Outcome {
    let mut x = device.alloc_zeroed::<u32>(4)?;
    for (range, text) in [
        (0..5, "0..5"),
        (4..5, "4..5"),
        (5..5, "5..5"),
        (3..1, "3..1"),
        (0..usize::MAX, "0..18446744073709551615"),
        (0..(1 << 32) + 1, "0..4294967297"),
        (1 << 32..(1 << 32) + 1, "4294967296..4294967297"),
    ] {
        for error in [refused(x.slice(range.clone())), refused(x.slice_mut(range))] {
            kind!(error, ErrorKind::ViewRange { .. });
            says(&error, &[text, "extent 4", "bad_input.rs"]);
        }
    }
    let mut y = device.alloc_zeroed_nd::<u32, 2>([4, 5])?;
    for (begin, end) in [
        ([0, 0], [5, 5]),
        ([0, 0], [4, 6]),
        ([2, 1], [1, 2]),
        ([2, 2], [3, 1]),
        ([0, 1usize << 32], [1, (1usize << 32) + 1]),
    ] {
        says(&refused(y.region(begin, end)), &[&format!("{begin:?}..{end:?}"), "extent [4, 5]"]);
        refused(y.region_mut(begin, end));
    }
    still_works(&device.queue()?)
}

const ASSERTIONS: u32 = line!();
#[kernel]
fn asserts(acc: &Acc, x: Shared<u32>) {
    assert!(acc.block_in_grid() != 2, "block 2 is not wanted");
    x[acc.block_in_grid()] = 1;
}
#[kernel]
fn asserts_plainly(acc: &Acc, x: Read<u32>) {
    assert!(x[0] == 1);
}

fn assertions(device: &Device) -> Outcome {
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let x = device.alloc_zeroed::<u32>(4)?;
        let launched = queue.launch(ThreadSpec::new(4, 1), asserts(&x)).and_then(|()| queue.wait());
        let error = refused(launched);
        let FaultKind::Assertion(message) = fault(&error, "asserts", ASSERTIONS + 3) else { panic!("{error}") };
        assert_eq!(message, "block 2 is not wanted");
        says(&error, &["block 2", "thread 0", "assertion failed"]);
        assert_eq!(x.read(&queue)?, [1; 4], "the thread goes on, so that no barrier is missed");
        let launched = queue.launch(ThreadSpec::new(1, 1), asserts_plainly(&x)).and_then(|()| queue.wait());
        launched?;
        queue.fill(&mut device.alloc::<u32>(1)?, 0)?;
        let zeros = device.alloc_zeroed::<u32>(1)?;
        let launched = queue.launch(ThreadSpec::new(1, 1), asserts_plainly(&zeros)).and_then(|()| queue.wait());
        let error = refused(launched);
        fault(&error, "asserts_plainly", ASSERTIONS + 8);
        says(&error, &["x[0] == 1"]);
        still_works(&queue)?;
    }
    Ok(())
}

const DIVISIONS: u32 = line!();
#[kernel]
fn divides<T: Int>(acc: &Acc, x: Shared<T>, y: T) {
    x[0] = x[0] / y;
    x[1] = x[1] % y;
}

fn division(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let one = ThreadSpec::new(1, 1);
    let x = device.from_slice(&[5u32, 5])?;
    let error = refused(queue.launch(one, divides(&x, 0)));
    assert_eq!(*fault(&error, "divides", DIVISIONS + 3), FaultKind::DivisionByZero);
    says(&error, &["division by zero"]);
    assert_eq!(x.read(&queue)?, [0, 0]);
    // This one overflows in Rust; here it wraps.
    let x = device.from_slice(&[i64::MIN, i64::MIN])?;
    queue.launch(one, divides(&x, -1))?;
    assert_eq!(x.read(&queue)?, [i64::MIN, 0]);
    still_works(&queue)
}

fn unknown_device(device: &Device) -> Outcome {
    for name in ["gpu", "", ":", "host:7", "simulated:x", "cuda:99", "vulkan:99", "Host", "host "] {
        let error = refused(Device::select(name));
        kind!(error, ErrorKind::UnknownDevice { .. });
        says(&error, &[&format!("there is no device `{name}`"), device.name(), &device.properties().description]);
        for missing in Device::survey().1 {
            says(&error, &[missing.name, &format!("not here: {}", missing.reason)]);
        }
    }
    let same = Device::select(device.name())?;
    assert_eq!((same.name(), same.properties().kind), (device.name(), device.properties().kind));
    Ok(())
}

#[kernel]
fn takes_all(acc: &Acc, out: Shared<u32>) {
    let tile = acc.shared_at_launch::<u8>();
    tile[tile.len() - 1] = 3;
    out[0] = tile[tile.len() - 1] as u32 + tile.len();
}

#[kernel]
fn takes_much(acc: &Acc, out: Shared<u32>) {
    let tile = acc.shared::<u64, 3_000_000>();
    tile[0] = 3;
    out[0] = 4;
}

fn shared_memory(device: &Device) -> Outcome {
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let out = device.alloc_zeroed::<u32>(1)?;
        let most = device.properties().max_shared_memory as u32;
        for len in [most + 1, u32::MAX] {
            let options = LaunchOptions::new().shared_len(len);
            let launched = queue.launch_with(options, ThreadSpec::new(1, 1), takes_all(&out));
            let error = refused(launched.and_then(|()| queue.wait()));
            says(&error, &["`takes_all`", "shared memory", &len.to_string(), &most.to_string()]);
            still_works(&queue)?;
        }
        let launched = queue.launch(ThreadSpec::new(1, 1), takes_much(&out)).and_then(|()| queue.wait());
        says(&refused(launched), &["`takes_much`", "shared memory"]);
        still_works(&queue)?;
    }
    Ok(())
}

fn no_shared_len(device: &Device) -> Outcome {
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let out = device.from_slice(&[5u32])?;
        let one = ThreadSpec::new(1, 1);
        let none = LaunchOptions::new().shared_len(0);
        for error in [
            refused(queue.launch(one, takes_all(&out))),
            refused(queue.launch_with(none, one, takes_all(&out))),
            refused(queue.prepare(one, &takes_all(&out))),
            refused(queue.launch(FrameSpec::new(2, 2), takes_all(&out))),
        ] {
            kind!(error, ErrorKind::SharedLen { .. });
            says(&error, &["`takes_all`", "`tile`", "shared_len(n)", "bad_input.rs:"]);
        }
        assert_eq!(out.read(&device.queue()?)?, [5]);
        still_works(&queue)?;
    }
    Ok(())
}

fn all_shared_memory(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(1)?;
    let most = device.properties().max_shared_memory as u32;
    for len in [1, 100, most, 3] {
        queue.launch_with(LaunchOptions::new().shared_len(len), ThreadSpec::new(2, 1), takes_all_of_one(&out))?;
        assert_eq!(out.read(&queue)?, [3 + len]);
    }
    queue.launch(FrameSpec::new(1, 1), reads(&out))?;
    Ok(())
}

#[kernel]
fn takes_all_of_one(acc: &Acc, out: Shared<u32>) {
    let tile = acc.shared_at_launch::<u8>();
    tile[tile.len() - 1] = 3;
    if acc.block_in_grid() == 0 {
        out[0] = tile[tile.len() - 1] as u32 + tile.len();
    }
}

#[kernel]
fn waits_for_all(acc: &Acc, arrived: Atomic<u32>) {
    arrived.fetch_add(0, 1);
    while arrived.load(0) < acc.blocks_in_grid() {}
}

fn grid_barrier(device: &Device) -> Outcome {
    // More blocks than anything here runs at once. SwiftShader gives its core away (`sched_yield`) in each block, so that on a
    // busy machine thousands of them take longer to end than a launch is given for it.
    let is_on_cores = device.properties().kind == DeviceKind::Software && device.name().starts_with("vulkan");
    let blocks = if is_on_cores { 1usize << 8 } else { 1 << 14 };
    let queue = device.queue()?;
    let arrived = device.alloc_zeroed::<u32>(1)?;
    let options = LaunchOptions::new().time_limit(std::time::Duration::from_millis(200));
    let launched = queue.launch_with(options, ThreadSpec::new(blocks, 1), waits_for_all(&arrived));
    match launched {
        // A large GPU may run them all.
        Ok(()) if has_driver(device) => {}
        launched => says(&refused_unless_lacking(device, launched)?, &["`LaunchOptions::new().cooperative()`"]),
    }
    Ok(())
}
