//! Which worker is given which index: workers, ranges, traversal, dimensions.
use wattle::prelude::*;

#[kernel]
fn count_all(acc: &Acc, n: u32, counts: Atomic<u32>, out: Shared<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..n) {
        counts.fetch_add(i, 1);
    }
    for i in acc.indices(BLOCKS_IN_GRID, 0..n) {
        if acc.linear_thread_in_block() == 0 {
            counts.fetch_add(i, 10);
        }
    }
    for i in acc.indices(THREADS_IN_GRID, 2..n).contiguous() {
        counts.fetch_add(i, 100);
    }
    for i in acc.indices(LINEAR_THREADS_IN_GRID, (1..n).step_by(3)).strided() {
        counts.fetch_add(i, 1000);
    }
    for i in acc.indices(LINEAR_THREADS_IN_BLOCK, 0..n) {
        if acc.block_in_grid() == 0 {
            counts.fetch_add(i, 10_000);
        }
    }
    for i in acc.indices(ALL_THREADS, 0..2) {
        if acc.thread_in_grid() == 0 {
            counts.fetch_add(i, 100_000);
        }
    }
    for i in acc.indices(THREADS_IN_BLOCK, 5..3) {
        counts.fetch_add(i, 7);
    }
    if acc.thread_in_grid() == 0 {
        out[0] = acc.threads_in_grid() - acc.threads_in_block() * acc.blocks_in_grid();
    }
}

#[test]
fn each_index_has_one_worker() {
    for n in [0u32, 1, 2, 7, 64, 65] {
        let expected: Vec<u32> = (0..70)
            .map(|i| {
                let all = if i < n { 1 + 10 + 10_000 } else { 0 };
                let from_two = if (2..n).contains(&i) { 100 } else { 0 };
                let third = if (1..n).contains(&i) && i % 3 == 1 { 1000 } else { 0 };
                all + from_two + third + if i < 2 { 100_000 } else { 0 }
            })
            .collect();
        let spec = FrameSpec::cover(n.max(1) as usize, 4);
        expect!(spec, expected.clone(), |device, out| count_all(n, &out, &device.alloc_zeroed::<u32>(1).unwrap()));
    }
}

#[kernel]
fn two(acc: &Acc<2>, out: PerItem<u32, 2>, flat: Atomic<u32>, square: Atomic<u32, 2>, x: Read<u32, 2>) {
    let [rows, columns] = out.extent();
    for ([r, c], item) in acc.items(&mut out) {
        *item = r * 100 + c + x[[r, c]];
    }
    for [r, c] in acc.indices(THREADS_IN_GRID, [0, 0]..[rows, columns]) {
        flat.fetch_add(r * columns + c, 1);
        square.fetch_add([r, c], 1);
    }
    for at in acc.indices(LINEAR_THREADS_IN_GRID, ([1, 0]..[rows, columns]).step_by([1, 2])) {
        square.fetch_add(at, 10);
    }
    for i in acc.indices(LINEAR_THREADS_IN_GRID, 0..rows * columns) {
        flat.fetch_add(i, 10);
    }
}

#[test]
fn two_dimensions() {
    for device in Device::all() {
        let queue = device.queue().unwrap();
        let mut out = device.alloc_nd::<u32, 2>([3, 5]).unwrap();
        let flat = device.alloc_zeroed::<u32>(15).unwrap();
        let mut square = device.alloc_nd::<u32, 2>([3, 5]).unwrap();
        let mut x = device.alloc_nd::<u32, 2>([3, 5]).unwrap();
        queue.fill(&mut square, 0).unwrap();
        queue.fill(&mut x, 7).unwrap();
        let kernel = two(&mut out, &flat, &square, &x);
        wattle::Kernel::build(&kernel).unwrap();
        queue.launch(FrameSpec::cover([3, 5], [2, 2]), kernel).unwrap();
        let expected: Vec<u32> = (0..15).map(|i| i / 5 * 100 + i % 5 + 7).collect();
        assert_eq!(out.read(&queue).unwrap(), expected);
        assert_eq!(flat.read(&queue).unwrap(), [11; 15]);
        let expected: Vec<u32> = (0..15).map(|i| if i >= 5 && i % 5 % 2 == 0 { 11 } else { 1 }).collect();
        assert_eq!(square.read(&queue).unwrap(), expected);
    }
}

#[kernel]
fn three(acc: &Acc<3>, out: Atomic<u32, 3>) {
    let [a, b, c] = out.extent();
    for [i, j, k] in acc.indices(THREADS_IN_GRID, [0, 0, 0]..[a, b, c]) {
        out.fetch_add([i, j, k], i * 100 + j * 10 + k);
    }
    let place = acc.thread_in_grid();
    out.fetch_add([place[0] * 0, 0, acc.linear_block_in_grid() * 0], 0);
}

#[kernel]
fn four(acc: &Acc<4>, out: PerItem<u32, 4>, facts: Shared<u32>) {
    for ([h, i, j, k], item) in acc.items(&mut out) {
        *item = h * 1000 + i * 100 + j * 10 + k;
    }
    let index = acc.thread_in_grid();
    if index[0] + index[1] + index[2] + index[3] == 0 {
        let frames = acc.frames();
        let extent = acc.frame_extent();
        facts[0] = frames[0] * frames[1] * frames[2] * frames[3];
        facts[1] = extent[3];
    }
}

#[test]
fn three_and_four_dimensions() {
    for device in Device::all() {
        let queue = device.queue().unwrap();
        let mut cube = device.alloc_nd::<u32, 3>([2, 3, 4]).unwrap();
        queue.fill(&mut cube, 0).unwrap();
        let kernel = three(&cube);
        wattle::Kernel::build(&kernel).unwrap();
        queue.launch(FrameSpec::cover([2, 3, 4], [1, 2, 2]), kernel).unwrap();
        let expected: Vec<u32> = (0..24).map(|n| n / 12 * 100 + n / 4 % 3 * 10 + n % 4).collect();
        assert_eq!(cube.read(&queue).unwrap(), expected);

        let mut all = device.alloc_nd::<u32, 4>([2, 2, 2, 3]).unwrap();
        let facts = device.alloc_zeroed::<u32>(2).unwrap();
        let kernel = four(&mut all, &facts);
        wattle::Kernel::build(&kernel).unwrap();
        queue.launch(FrameSpec::cover([2, 2, 2, 3], [1, 1, 2, 3]), kernel).unwrap();
        let expected: Vec<u32> = (0..24).map(|n| n / 12 * 1000 + n / 6 % 2 * 100 + n / 3 % 2 * 10 + n % 3).collect();
        assert_eq!(all.read(&queue).unwrap(), expected);
        assert_eq!(facts.read(&queue).unwrap(), [4, 3]);
    }
}

#[kernel]
fn windows(acc: &Acc, x: Read<f32>, w: Read<f32>, out: PerItem<f32>) {
    for (i, item) in acc.items(&mut out) {
        if x[i] > 5.0 {
            continue;
        }
        let x = x[i] * 2.0;
        *item = x + w[i] + w[0];
        if i == 1_000_000 {
            break;
        }
    }
}

#[test]
fn views_read_at_the_index_of_the_loop() {
    let x: Vec<f32> = (0..20).map(|i| i as f32 / 2.0).collect();
    let expected: Vec<f32> = x.iter().map(|x| if *x > 5.0 { 0.0 } else { x * 3.0 }).collect();
    expect!(FrameSpec::cover(20, 8), expected.clone(), |device, out| {
        let x = device.from_slice(&x).unwrap();
        windows(&x, &x, &mut out)
    });
    // A shorter view: what is out of bounds gives 0, and a fault.
    for device in Device::all() {
        let queue = device.queue().unwrap();
        let (long, short) = (device.from_slice(&x).unwrap(), device.from_slice(&x[..10]).unwrap());
        let mut out = device.alloc_zeroed::<f32>(20).unwrap();
        let error = queue.launch(FrameSpec::cover(20, 8), windows(&long, &short, &mut out)).unwrap_err().to_string();
        assert!(error.contains("`w`") || error.contains(" w"), "{error}");
    }
}
