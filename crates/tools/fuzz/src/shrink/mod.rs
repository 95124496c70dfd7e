//! Makes failing cases small.

mod alter;
mod tidy;
mod walk;

use std::time::{Duration, Instant};

use wattle_ir::Stmt;

use crate::case::{ArgumentValue, Case};
use crate::run::common_outcome;

/// The interleavings under which a smaller case must be clean.
const SEEDS: [u64; 2] = [1, 2];
/// How long a smaller case may run on the simulated device: one that lost the end of a loop runs for ever.
const TRIAL: Duration = Duration::from_millis(250);

/// The smallest case found within the time that still fails, where `still_fails` says whether one does.
///
/// What it tries: to leave out statements, to take a branch instead of an `if` and the body instead of a loop, to put
/// constants and operands in place of expressions, to launch fewer threads, to start from zeros, and to drop what
/// nothing uses. Each candidate is well typed and, if the case was so, clean on the simulated device (see
/// [`is_clean`](crate::is_clean)), without a fault where the case had none; only such ones are shown to `still_fails`.
pub fn shrink(case: &Case, time: Duration, mut still_fails: impl FnMut(&Case) -> bool) -> Case {
    let mut shrinker = Shrinker {
        best: case.clone(),
        still_fails: &mut still_fails,
        end: Instant::now().checked_add(time),
        kind: kind(case),
    };
    shrinker.all();
    let mut best = shrinker.best;
    if best != *case && !best.note.contains("shrunk") {
        best.note = format!("shrunk from {}", case.note);
    }
    best
}

struct Shrinker<'f> {
    best: Case,
    still_fails: &'f mut dyn FnMut(&Case) -> bool,
    end: Option<Instant>,
    kind: Kind,
}

/// What the cases must be like, by how they run on the simulated device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Unclean,
    CleanWithFaults,
    Clean,
}

fn kind(case: &Case) -> Kind {
    match common_outcome(case, &SEEDS, TRIAL) {
        Ok(Some(outcome)) if outcome.fault.is_some() => Kind::CleanWithFaults,
        Ok(_) => Kind::Clean,
        Err(_) => Kind::Unclean,
    }
}

impl Shrinker<'_> {
    /// All that can be tried, until nothing makes the case smaller.
    fn all(&mut self) {
        loop {
            let before = self.best.clone();
            self.remove_statements();
            self.unwrap_statements();
            self.tidy();
            self.shape();
            self.operands();
            self.expressions();
            self.arguments();
            self.tidy();
            if self.best == before || self.is_over() {
                return;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Takes the candidate if it is as it should be and still fails.
    fn attempt(&mut self, candidate: Case) -> bool {
        let good = !self.is_over()
            && candidate != self.best
            && candidate.check().is_ok()
            && (self.kind == Kind::Unclean || kind(&candidate) >= self.kind)
            && (self.still_fails)(&candidate);
        if good {
            self.best = candidate;
        }
        good
    }

    /// Leaves out statements: of each block all, halves, and so on down to single ones.
    fn remove_statements(&mut self) {
        let mut number = 0;
        while let Some(len) = walk::block_len(&mut self.best.kernel.body, number) {
            let (mut len, mut chunk) = (len, len);
            while chunk > 0 && !self.is_over() {
                let mut start = 0;
                while start < len {
                    let end = (start + chunk).min(len);
                    let mut candidate = self.best.clone();
                    walk::edit_block(&mut candidate.kernel.body, number, &mut |block| drop(block.drain(start..end)));
                    if self.attempt(candidate) {
                        len -= end - start;
                    } else {
                        start = end;
                    }
                }
                chunk /= 2;
            }
            number += 1;
        }
    }

    /// Puts what is within a statement in its place, or a simpler one.
    fn unwrap_statements(&mut self) {
        let mut number = 0;
        while let Some(len) = walk::block_len(&mut self.best.kernel.body, number) {
            // From the end, so that what is put in place of one does not move those that are to come.
            for at in (0..len).rev() {
                let mut inner: Vec<Vec<Stmt>> = Vec::new();
                walk::edit_block(&mut self.best.kernel.body, number, &mut |block| {
                    inner = block.get(at).map(alter::simpler_statements).unwrap_or_default();
                });
                for statements in inner {
                    let mut candidate = self.best.clone();
                    walk::edit_block(&mut candidate.kernel.body, number, &mut |block| {
                        block.splice(at..=at, statements.iter().cloned());
                    });
                    if self.attempt(candidate) {
                        break;
                    }
                }
            }
            number += 1;
        }
    }

    /// Puts simpler expressions where statements use some.
    fn operands(&mut self) {
        let mut number = 0;
        while let Some(used) = walk::operand(&mut self.best.kernel.body, number) {
            for simpler in alter::simpler_operands(&self.best.kernel, used) {
                let mut candidate = self.best.clone();
                let id = alter::add(&mut candidate.kernel, simpler);
                walk::set_operand(&mut candidate.kernel.body, number, id);
                if self.attempt(candidate) {
                    break;
                }
            }
            number += 1;
        }
    }

    /// Puts simpler expressions in the place of others, wherever they are used.
    fn expressions(&mut self) {
        let used = tidy::used_expressions(&self.best.kernel);
        for id in (0..used.len()).rev().filter(|&id| used[id]) {
            for simpler in alter::simpler_expressions(&self.best.kernel, id) {
                let mut candidate = self.best.clone();
                candidate.kernel.exprs[id] = simpler;
                if self.attempt(candidate) {
                    break;
                }
            }
        }
    }

    /// Drops what nothing uses: all at once, or else what is in no argument list.
    fn tidy(&mut self) {
        let all = tidy::tidied(&self.best, true);
        if !self.attempt(all) {
            let some = tidy::tidied(&self.best, false);
            self.attempt(some);
        }
    }

    /// Launches fewer threads, and fewer blocks.
    fn shape(&mut self) {
        for d in 0..self.best.kernel.rank {
            for part in [alter::Part::Blocks, alter::Part::Threads] {
                for fewer in [1, part.of(&self.best)[d] / 2, part.of(&self.best)[d] - 1] {
                    let mut candidate = self.best.clone();
                    let there = part.of_mut(&mut candidate);
                    if fewer > 0 && fewer < there[d] {
                        there[d] = fewer;
                        self.attempt(candidate);
                    }
                }
            }
        }
    }

    /// Starts from zeros, without anything around the views.
    fn arguments(&mut self) {
        for number in 0..self.best.arguments.len() {
            for simpler in alter::simpler_arguments(&self.best.arguments[number]) {
                let mut candidate = self.best.clone();
                candidate.arguments[number] = simpler;
                self.attempt(candidate);
            }
        }
        self.contents();
        self.extents();
    }

    /// Makes views of zeros smaller.
    fn extents(&mut self) {
        for number in 0..self.best.arguments.len() {
            for d in 0..wattle_ir::MAX_RANK {
                for by in [u32::MAX, 2, 1] {
                    let mut candidate = self.best.clone();
                    let ArgumentValue::View(view) = &mut candidate.arguments[number] else {
                        continue;
                    };
                    if view.contents.is_empty()
                        && let Some(extent @ 2..) = view.extent.get_mut(d)
                    {
                        *extent = if by == 1 { *extent - 1 } else { (*extent / by).max(1) };
                        self.attempt(candidate);
                    }
                }
            }
        }
    }

    /// Sets elements of buffers to zero, many at once at first.
    fn contents(&mut self) {
        for number in 0..self.best.arguments.len() {
            let ArgumentValue::View(view) = &self.best.arguments[number] else {
                continue;
            };
            let len = view.contents.len();
            let mut chunk = len.div_ceil(2);
            while chunk > 0 && !self.is_over() {
                for start in (0..len).step_by(chunk) {
                    let mut candidate = self.best.clone();
                    if let ArgumentValue::View(view) = &mut candidate.arguments[number] {
                        view.contents.iter_mut().skip(start).take(chunk).for_each(|raw| *raw = 0);
                    }
                    self.attempt(candidate);
                }
                // Single elements are not worth the time.
                chunk = if chunk > 8 { chunk / 2 } else { 0 };
            }
        }
    }
}
