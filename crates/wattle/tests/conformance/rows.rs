//! Reads that move along with a loop's index: neighbours in rows and columns, at the edges too, where some are out of
//! bounds.

use wattle::prelude::*;
use wattle::{ErrorKind, FaultKind};

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("neighbours in rows and columns", neighbours),
    ("rows of a view as columns", columns),
    ("neighbours by numbers and in steps", strides),
    ("reads that move along with a range", ranges),
    ("faults at the ends of rows", faults),
    ("a loop left in the middle of a row", left),
];

const ROWS: usize = 5;
const COLUMNS: usize = 37;

/// A weighted sum of the neighbours that there are.
#[kernel]
fn weigh(acc: &Acc<2>, x: Read<u32, 2>, edge: Read<u32>, out: PerItem<u32, 2>) {
    let [rows, columns] = x.extent();
    let far = 3;
    for ([row, column], out) in acc.items(&mut out) {
        let mut sum = x[[row, column]] + 1000 * edge[column];
        if row > 0 && column + 1 < columns {
            sum += 2 * x[[row - 1, 1 + column]];
        }
        if column >= far {
            sum += 3 * x[[row, column - far]];
        } else {
            sum += 7;
        }
        if row + 1 == rows {
            continue;
        }
        *out = sum + 5 * x[[row + 1, column]];
    }
}

fn weighed(row: usize, column: usize) -> u32 {
    let x = |row: usize, column: usize| (row * COLUMNS + column) as u32 % 101;
    if row + 1 == ROWS {
        return 0;
    }
    let mut sum = x(row, column) + 1000 * column as u32;
    if row > 0 && column + 1 < COLUMNS {
        sum += 2 * x(row - 1, column + 1);
    }
    sum += if column >= 3 { 3 * x(row, column - 3) } else { 7 };
    sum + 5 * x(row + 1, column)
}

fn plane(device: &Device) -> Result<Buffer<u32, 2>> {
    let mut x = device.alloc_nd::<u32, 2>([ROWS, COLUMNS])?;
    let values: Vec<u32> = (0..(ROWS * COLUMNS) as u32).map(|i| i % 101).collect();
    x.write(&device.queue()?, &values)?;
    Ok(x)
}

fn neighbours(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = plane(device)?;
    let edge = device.from_slice(&(0..COLUMNS as u32).collect::<Vec<_>>())?;
    let expected: Vec<u32> = (0..ROWS * COLUMNS).map(|i| weighed(i / COLUMNS, i % COLUMNS)).collect();
    for side in [[1, COLUMNS], [2, 8]] {
        let mut out = device.alloc_zeroed_nd::<u32, 2>([ROWS, COLUMNS])?;
        queue.launch(FrameSpec::cover([ROWS, COLUMNS], side), weigh(&x, &edge, &mut out))?;
        assert_eq!(out.read(&queue)?, expected);
    }
    Ok(())
}

#[kernel]
fn turn(acc: &Acc<2>, x: Read<u32, 2>, out: PerItem<u32, 2>) {
    for ([row, column], out) in acc.items(&mut out) {
        *out = x[[column, row]];
    }
}

fn columns(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, mut out) = (plane(device)?, device.alloc_zeroed_nd::<u32, 2>([COLUMNS, ROWS])?);
    queue.launch(FrameSpec::cover([COLUMNS, ROWS], [4, 2]), turn(&x, &mut out))?;
    let expected: Vec<u32> = (0..ROWS * COLUMNS).map(|i| ((i % ROWS) * COLUMNS + i / ROWS) as u32 % 101).collect();
    assert_eq!(out.read(&queue)?, expected);
    Ok(())
}

/// By threads of one dimension, which share a plane's row-major numbers; in runs or in steps, of which some skip columns.
#[kernel]
fn sums(acc: &Acc, x: Read<u32, 2>, runs: Shared<u32, 2>, steps: Shared<u32, 2>) {
    let [rows, columns] = x.extent();
    for [row, column] in acc.indices(LINEAR_THREADS_IN_GRID, [0, 1]..[rows, columns - 1]).contiguous() {
        runs[[row, column]] = x[[row, column - 1]] + 10 * x[[row, column + 1]];
    }
    for [row, column] in acc.indices(LINEAR_THREADS_IN_GRID, ([1, 1]..[rows, columns]).step_by([2, 3])).strided() {
        steps[[row, column]] = x[[row - 1, column]] + 10 * x[[row, column - 1]];
    }
}

fn strides(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = plane(device)?;
    let at = |row: usize, column: usize| (row * COLUMNS + column) as u32 % 101;
    let runs = device.alloc_zeroed_nd::<u32, 2>([ROWS, COLUMNS])?;
    let steps = device.alloc_zeroed_nd::<u32, 2>([ROWS, COLUMNS])?;
    queue.launch(ThreadSpec::new(3, 1), sums(&x, &runs, &steps))?;
    let (runs, steps) = (runs.read(&queue)?, steps.read(&queue)?);
    for i in 0..ROWS * COLUMNS {
        let (row, column) = (i / COLUMNS, i % COLUMNS);
        let is_inner = column > 0 && column + 1 < COLUMNS;
        assert_eq!(
            runs[i],
            if is_inner { at(row, column - 1) + 10 * at(row, column + 1) } else { 0 },
            "{row} {column}"
        );
        let is_step = row % 2 == 1 && column % 3 == 1;
        assert_eq!(
            steps[i],
            if is_step { at(row - 1, column) + 10 * at(row, column - 1) } else { 0 },
            "{row} {column}"
        );
    }
    Ok(())
}

/// Sums over a range that is longer than the views: conditions keep the accesses within them.
#[kernel]
fn over(acc: &Acc, x: Read<u32>, y: Read<u32>, plane: Read<u32, 2>, begin: u32, end: u32, out: Shared<u32>) {
    let [rows, columns] = plane.extent();
    for thread in acc.indices(THREADS_IN_GRID, 0..1) {
        let mut sum = 0;
        for i in begin..end {
            if i < x.len() {
                sum = sum * 3 + x[i];
            }
            if i >= 2 && i - 2 < y.len() {
                sum += y[i - 2];
            }
            if i < columns {
                sum += plane[[rows - 1, i]];
            }
            if i < rows {
                sum += plane[[i, 4]];
            }
        }
        out[thread] = sum;
    }
}

fn ranges(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, y): (Vec<u32>, Vec<u32>) = ((0..20).map(|i| i * i).collect(), (0..29).map(|i| 77 - i).collect());
    let (plane, out) = (plane(device)?, device.alloc_zeroed::<u32>(1)?);
    let (on_device, other) = (device.from_slice(&x)?, device.from_slice(&y)?);
    let at = |row: usize, column: usize| (row * COLUMNS + column) as u32 % 101;
    for (begin, end) in [(0, 50), (0, 0), (3, 2), (1, 20), (19, 21), (22, 40), (40, 45)] {
        queue.launch(ThreadSpec::new(1, 1), over(&on_device, &other, &plane, begin, end, &out))?;
        let mut sum = 0u32;
        for i in begin as usize..end as usize {
            sum = x.get(i).map_or(sum, |x| sum.wrapping_mul(3).wrapping_add(*x));
            sum = sum.wrapping_add(i.checked_sub(2).and_then(|i| y.get(i)).copied().unwrap_or(0));
            sum = sum.wrapping_add(if i < COLUMNS { at(ROWS - 1, i) } else { 0 });
            sum = sum.wrapping_add(if i < ROWS { at(i, 4) } else { 0 });
        }
        assert_eq!(out.read(&queue)?, [sum], "{begin}..{end}");
    }
    Ok(())
}

/// Each element, `right` and `down` of where it is read; what is out of bounds is 0, and a fault.
#[kernel]
fn shift(acc: &Acc<2>, x: Read<u32, 2>, right: u32, down: u32, out: PerItem<u32, 2>) {
    for ([row, column], out) in acc.items(&mut out) {
        *out = x[[row + down, column + right]];
    }
}

fn faults(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = plane(device)?;
    let mut out = device.alloc_zeroed_nd::<u32, 2>([ROWS, COLUMNS])?;
    let left = 0u32.wrapping_sub(2);
    // Far to the right or left nothing is left; just beyond an end, most is.
    for (right, down) in [(1, 0), (left, 0), (0, 2), (left, 1), (100, 0), (0, 100), (1 << 31, 1 << 31)] {
        let launched = queue.launch(FrameSpec::cover([ROWS, COLUMNS], [2, 8]), shift(&x, right, down, &mut out));
        match launched.map_err(|error| (error.kind().to_owned_fault(), error)) {
            Err((Some(index), _)) => {
                let of = |x: u32| if x < 1 << 31 { x as usize } else { usize::MAX };
                let [row, column] = index.map(of);
                assert!(row >= ROWS || column >= COLUMNS, "{index:?}");
            }
            Err((None, error)) => return Err(error.into()),
            Ok(()) => panic!("{right} {down}: out of bounds, without a fault"),
        }
        let expected: Vec<u32> = (0..ROWS * COLUMNS)
            .map(|i| {
                let row = (i / COLUMNS) as u32;
                let (row, column) =
                    (row.wrapping_add(down) as usize, ((i % COLUMNS) as u32).wrapping_add(right) as usize);
                if row < ROWS && column < COLUMNS { (row * COLUMNS + column) as u32 % 101 } else { 0 }
            })
            .collect();
        assert_eq!(out.read(&queue)?, expected, "{right} {down}");
    }
    Ok(())
}

/// What index a fault names.
trait Fault {
    fn to_owned_fault(&self) -> Option<[u32; 2]>;
}

impl Fault for ErrorKind {
    fn to_owned_fault(&self) -> Option<[u32; 2]> {
        let ErrorKind::Fault(fault) = self else { return None };
        let FaultKind::OutOfBounds { index, .. } = &fault.what else { return None };
        let mut numbers = index.trim_matches(['[', ']']).split(", ").map(|number| number.parse().ok());
        Some([numbers.next()??, numbers.next()??])
    }
}

/// Each row's sum up to its first zero.
#[kernel]
fn until(acc: &Acc, x: Read<u32, 2>, out: PerItem<u32>) {
    let columns = x.extent()[1];
    for (row, out) in acc.items(&mut out) {
        let mut sum = 0;
        for column in 0..columns {
            if x[[row, column]] == 0 {
                break;
            }
            if x[[row, column]] % 2 == 1 {
                continue;
            }
            sum += x[[row, column]];
        }
        *out = sum;
    }
}

fn left(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (x, mut out) = (plane(device)?, device.alloc_zeroed::<u32>(ROWS)?);
    queue.launch(FrameSpec::cover(ROWS, 2), until(&x, &mut out))?;
    let expected: Vec<u32> = (0..ROWS)
        .map(|row| {
            let row = (0..COLUMNS).map(|column| (row * COLUMNS + column) as u32 % 101);
            row.take_while(|x| *x != 0).filter(|x| x % 2 == 0).sum()
        })
        .collect();
    assert_eq!(out.read(&queue)?, expected);
    Ok(())
}
