//! The loops around a barrier. Two arrivals at a barrier are at the same dynamic instance of it if their threads are in the
//! same iteration of each of these loops.

use wattle_memory::Set;
use wattle_modules::code::{Kernel, Op};

/// A loop: its first instruction, and all that are in it. A way out of a loop that SPIR-V declares is in it as far as no other way
/// leads there (SPIR-V 2.11 "Structured Control Flow"): what control comes to from the head alone, up to the instruction behind
/// the loop. A loop of PTX is what a jump back repeats; where two jump back to one place, the inner of two loops may be a wait,
/// whose turns say nothing about the barriers of the outer.
#[derive(Debug)]
pub(crate) struct Construct {
    pub head: u32,
    /// The jump with which an iteration begins; `None` where any from within does.
    pub jump: Option<u32>,
    pub inside: Set,
}

/// The loops of a kernel that have a barrier in them. The iterations of others say nothing about a barrier, and
/// counting them would tell apart a waiting thread's states, which are one.
#[derive(Debug)]
pub(crate) struct Structure(Vec<Construct>);

impl Structure {
    /// The loops of a kernel of PTX, of those that jumps back make.
    pub fn of_jumps(kernel: &Kernel, loops: Vec<Construct>) -> Structure {
        let converges =
            |op: &Op| matches!(op, Op::Barrier { aligned: true, .. } | Op::BarrierReduce { aligned: true, .. });
        let meets = |construct: &Construct| construct.inside.iter().any(|at| converges(&kernel.steps[at].op));
        Structure(loops.into_iter().filter(meets).collect())
    }

    /// The declared loops of a kernel whose instructions have these successors.
    pub fn declared(kernel: &Kernel, next: &[Vec<usize>]) -> Structure {
        let mut loops = kernel.loops.clone();
        loops.sort_unstable();
        loops.dedup();
        let constructs = loops.into_iter().map(|(head, behind)| {
            let outside = reached(next, 0, &[head as usize]);
            let mut inside = reached(next, head as usize, behind.map(|at| at as usize).as_slice());
            let others: Vec<usize> = inside.iter().filter(|&at| at != head as usize && outside.contains(at)).collect();
            others.into_iter().for_each(|at| inside.remove(at));
            Construct { head, jump: None, inside }
        });
        let meets = |construct: &Construct| {
            construct.inside.iter().any(|at| kernel.steps[at].op.outline(|_| {}, |_| {}).meeting.is_some())
        };
        Structure(constructs.filter(meets).collect())
    }

    /// Counts the iteration that a thread begins by going from one instruction to another, if it does; loops are known by their
    /// numbers.
    pub fn go(&self, from: u32, to: u32, iterations: &mut Vec<(u32, u32)>) {
        if self.0.iter().all(|construct| construct.head != to) {
            return;
        }
        iterations.retain(|&(number, _)| self.0[number as usize].inside.contains(to as usize));
        for (number, entered) in (0..).zip(&self.0).filter(|(_, construct)| construct.head == to) {
            let again = entered.inside.contains(from as usize);
            let begins = entered.jump.is_none_or(|jump| jump == from);
            match iterations.iter_mut().find(|(of, _)| *of == number) {
                Some((_, count)) => *count = if again { *count + u32::from(begins) } else { 0 },
                None => iterations.push((number, 0)),
            }
        }
    }

    /// The iterations that a thread with these counts is in, of each loop around an instruction.
    pub fn around(&self, at: u32, iterations: &[(u32, u32)]) -> Vec<u32> {
        let around = (0..).zip(&self.0).filter(|(_, construct)| construct.inside.contains(at as usize));
        let count = |number: u32| iterations.iter().find(|(of, _)| *of == number).map_or(0, |&(_, count)| count);
        around.map(|(number, _)| count(number)).collect()
    }
}

/// What control comes to from an instruction without passing one of these.
fn reached(next: &[Vec<usize>], from: usize, without: &[usize]) -> Set {
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
