//! Assigns steps of different threads to rows.
//!
//! The rows are an order of happens-before and reads-from: a step stands below what its thread does before and below
//! the writes that it reads. A write and its reader that the story is about stand in one row, so that an arrow can lead
//! from one to the other; the arrivals at one barrier do too.

use super::Column;

/// A step: its column and its number there.
pub(super) type At = (usize, usize);

/// The maximum number of steps of a story that is arranged.
const MOST_STEPS: usize = 600;

/// Assigns each step a row. The pairs in `beside` share a row where possible, those in `below` do not.
pub(super) fn arrange(columns: &mut [Column], beside: &[(At, At)], below: &[(At, At)]) {
    let mut grid = Grid::new(columns);
    if grid.steps.len() <= MOST_STEPS {
        for &(a, b) in beside {
            grid.join(a, b);
        }
        for &(a, b) in below {
            grid.order(a, b);
        }
    }
    let Some(rows) = grid.rows() else { return };
    for (&(column, step), row) in grid.steps.iter().zip(rows) {
        columns[column].steps[step].row = row;
    }
}

struct Grid {
    steps: Vec<At>,
    first: Vec<usize>,
    /// For each step the step that stands for its row.
    stands: Vec<usize>,
    below: Vec<(usize, usize)>,
}

impl Grid {
    fn new(columns: &[Column]) -> Grid {
        let mut grid = Grid { steps: Vec::new(), first: Vec::new(), stands: Vec::new(), below: Vec::new() };
        for (number, column) in columns.iter().enumerate() {
            grid.first.push(grid.steps.len());
            for step in 0..column.steps.len() {
                if step > 0 {
                    grid.below.push((grid.steps.len() - 1, grid.steps.len()));
                }
                grid.steps.push((number, step));
            }
        }
        grid.stands = (0..grid.steps.len()).collect();
        grid
    }

    fn number(&self, (column, step): At) -> usize {
        self.first[column] + step
    }

    fn join(&mut self, a: At, b: At) {
        let (a, b) = (self.stands[self.number(a)], self.stands[self.number(b)]);
        let this = &*self;
        let of = |stands: usize| (0..this.steps.len()).filter(move |&step| this.stands[step] == stands);
        let together = of(a).any(|first| of(b).any(|second| this.steps[first].0 == this.steps[second].0));
        if a == b || together {
            return;
        }
        let before = self.stands.clone();
        self.stands.iter_mut().filter(|stands| **stands == b).for_each(|stands| *stands = a);
        if self.rows().is_none() {
            self.stands = before;
        }
    }

    fn order(&mut self, a: At, b: At) {
        let pair = (self.number(a), self.number(b));
        if self.stands[pair.0] == self.stands[pair.1] {
            return;
        }
        self.below.push(pair);
        if self.rows().is_none() {
            self.below.pop();
        }
    }

    /// The rows; `None` if the order has a cycle.
    fn rows(&self) -> Option<Vec<usize>> {
        let n = self.steps.len();
        let mut after = vec![Vec::new(); n];
        let mut waits = vec![0usize; n];
        for &(a, b) in &self.below {
            after[self.stands[a]].push(self.stands[b]);
            waits[self.stands[b]] += 1;
        }
        let mut rows = vec![0; n];
        let mut open: Vec<usize> = (0..n).filter(|&step| self.stands[step] == step && waits[step] == 0).collect();
        let mut done = 0;
        while let Some(step) = open.pop() {
            done += 1;
            for &next in &after[step] {
                rows[next] = rows[next].max(rows[step] + 1);
                waits[next] -= 1;
                if waits[next] == 0 {
                    open.push(next);
                }
            }
        }
        let groups = (0..n).filter(|&step| self.stands[step] == step).count();
        (done == groups).then(|| (0..n).map(|step| rows[self.stands[step]]).collect())
    }
}
