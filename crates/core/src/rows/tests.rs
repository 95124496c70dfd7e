use wattle_ir::Dim;
use wattle_ir::worker::Kind;

use super::*;
use crate::host::Block;
use crate::indices::{IndexRange, range};
use crate::thread::Thread;
use crate::thread::tests::state;

/// All indices of a range in row-major order.
fn all(begin: [u32; 3], end: [u32; 3], step: [u32; 3]) -> Vec<[u32; 3]> {
    let along = |d: usize| (begin[d]..end[d]).step_by(step[d] as usize);
    along(0).flat_map(|x| along(1).flat_map(move |y| along(2).map(move |z| [x, y, z]))).collect()
}

/// What falls to each of several threads of a block, by row-major numbers.
fn shared_out(threads: u32, map: impl Fn(&Thread<'_>) -> Indices<Dim<3>>) -> Vec<Vec<[u32; 3]>> {
    let state = state(threads);
    let block = Block::new(&state, 0);
    (0..threads).map(|number| map(&Thread::new(&block, number)).rows().flatten().collect()).collect()
}

#[test]
fn rows_have_each_index_once_and_in_order() {
    for (begin, end, step) in [
        ([0, 0, 0], [3, 4, 5], [1, 1, 1]),
        ([1, 2, 3], [4, 3, 20], [2, 1, 3]),
        ([0, 0, 0], [2, 0, 5], [1, 1, 1]),
        ([0, 5, 0], [1, 6, 9], [1, 1, 4]),
    ] {
        let expected = all(begin, end, step);
        let dimensions = range(begin, end).step_by(step).dimensions();
        for threads in [1, 2, 3, 7, 64] {
            let map = |thread: &Thread<'_>| Indices::new(thread, 1, Kind::ThreadsInBlock, true, dimensions, 3);
            let runs = shared_out(threads, |thread| map(thread).contiguous());
            assert_eq!(runs.concat(), expected, "{threads} threads");
            let strided = shared_out(threads, |thread| map(thread).strided());
            for (number, found) in strided.iter().enumerate() {
                let own: Vec<_> = expected.iter().copied().skip(number).step_by(threads as usize).collect();
                assert_eq!(*found, own, "thread {number} of {threads}");
            }
            // By dimensions: all threads are in the first one.
            for strided in [false, true] {
                let map = |thread: &Thread<'_>| Indices::new(thread, 3, Kind::ThreadsInBlock, false, dimensions, 3);
                let shares =
                    shared_out(
                        threads,
                        |thread| if strided { map(thread).strided() } else { map(thread).contiguous() },
                    );
                assert!(shares.iter().all(|share| share.is_sorted()));
                let mut found = shares.concat();
                found.sort();
                assert_eq!(found, expected, "{threads} threads, by dimensions");
            }
        }
    }
}

/// The parts of a row: where each begins, how long it is, whether it is within the stretch.
fn parts(count: u32, stretch: Stretch, most: u32) -> Vec<(u32, u32, bool)> {
    let (mut row, mut passed) = (Row::of_range(5, 5 + count), 0);
    std::iter::from_fn(|| {
        let (part, first, is_within) = next_part(&mut row, &mut passed, stretch, most)?;
        assert_eq!(part.index(0), 5 + first);
        Some((first, part.count(), is_within))
    })
    .collect()
}

#[test]
fn a_row_goes_in_parts() {
    let stretch = |begin, end| Stretch { begin, end };
    assert_eq!(parts(10, stretch(0, 10), 100), [(0, 10, true)]);
    assert_eq!(parts(10, stretch(1, 9), 100), [(0, 1, false), (1, 8, true), (9, 1, false)]);
    assert_eq!(parts(10, stretch(1, 9), 4), [(0, 1, false), (1, 4, true), (5, 4, true), (9, 1, false)]);
    assert_eq!(parts(10, stretch(7, 3), 100), [(0, 10, false)]);
    assert_eq!(parts(10, stretch(u32::MAX, 10), 6), [(0, 6, false), (6, 4, false)]);
    assert_eq!(parts(0, stretch(0, 0), 6), []);
}

#[test]
fn a_window_is_what_is_in_bounds() {
    let state = state(1);
    let block = Block::new(&state, 0);
    let thread = Thread::new(&block, 0);
    let mut values: Vec<u32> = (0..12).collect();
    // SAFETY: three rows of four elements.
    let view = unsafe { Strided::new(values.as_mut_ptr(), [3, 4, 1, 1], [4, 1, 1, 1], "x", &thread) };
    let view = Read::<u32, 2>(view);
    let last = |index: [u32; 2]| {
        let mut stretch = Row::of_range(0, 6).stretch();
        let window = window::<true, _, _>(&view, index, 0, &mut stretch);
        let count = stretch.end.saturating_sub(stretch.begin);
        assert!(window.line(stretch.begin, count + 9).is_none(), "beyond the window");
        let line = window.line(stretch.begin, count);
        let elements = line.iter().flat_map(|line| (0..line.len).map(|number| line[number]));
        (stretch.begin, elements.collect::<Vec<_>>())
    };
    assert_eq!(last([1, 0]), (0, vec![4, 5, 6, 7]));
    assert_eq!(last([2, 3]), (0, vec![11]));
    assert_eq!(last([0, 0u32.wrapping_sub(2)]), (2, vec![0, 1, 2, 3]));
    assert_eq!(last([0, 0u32.wrapping_sub(4)]), (4, vec![0, 1]));
    assert_eq!(last([3, 0]).1, []);
    assert_eq!(last([0, 4]).1, []);
    assert_eq!(last([0, 1 << 31]).1, []);
    let mut stretch = Row::of_range(0, 9).stretch();
    let column = window::<false, _, _>(&view, [u32::MAX, 2], 0, &mut stretch);
    assert_eq!((stretch.begin, stretch.end), (1, 4));
    let line = column.line(1, 3).unwrap();
    assert_eq!([line[0], line[1], line[2], line.part(1, 2)[1]], [2, 6, 10, 10]);
    let none = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| line[3]));
    assert!(none.is_err(), "a line ends");
}
