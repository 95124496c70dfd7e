use wattle_ir::Dim;
use wattle_ir::worker::Kind;

use super::*;
use crate::indices::{IndexRange, range};
use crate::support::{get, set};
use crate::thread::tests::state;
use crate::thread::{Block, Thread};
use crate::view::{Read, Shared, Strided};

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
            let map = |thread: &Thread<'_>| Indices::new(thread, 1, Kind::ThreadsInBlock, true, dimensions);
            let runs = shared_out(threads, |thread| map(thread).contiguous());
            assert_eq!(runs.concat(), expected, "{threads} threads");
            let strided = shared_out(threads, |thread| map(thread).strided());
            for (number, found) in strided.iter().enumerate() {
                let own: Vec<_> = expected.iter().copied().skip(number).step_by(threads as usize).collect();
                assert_eq!(*found, own, "thread {number} of {threads}");
            }
            // By dimensions: all threads are in the first one.
            for strided in [false, true] {
                let map = |thread: &Thread<'_>| Indices::new(thread, 3, Kind::ThreadsInBlock, false, dimensions);
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

#[test]
fn rows_of_more_than_32_bits_are_cut() {
    let check = |rows: &mut dyn Iterator<Item = Row<Wide<1>, ()>>, begin: u64, end: u64, step: u64| {
        let mut next = begin;
        for row in rows {
            assert!(row.count() > 0 && u64::from(row.count()) <= MOST_IN_ROW);
            assert_eq!(row.index(0), next);
            next += step * u64::from(row.count());
        }
        assert_eq!(next, begin + (end - begin).div_ceil(step) * step);
    };
    let state = state(3);
    let block = Block::new(&state, 0);
    for (begin, end) in [(0, 1 << 33), (7, (1 << 34) + 5), ((1 << 40) + 1, (1 << 40) + 9), (3, 3 * MOST_IN_ROW)] {
        check(&mut crate::wide::support::range_rows(begin, end), begin, end, 1);
        let dimensions = IndexRange::<u64>::dimensions(range(begin, end));
        let mut runs = Vec::new();
        for number in 0..3 {
            let thread = Thread::new(&block, number);
            let map = Indices::<Wide<1>>::new(&thread, 1, Kind::ThreadsInBlock, false, dimensions);
            check(&mut map.strided().rows(), begin + u64::from(number), end, 3);
            runs.extend(map.contiguous().rows());
        }
        check(&mut runs.into_iter(), begin, end, 1);
    }
}

/// The parts of a row of `count` numbers from 5 on, with this stretch: where each begins, and how long it is.
fn parts(count: u32, stretch: Option<Stretch>) -> Vec<(u32, u32)> {
    let mut parts = Row::of_range(5, 5 + count).parts();
    if let Some(stretch) = stretch {
        assert!(!parts.is_narrowed() && parts.row.is_plain());
        parts.narrow(stretch);
    }
    std::iter::from_fn(|| {
        let ahead = parts.ahead()?;
        let part = parts.take(ahead.count());
        assert_eq!((part.index(0), part.count()), (ahead.index(0), ahead.count()));
        Some((part.index(0) - 5, part.count()))
    })
    .collect()
}

#[test]
fn a_row_goes_in_parts() {
    let stretch = |begin, end| Some(Stretch { begin, end });
    let look = STEPS_PER_LOOK;
    assert_eq!(parts(10, None), [(0, 10)]);
    assert_eq!(parts(look + 3, None), [(0, look), (look, 3)]);
    assert_eq!(parts(10, stretch(0, 10)), [(0, 10)]);
    assert_eq!(parts(10, stretch(1, 9)), [(0, 1), (1, 8), (9, 1)]);
    assert_eq!(parts(look + 9, stretch(1, look + 3)), [(0, 1), (1, look), (look + 1, 2), (look + 3, 6)]);
    assert_eq!(parts(10, stretch(7, 3)), [(0, 10)]);
    assert_eq!(parts(10, stretch(u32::MAX, 10)), [(0, 10)]);
    assert_eq!(parts(0, None), []);
    // What is narrowed later is so from there on.
    let mut parts = Row::of_range(0, 10).parts();
    parts.take(4);
    let whole = parts.whole();
    assert_eq!(whole, Stretch { begin: 0, end: 6 });
    parts.narrow(Stretch { begin: 2, ..whole });
    let counts = std::iter::from_fn(|| {
        let count = parts.ahead()?.count();
        Some(parts.take(count).count())
    });
    assert_eq!(counts.collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn a_condition_cuts_a_row() {
    let sides = |count: u32, cut: &dyn Fn(&mut Cut)| {
        let mut row = Row::of_range(3, 3 + count);
        let (mut all, mut passed) = (row.cut(), 0);
        cut(&mut all);
        let sides = std::iter::from_fn(|| next_side(&mut row, &mut passed, all));
        sides.map(|(run, holds)| (run.index(0) - 3, run.count(), holds)).collect::<Vec<_>>()
    };
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(sides(10, &|cut| cut.lt(3u32, 7)), [(0, 4, yes), (4, 6, no)]);
    assert_eq!(sides(10, &|cut| cut.le(3u32, 7)), [(0, 5, yes), (5, 5, no)]);
    assert_eq!(sides(10, &|cut| cut.gt(3u32, 7)), [(0, 5, no), (5, 5, yes)]);
    assert_eq!(sides(10, &|cut| cut.ge(3u32, 7)), [(0, 4, no), (4, 6, yes)]);
    assert_eq!(sides(10, &|cut| (cut.ge(3u32, 7), cut.lt(5u32, 12)).0), [(0, 4, no), (4, 3, yes), (7, 3, no)]);
    assert_eq!(sides(10, &|cut| (cut.ge(3u32, 12), cut.lt(3u32, 12)).0), [(0, 10, no)]);
    assert_eq!(sides(10, &|cut| cut.lt(9u32, 7)), [(0, 10, no)]);
    assert_eq!(sides(10, &|cut| cut.le(0u32, u32::MAX)), [(0, 10, yes)]);
    assert_eq!(sides(10, &|cut| cut.gt(0u32, u32::MAX)), [(0, 10, no)]);
    assert_eq!(sides(10, &|cut| cut.when(false)), [(0, 10, no)]);
    // The last number is the greatest there is; one more would wrap.
    assert_eq!(sides(10, &|cut| cut.ge(u32::MAX - 9, u32::MAX)), [(0, 9, no), (9, 1, yes)]);
    assert_eq!(sides(10, &|cut| cut.ge(u32::MAX - 8, u32::MAX)), [(0, 10, None)]);
    let mut steps = Row { step: 2, ..Row::of_range(0, 9) };
    let cut = steps.cut();
    assert_eq!(next_side(&mut steps, &mut 0, cut).map(|(_, holds)| holds), Some(None));
}

#[test]
fn a_line_is_in_bounds() {
    let state = state(1);
    let block = Block::new(&state, 0);
    let thread = Thread::new(&block, 0);
    let mut values: Vec<u32> = (0..12).collect();
    // SAFETY: three rows of four elements.
    let view = unsafe { Strided::new(values.as_mut_ptr(), [3, 4, 1, 1], [4, 1, 1, 1], "x", &thread) };
    let view = Read::<u32, 2>(view);
    // Along a row: the numbers of six that are in bounds, and what is read for them.
    let along = |index: [u32; 2]| {
        let mut stretch = Row::of_range(0, 6).parts().whole();
        narrow::<true, _, _, _>(&view, index, 0, &mut stretch);
        let count = stretch.end.saturating_sub(stretch.begin);
        let first = [index[0], index[1].wrapping_add(stretch.begin)];
        assert!(line::<true, _, _, _>(&view, first, 0, count + 9).is_none(), "beyond the view");
        let line = line::<true, _, _, _>(&view, first, 0, count);
        let elements = line.iter().flat_map(|line| (0..count as usize).map(|number| line[number]));
        (stretch.begin, elements.collect::<Vec<_>>())
    };
    assert_eq!(along([1, 0]), (0, vec![4, 5, 6, 7]));
    assert_eq!(along([2, 3]), (0, vec![11]));
    assert_eq!(along([0, 0u32.wrapping_sub(2)]), (2, vec![0, 1, 2, 3]));
    assert_eq!(along([0, 0u32.wrapping_sub(4)]), (4, vec![0, 1]));
    assert_eq!(along([3, 0]).1, []);
    assert_eq!(along([0, 4]).1, []);
    assert_eq!(along([0, 1 << 31]).1, []);
    assert!(line::<true, _, _, _>(&view, [2u32, 1], 0, u32::MAX).is_none());
    let mut stretch = Row::of_range(0, 9).parts().whole();
    narrow::<false, _, _, _>(&view, [u32::MAX, 2], 0, &mut stretch);
    assert_eq!((stretch.begin, stretch.end), (1, 4));
    assert!(line::<false, _, _, _>(&view, [u32::MAX, 2], 0, 3).is_none());
    assert!(line::<false, _, _, _>(&view, [1u32, 2], 0, 3).is_none());
    let column = line::<false, _, _, _>(&view, [0u32, 2], 0, 3).unwrap();
    assert_eq!([column[0], column[1], column[2], column.part(1, 2)[1]], [2, 6, 10, 10]);
    let none = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| column[3]));
    assert!(none.is_err(), "a line ends");
    // Memory of a block is written plainly, and read back.
    // SAFETY: the same elements, in one row, of this thread alone.
    let tile = unsafe { Strided::new(values.as_mut_ptr(), [12, 1, 1, 1], [1; 4], "tile", &thread).of_block() };
    let tile = Shared::<u32>(tile);
    let elements = line::<true, _, _, _>(&tile, 8u32, 0, 4).unwrap();
    set(&elements, 3, get(&elements, 2, &thread) + 90, &thread);
    assert_eq!((get(&elements, 3, &thread), values[11]), (100, 100));
}
