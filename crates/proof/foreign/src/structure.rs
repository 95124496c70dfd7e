//! The loops around a barrier. Two arrivals at a barrier are at the same dynamic instance of it if their threads are in
//! the same iteration of each of these loops.

use wattle_memory::Set;
use wattle_modules::code::{Kernel, Op};

/// A loop: its first instruction, and all that are in it. A way out of a loop that SPIR-V declares is in it as far as
/// no other way leads there (SPIR-V 2.11 "Structured Control Flow"): what control comes to from the head alone, up to
/// the instruction behind the loop. In PTX it is what the jumps back to its head repeat.
#[derive(Debug)]
pub(crate) struct Construct {
    pub head: u32,
    pub inside: Set,
}

/// How the loops of a kernel are known in whose iterations its threads meet at barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Iterations {
    /// The module declares them, as SPIR-V does.
    Declared,
    /// Each is that of the kernel's source, as in what Wattle emits.
    OfSource,
    /// A compiler has made of them what it liked: one of them may be several here, and several may be one.
    Unknown,
}

/// The loops of a kernel that have a barrier in them. The iterations of others say nothing about a barrier, and
/// counting them would tell apart a waiting thread's states, which are one.
#[derive(Debug)]
pub(crate) struct Structure(Vec<Construct>);

impl Structure {
    /// The loops of a kernel whose instructions have these successors, and whose jumps back repeat these.
    pub fn of(kernel: &Kernel, next: &[Vec<usize>], repeated: Vec<Construct>, known: Iterations) -> Structure {
        let loops = match known {
            Iterations::Declared => Structure::declared(kernel, next),
            Iterations::OfSource => repeated,
            Iterations::Unknown => Vec::new(),
        };
        let converges = |op: &Op| match known {
            Iterations::Declared => op.outline(|_| {}, |_| {}).meeting.is_some(),
            // What lanes of a mask do together may stand at different places.
            Iterations::OfSource | Iterations::Unknown => {
                matches!(op, Op::Barrier { aligned: true, .. } | Op::BarrierReduce { aligned: true, .. })
            }
        };
        let meets = |construct: &Construct| construct.inside.iter().any(|at| converges(&kernel.steps[at].op));
        Structure(loops.into_iter().filter(meets).collect())
    }

    fn declared(kernel: &Kernel, next: &[Vec<usize>]) -> Vec<Construct> {
        let mut loops = kernel.loops.clone();
        loops.sort_unstable();
        loops.dedup();
        let constructs = loops.into_iter().map(|(head, behind)| {
            let outside = reached_without(next, 0, &[head as usize]);
            let mut inside = reached_without(next, head as usize, behind.map(|at| at as usize).as_slice());
            let others: Vec<usize> = inside.iter().filter(|&at| at != head as usize && outside.contains(at)).collect();
            others.into_iter().for_each(|at| inside.remove(at));
            Construct { head, inside }
        });
        constructs.collect()
    }

    /// Counts the iteration that a thread begins by going from one instruction to another, if it does.
    pub fn go(&self, from: u32, to: u32, iterations: &mut Vec<(u32, u32)>) {
        let Some(entered) = self.0.iter().find(|construct| construct.head == to) else { return };
        let is_inside = |head: u32| self.0.iter().any(|of| of.head == head && of.inside.contains(to as usize));
        iterations.retain(|&(head, _)| is_inside(head));
        match iterations.iter_mut().find(|(head, _)| *head == to) {
            Some((_, count)) => *count = if entered.inside.contains(from as usize) { *count + 1 } else { 0 },
            None => iterations.push((to, 0)),
        }
    }

    /// The iterations that a thread with these counts is in, of each loop around an instruction.
    pub fn around(&self, at: u32, iterations: &[(u32, u32)]) -> Vec<u32> {
        let around = self.0.iter().filter(|construct| construct.inside.contains(at as usize));
        let count = |head: u32| iterations.iter().find(|(of, _)| *of == head).map_or(0, |&(_, count)| count);
        around.map(|construct| count(construct.head)).collect()
    }
}

/// What control comes to from an instruction without passing one of these.
pub(crate) fn reached_without(next: &[Vec<usize>], from: usize, without: &[usize]) -> Set {
    let mut reached = Set::new(next.len());
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if !without.contains(&at) && !reached.contains(at) {
            reached.insert(at);
            open.extend(&next[at]);
        }
    }
    reached
}

/// The instructions that may come behind one.
pub(crate) fn reached(next: &[Vec<usize>], from: usize) -> Vec<bool> {
    let (mut seen, mut open) = (vec![false; next.len()], next[from].clone());
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(&next[at]);
        }
    }
    seen
}
