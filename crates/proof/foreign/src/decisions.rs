//! Decisions that change nothing but how long a thread waits, and polls that are as good as the next one.
//!
//! libcu++ waits so (`cuda::atomic_ref::wait`, semaphores, latches, barriers): it polls some times, then looks at the
//! time, and sleeps the longer the longer it has waited. Where both ways of a branch come to one place, do nothing on
//! the way that others see, and leave no value behind that is read there, the branch decides nothing: a thread goes to
//! that place at once. What only such branches read, the number of its polls and the time, is dead then, and an
//! iteration that polls in vain leaves the thread as it was. (Dead code elimination with control dependence: Cytron,
//! Ferrante, Rosen, Wegman, Zadeck, "Efficiently Computing Static Single Assignment Form and the Control Dependence
//! Graph", TOPLAS 1991, section 7.1.)
//!
//! A loop that polls a fixed number of times is unrolled: one poll stands behind the other, and each goes to the same
//! place where it finds what it waits for. Then all but the last one can be passed over. What such a poll finds, the
//! next one may find too, since nothing stands between the two; and where a thread has passed it over, it may have
//! found what the next one does.

use wattle_memory::Set;
use wattle_modules::code::{Access, Guard, Kernel, NO_REG, Op, Reg, Special, Src, Step, Test};

use crate::liveness::live;

/// The most instructions on the ways of one branch.
const MOST_STEPS: usize = 256;

/// A branch whose ways do nothing that others see, and come to one place.
struct Decision {
    branch: usize,
    join: usize,
    /// The registers that are written on the ways.
    written: Vec<Reg>,
}

/// For each instruction that a thread passes over, the one to which it goes from there. `next` are all successors.
pub(crate) fn passed(kernel: &Kernel, next: &[Vec<usize>]) -> Vec<Option<usize>> {
    let is_choice = |step: &Step| step.guard.reg != NO_REG && matches!(step.op, Op::Branch { .. });
    let branches = (0..next.len()).filter(|&at| is_choice(&kernel.steps[at]));
    let mut idle: Vec<Decision> = branches.filter_map(|at| decision(kernel, next, at)).collect();
    loop {
        // All of them are taken for idle, until one is found to leave something behind.
        let mut passed = vec![None; next.len()];
        idle.iter().for_each(|of| passed[of.branch] = Some(of.join));
        let live = live(kernel, &successors(next, &passed));
        let before = idle.len();
        idle.retain(|of| of.written.iter().all(|&register| !live[of.join].contains(register as usize)));
        if idle.len() == before {
            for (poll, again) in (0..next.len()).filter_map(|at| Some((at, repeated(kernel, next, &live, at)?))) {
                passed[poll] = Some(again);
            }
            return passed;
        }
    }
}

/// The successors of instructions of which some are passed over.
pub(crate) fn successors(next: &[Vec<usize>], passed: &[Option<usize>]) -> Vec<Vec<usize>> {
    next.iter().zip(passed).map(|(next, passed)| passed.map_or_else(|| next.clone(), |to| vec![to])).collect()
}

/// The decision that a branch is, if its ways come to one place, the first such, and do nothing on the way that others
/// see.
fn decision(kernel: &Kernel, next: &[Vec<usize>], branch: usize) -> Option<Decision> {
    // What may be done first on the ways that others see lies behind the place, or is the place.
    let mut candidates = next[branch].clone();
    let mut number = 0;
    while let Some(&at) = candidates.get(number) {
        number += 1;
        if let Some(on_ways) = ways_to(kernel, next, branch, at) {
            let mut written = Vec::new();
            for at in on_ways.iter() {
                kernel.steps[at].op.outline(|_| {}, |register| written.push(register));
            }
            return Some(Decision { branch, join: at, written });
        }
        if is_idle(&kernel.steps[at]) && at != branch && candidates.len() < MOST_STEPS {
            let new: Vec<usize> = next[at].iter().copied().filter(|target| !candidates.contains(target)).collect();
            candidates.extend(new);
        }
    }
    None
}

/// The instructions on the ways from a branch to a place, if all ways come there without doing anything before that
/// others see.
fn ways_to(kernel: &Kernel, next: &[Vec<usize>], branch: usize, join: usize) -> Option<Set> {
    let (mut on_ways, mut done) = (Set::new(next.len()), Set::new(next.len()));
    // The instructions of the way that is gone, each with the number of its successors that have been gone to.
    let mut way = vec![(branch, 0)];
    while let Some((at, gone)) = way.last_mut() {
        let Some(&target) = next[*at].get(*gone) else {
            done.insert(*at);
            way.pop();
            continue;
        };
        *gone += 1;
        if target == join || done.contains(target) {
            continue;
        }
        // A way that ends, or comes to where it has been, may never come to the place.
        let ends = next[target].is_empty() || way.iter().any(|&(at, _)| at == target);
        if ends || !is_idle(&kernel.steps[target]) || way.len() > MOST_STEPS {
            return None;
        }
        on_ways.insert(target);
        way.push((target, 0));
    }
    Some(on_ways)
}

/// Whether an instruction does nothing that others see, and gives the same to whoever is there.
fn is_idle(step: &Step) -> bool {
    let asks_others = matches!(step.op, Op::Special { which: Special::Active, .. });
    !asks_others && (step.op.only_computes() || matches!(step.op, Op::Yield | Op::Hint | Op::Branch { .. }))
}

/// A load, a comparison of what it gives, and a branch.
struct Poll<'k> {
    access: &'k Access,
    test: Test,
    with: Compared,
    /// The branch: the predicate, and where it goes.
    branch: (Guard, usize),
    results: [Reg; 2],
}

/// What a load is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compared {
    Register(Reg),
    Constant(u64),
}

impl Poll<'_> {
    fn at(kernel: &Kernel, at: usize) -> Option<Poll<'_>> {
        let [load, test, branch] = kernel.steps.get(at..at + 3)? else { return None };
        let unguarded = [load, test].iter().all(|step| step.guard.reg == NO_REG);
        let (Op::Load { access, d }, Op::Test { f, d: holds, a, b, .. }) = (&load.op, &test.op) else { return None };
        let (Op::Branch { target }, true) = (&branch.op, unguarded && branch.guard.reg == *holds) else { return None };
        let is_one = access.strength.is_strong() && *a == Src::reg(*d) && *b != *a && access.base != *a;
        let branch = (branch.guard, *target as usize);
        let constant = || Compared::Constant(b.get::<u64>(&[], &kernel.constants));
        let with = b.as_reg().map_or_else(constant, Compared::Register);
        is_one.then_some(Poll { access, test: *f, with, branch, results: [*d, *holds] })
    }

    fn is_like(&self, other: &Poll<'_>) -> bool {
        let place = |access: &Access| (access.space, access.bytes, access.base, access.offset, access.sign_to);
        place(self.access) == place(other.access)
            && self.access.strength == other.access.strength
            && std::ptr::fn_addr_eq(self.test, other.test)
            && self.with == other.with
            && (self.branch.0.negated, self.branch.1) == (other.branch.0.negated, other.branch.1)
    }
}

/// The poll behind one that is as good as that one: it finds the same, and leads to the same place.
fn repeated(kernel: &Kernel, next: &[Vec<usize>], live: &[Set], at: usize) -> Option<usize> {
    let poll = Poll::at(kernel, at)?;
    let again = at + 3;
    let other = Poll::at(kernel, again).filter(|other| poll.is_like(other))?;
    let is_alone = [at + 1, at + 2, again].iter().all(|&inside| {
        let comes = next.iter().enumerate().filter(|(_, targets)| targets.contains(&inside));
        comes.map(|(from, _)| from).eq([inside - 1])
    });
    let leaves_nothing = poll.results.iter().all(|&register| {
        let is_read = other.access.base.as_reg() == Some(register) || other.with == Compared::Register(register);
        !is_read && !live[poll.branch.1].contains(register as usize) && !live[again].contains(register as usize)
    });
    (is_alone && leaves_nothing).then_some(again)
}
