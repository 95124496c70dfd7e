//! Copies as rows: the driver copies rows that stand equally far apart, and slices of them, in one go.

use crate::driver::{Pitch, Rows};

/// A part of a copy, as rows at both ends. Offsets and distances are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) from: usize,
    pub(crate) from_pitch: Pitch,
    pub(crate) to: usize,
    pub(crate) to_pitch: Pitch,
    pub(crate) rows: Rows,
}

impl Part {
    /// How many bytes the part copies.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.width * self.rows.rows * self.rows.slices
    }

    /// A part of one row: the offset it is read at, the offset it is written at, its length.
    pub(crate) fn one((from, to, width): (usize, usize, usize)) -> Part {
        let pitch = Pitch { row: width, rows_per_slice: 1 };
        Part { from, from_pitch: pitch, to, to_pitch: pitch, rows: Rows { width, rows: 1, slices: 1 } }
    }

    /// The beginning of the part, of this extent.
    fn head(&self, width: usize, rows: usize, slices: usize) -> Part {
        Part { rows: Rows { width, rows, slices }, ..*self }
    }

    /// The part moved on by this number of bytes, rows and slices at both ends.
    fn moved(&self, bytes: usize, rows: usize, slices: usize) -> Part {
        let far = |pitch: Pitch| bytes + pitch.row * (rows + pitch.rows_per_slice * slices);
        Part { from: self.from + far(self.from_pitch), to: self.to + far(self.to_pitch), ..*self }
    }

    /// Calls `take` with each row: the offset it is read at, the offset it is written at, its length.
    pub(crate) fn each_row<E>(&self, mut take: impl FnMut(usize, usize, usize) -> Result<(), E>) -> Result<(), E> {
        let Rows { width, rows, slices } = self.rows;
        (0..slices).try_for_each(|slice| {
            (0..rows).try_for_each(|row| {
                let one = self.moved(0, row, slice);
                take(one.from, one.to, width)
            })
        })
    }

    /// Calls `take` with pieces of the part of at most `most` bytes, in order.
    pub(crate) fn pieces<E>(&self, most: usize, take: &mut impl FnMut(Part) -> Result<(), E>) -> Result<(), E> {
        let Rows { width, rows, slices } = self.rows;
        if self.bytes() <= most {
            return take(*self);
        }
        if slices > 1 {
            let at_once = (most / (width * rows)).max(1);
            return (0..slices).step_by(at_once).try_for_each(|slice| {
                self.moved(0, 0, slice).head(width, rows, at_once.min(slices - slice)).pieces(most, take)
            });
        }
        if rows > 1 {
            let at_once = (most / width).max(1);
            return (0..rows)
                .step_by(at_once)
                .try_for_each(|row| self.moved(0, row, 0).head(width, at_once.min(rows - row), 1).pieces(most, take));
        }
        let most = most.max(1);
        (0..width).step_by(most).try_for_each(|at| take(self.moved(at, 0, 0).head(most.min(width - at), 1, 1)))
    }
}

/// The greatest distance of rows that the driver copies and fills in one call, which is `CU_DEVICE_ATTRIBUTE_MAX_PITCH`
/// on all devices. Slices are kept within it too.
const MOST_PITCH: usize = i32::MAX as usize;

/// Joins runs to parts; a run is the offset it is read at, the offset it is written at, its length.
pub(crate) fn parts(runs: impl Iterator<Item = (usize, usize, usize)>) -> impl Iterator<Item = Part> {
    parts_within(MOST_PITCH, runs)
}

/// Joins runs to parts whose rows are at most `most_pitch` bytes apart.
fn parts_within(most_pitch: usize, runs: impl Iterator<Item = (usize, usize, usize)>) -> impl Iterator<Item = Part> {
    let mut rows = rows(most_pitch, runs).peekable();
    std::iter::from_fn(move || {
        let mut part = rows.next()?;
        let (from_row, to_row) = (part.from_pitch.row, part.to_pitch.row);
        while let Some(next) = rows.peek() {
            let alike = next.rows == Rows { slices: 1, ..part.rows }
                && (part.rows.rows == 1 || (next.from_pitch.row, next.to_pitch.row) == (from_row, to_row));
            let distance = |at: usize, next: usize, row: usize| {
                next.checked_sub(at)
                    .filter(|far| far.is_multiple_of(row) && *far >= row * part.rows.rows && *far <= most_pitch)
                    .map(|far| far / row)
            };
            let (Some(from_far), Some(to_far)) =
                (distance(part.from, next.from, from_row), distance(part.to, next.to, to_row))
            else {
                break;
            };
            let fits = if part.rows.slices == 1 {
                true
            } else {
                from_far == part.from_pitch.rows_per_slice * part.rows.slices
                    && to_far == part.to_pitch.rows_per_slice * part.rows.slices
            };
            if !alike || !fits {
                break;
            }
            if part.rows.slices == 1 {
                (part.from_pitch.rows_per_slice, part.to_pitch.rows_per_slice) = (from_far, to_far);
            }
            part.rows.slices += 1;
            rows.next();
        }
        Some(part)
    })
}

/// Joins runs of equal length and distance to parts of one slice.
fn rows(most_pitch: usize, runs: impl Iterator<Item = (usize, usize, usize)>) -> impl Iterator<Item = Part> {
    let mut runs = runs.peekable();
    std::iter::from_fn(move || {
        let mut part = Part::one(runs.next()?);
        while let Some(&(from, to, width)) = runs.peek() {
            let (Some(from_far), Some(to_far)) = (from.checked_sub(part.from), to.checked_sub(part.to)) else { break };
            let (count, width_is) = (part.rows.rows, part.rows.width);
            let fits = if count == 1 {
                from_far.min(to_far) >= width && from_far.max(to_far) <= most_pitch
            } else {
                from_far == part.from_pitch.row * count && to_far == part.to_pitch.row * count
            };
            if width != width_is || !fits {
                break;
            }
            if count == 1 {
                (part.from_pitch.row, part.to_pitch.row) = (from_far, to_far);
            }
            part.rows.rows += 1;
            runs.next();
        }
        // As long as there is one slice, its distance is its number of rows.
        (part.from_pitch.rows_per_slice, part.to_pitch.rows_per_slice) = (part.rows.rows, part.rows.rows);
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offsets of each byte that a part copies: read at, and written at.
    fn bytes(part: &Part) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        let done = part.each_row(|from, to, len| {
            all.extend((0..len).map(|byte| (from + byte, to + byte)));
            Ok::<(), ()>(())
        });
        done.unwrap();
        all
    }

    fn check(runs: &[(usize, usize, usize)], count: usize) {
        let expected: Vec<_> =
            runs.iter().flat_map(|&(from, to, len)| (0..len).map(move |byte| (from + byte, to + byte))).collect();
        let all: Vec<_> = parts(runs.iter().copied()).collect();
        assert_eq!(all.iter().flat_map(bytes).collect::<Vec<_>>(), expected);
        assert_eq!(all.len(), count, "{all:?}");
        for most in [1, 3, 7, 40, 1000] {
            let mut pieces = Vec::new();
            for part in &all {
                let taken = part.pieces(most, &mut |piece| {
                    assert!(piece.bytes() <= most, "{piece:?}");
                    pieces.extend(bytes(&piece));
                    Ok::<(), ()>(())
                });
                taken.unwrap();
            }
            assert_eq!(pieces, expected, "{most}");
        }
    }

    #[test]
    fn rows_that_are_too_far_apart_stay_alone() {
        let count = |most, runs: &[(usize, usize, usize)]| parts_within(most, runs.iter().copied()).count();
        let rows = [(0, 0, 4), (10, 4, 4), (20, 8, 4)];
        assert_eq!((count(10, &rows), count(9, &rows)), (1, 3));
        let back: Vec<_> = rows.map(|(from, to, len)| (to, from, len)).to_vec();
        assert_eq!((count(10, &back), count(9, &back)), (1, 3));
        // Slices of one row, and of two.
        let slices = [(0, 0, 4), (10, 4, 4), (40, 20, 4), (50, 24, 4)];
        assert_eq!((count(40, &slices), count(39, &slices)), (1, 2));
        check(&[(0, 0, 8), (1 << 30, 8, 8), (2 << 30, 16, 8)], 1);
        check(&[(0, 0, 8), (1 << 31, 8, 8), (2 << 31, 16, 8)], 3);
    }

    #[test]
    fn runs_are_put_together() {
        check(&[], 0);
        check(&[(5, 7, 12)], 1);
        check(&[(0, 0, 4), (10, 4, 4), (20, 8, 4)], 1);
        check(&[(0, 0, 4), (10, 4, 4), (21, 8, 4)], 2);
        check(&[(0, 0, 4), (10, 4, 4), (20, 8, 3)], 2);
        // Two slices of three rows, and three of two.
        let box_of = |slices: usize, rows: usize| -> Vec<_> {
            (0..slices)
                .flat_map(|slice| (0..rows).map(move |row| (100 * slice + 10 * row, (slice * rows + row) * 4, 4)))
                .collect()
        };
        check(&box_of(2, 3), 1);
        check(&box_of(3, 2), 1);
        check(&box_of(5, 1), 1);
        // Slices whose distance is no multiple of the rows'.
        check(&[(0, 0, 4), (10, 4, 4), (25, 8, 4), (35, 12, 4)], 2);
        // The last slice is short.
        check(&[(0, 0, 4), (10, 4, 4), (100, 8, 4), (110, 12, 4), (200, 16, 4)], 2);
        // One end goes backwards, or stays.
        check(&[(20, 0, 4), (10, 4, 4), (0, 8, 4)], 3);
    }
}
