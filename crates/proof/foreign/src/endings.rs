//! Loops that end whatever memory holds, although a way out of them depends on it.
//!
//! Each turn of such a loop takes a counter one step up or down, and comes to a jump out of the loop where the counter
//! has come to a value that the loop does not change: `while (flag == 0 && tries < 8) tries++;`. In steps of one a
//! counter comes to every value, so that it makes no difference whether it is compared before its step or behind it,
//! and as signed or as unsigned.

use wattle_memory::Set;
use wattle_modules::code::{Bin, Kernel, NO_REG, Op, Reg, Src, Un};

/// The most instructions through which a value is followed.
const MOST_STEPS: usize = 8;

/// The instructions of a loop, in which the jumps back to its head are.
pub(crate) struct Turn<'k> {
    pub kernel: &'k Kernel,
    pub next: &'k [Vec<usize>],
    pub head: usize,
    pub jumps: &'k [usize],
    pub body: &'k Set,
}

/// The direction in which a counter goes.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    Up,
    Down,
}

impl Turn<'_> {
    /// Whether there is a last turn.
    pub fn is_limited(&self) -> bool {
        self.body.iter().any(|at| self.leaves_in_the_end(at))
    }

    /// Whether each turn comes to this jump, which leaves the loop once a counter has come to a value.
    fn leaves_in_the_end(&self, at: usize) -> bool {
        let step = &self.kernel.steps[at];
        let Some(target) = step.target().filter(|_| step.guard.reg != NO_REG) else { return false };
        let leaves = |to: usize| !self.body.contains(to);
        // What the predicate is where the jump leaves the loop.
        let leaving = match (leaves(target), leaves(at + 1)) {
            (true, false) => !step.guard.negated,
            (false, true) => step.guard.negated,
            (true, true) | (false, false) => return false,
        };
        self.is_always(at) && self.comes_to_be(step.guard.reg, leaving, at)
    }

    /// Whether a predicate is the comparison of a counter with a value that stays, and comes to be so in the end.
    fn comes_to_be(&self, predicate: Reg, mut value: bool, mut at: usize) -> bool {
        let mut predicate = Some(predicate);
        for _ in 0..MOST_STEPS {
            let Some(set) = predicate.and_then(|reg| self.only_set(reg)).filter(|&set| self.comes_before(set, at))
            else {
                return false;
            };
            at = set;
            match &self.kernel.steps[set].op {
                Op::Mov { a, .. } => predicate = a.as_reg(),
                Op::Un { f, a, .. } if is_not(*f) => (predicate, value) = (a.as_reg(), !value),
                &Op::Test { f, a, b, .. } => return self.compares(f, (a, b), set) == Some(value),
                // A comparison of SPIR-V, or a negation by `xor` with 1.
                &Op::Bin { f, a, b, .. } => {
                    if let Some(comes) = self.compares(|x, y| f(x, y) == 1, (a, b), set) {
                        return comes == value;
                    }
                    match self.constant(b).map(|with| (f(0, with), f(1, with))) {
                        Some((0, 1)) => predicate = a.as_reg(),
                        Some((1, 0)) => (predicate, value) = (a.as_reg(), !value),
                        Some(_) | None => return false,
                    }
                }
                _ => return false,
            }
        }
        false
    }

    /// What the comparison of a counter with a value that stays comes to be in the end, if the operands are these.
    fn compares(&self, f: impl Fn(u64, u64) -> bool, (a, b): (Src, Src), at: usize) -> Option<bool> {
        let (counts, grows) = match (self.counts(a, at), self.counts(b, at)) {
            (Some(counts), None) if self.stays(b) => (counts, true),
            (None, Some(counts)) if self.stays(a) => (counts, false),
            _ => return None,
        };
        let grows = (counts == Counts::Up) == grows;
        match [f(4, 5), f(5, 5), f(6, 5)] {
            [false, true, false] => Some(true),
            [true, false, true] => Some(false),
            // <, and >=
            [true, false, false] if grows => Some(false),
            [false, true, true] if grows => Some(true),
            // >, and <=
            [false, false, true] if !grows => Some(false),
            [true, true, false] if !grows => Some(true),
            _ => None,
        }
    }

    /// How a value counts that is a counter's when the instruction reads it, before its step or behind it.
    fn counts(&self, value: Src, at: usize) -> Option<Counts> {
        let (mut reg, mut at) = (value.as_reg()?, at);
        for _ in 0..MOST_STEPS {
            if let Some(counts) = self.counter(reg) {
                return Some(counts);
            }
            let set = self.only_set(reg).filter(|&set| self.comes_before(set, at))?;
            reg = match &self.kernel.steps[set].op {
                Op::Mov { a, .. } => a.as_reg()?,
                // The value behind the step, before the counter has it.
                &Op::Bin { f, a, b, .. } => {
                    self.step_by(f, b)?;
                    a.as_reg()?
                }
                _ => return None,
            };
            at = set;
        }
        None
    }

    /// How a register counts, if each turn takes it one step and nothing else sets it.
    fn counter(&self, reg: Reg) -> Option<Counts> {
        let mut at = self.only_set(reg)?;
        if !self.is_always(at) {
            return None;
        }
        let mut counts = None;
        for _ in 0..MOST_STEPS {
            let from = match &self.kernel.steps[at].op {
                Op::Mov { a, .. } => a.as_reg()?,
                &Op::Bin { f, a, b, .. } if counts.is_none() => {
                    counts = Some(self.step_by(f, b)?);
                    a.as_reg()?
                }
                _ => return None,
            };
            if from == reg {
                return counts;
            }
            at = self.only_set(from).filter(|&set| self.comes_before(set, at))?;
        }
        None
    }

    /// The step that a function makes with this second operand, if it makes one.
    fn step_by(&self, f: Bin, by: Src) -> Option<Counts> {
        let by = self.constant(by)?;
        let values = [0, 1, 2, 41, u64::from(u32::MAX) - 1, 1 << 31];
        let is = |mask: u64, step: u64| values.iter().all(|&x| f(x, by) == x.wrapping_add(step) & mask);
        let takes = |step: u64| is(u64::MAX, step) || is(u32::MAX.into(), step);
        if takes(1) { Some(Counts::Up) } else { takes(u64::MAX).then_some(Counts::Down) }
    }

    /// The one instruction of the loop that sets a register, if it does so always.
    fn only_set(&self, reg: Reg) -> Option<usize> {
        let mut sets = self.body.iter().filter(|&at| self.sets(at, reg));
        sets.next().filter(|&at| sets.next().is_none() && self.kernel.steps[at].guard.reg == NO_REG)
    }

    fn sets(&self, at: usize, reg: Reg) -> bool {
        let mut sets = false;
        self.kernel.steps[at].op.outline(|_| {}, |set| sets |= set == reg);
        sets
    }

    /// Whether the loop does not change an operand.
    fn stays(&self, value: Src) -> bool {
        value.as_reg().is_none_or(|reg| !self.body.iter().any(|at| self.sets(at, reg)))
    }

    fn constant(&self, value: Src) -> Option<u64> {
        value.as_reg().is_none().then(|| value.get::<u64>(&[], &self.kernel.constants))
    }

    /// Whether each turn comes to an instruction.
    fn is_always(&self, at: usize) -> bool {
        !self.jumps.iter().any(|&jump| self.comes_without(at, jump))
    }

    /// Whether a turn that comes to the second of two instructions has come to the first one.
    fn comes_before(&self, first: usize, second: usize) -> bool {
        first != second && !self.comes_without(first, second)
    }

    /// Whether a turn can come to an instruction without this one.
    fn comes_without(&self, without: usize, to: usize) -> bool {
        let (mut seen, mut open) = (Set::new(self.next.len()), vec![self.head]);
        while let Some(at) = open.pop() {
            if at != without && self.body.contains(at) && !seen.contains(at) {
                seen.insert(at);
                // The turn ends where it comes back.
                open.extend(self.next[at].iter().filter(|&&next| next != self.head));
            }
        }
        seen.contains(to)
    }
}

/// Whether a function negates a predicate.
fn is_not(f: Un) -> bool {
    (f(0), f(1)) == (1, 0)
}
