//! Liveness of a thread's words at the heads of loops and behind requests.
//!
//! A word is live where some path from there reads it before anything sets it. A model checker takes two threads for
//! the same when they stand at one place with equal live words, so what an iteration leaves behind in
//! temporaries must not distinguish them. A private array counts as one: it is live if any later access may read it,
//! and only a load of lanes sets the whole of it.

use std::collections::HashMap;
use std::ops::Range;

use wattle_ir::{LocalId, Place};

use crate::Program;
use crate::action::Action;
use crate::code::{Destination, Instr, Next, Op, Operand};

/// The words that are dead before instructions, as ranges in order: of those for which `asks`.
pub(crate) fn dead_before(program: &Program, asks: impl Fn(u32) -> bool) -> HashMap<u32, Vec<Range<usize>>> {
    let instrs: Vec<u32> = (0..program.code.len() as u32).filter(|&number| asks(number)).collect();
    let mut all = HashMap::with_capacity(instrs.len());
    let Some(&first) = instrs.first() else { return all };
    let targets = live_at_targets(program);
    let mut live = Set::new(program.kernel.slots.len() + program.locals.len());
    for (number, instr) in program.code.iter().enumerate().skip(first as usize).rev() {
        before(program, instr, &targets, &mut live);
        if asks(number as u32) {
            all.insert(number as u32, dead(program, &live));
        }
    }
    all
}

/// The words of all slots and arrays that are not among the live ones.
fn dead(program: &Program, live: &Set) -> Vec<Range<usize>> {
    let slots = program.kernel.slots.len();
    let arrays = (0..program.locals.len()).map(|number| program.words_of(LocalId(number as u32)));
    let words = (0..slots).map(|slot| slot..slot + 1).chain(arrays);
    let mut dead: Vec<Range<usize>> = Vec::new();
    for (unit, words) in words.enumerate() {
        match dead.last_mut() {
            _ if live.contains(unit) || words.is_empty() => {}
            Some(last) if last.end == words.start => last.end = words.end,
            _ => dead.push(words),
        }
    }
    dead
}

/// The slots and arrays that are live before each instruction that a jump goes to.
///
/// Each pass goes through the code once, backwards, so that only a jump backwards has to wait for another: there are
/// about as many passes as loops are nested.
fn live_at_targets(program: &Program) -> HashMap<u32, Set> {
    let units = program.kernel.slots.len() + program.locals.len();
    let targets = program.code.iter().filter_map(|instr| match instr.op.parts().next {
        Next::Target(target) | Next::Either(target) => Some(target),
        Next::Following | Next::End => None,
    });
    let mut at: HashMap<u32, Set> = targets.map(|target| (target, Set::new(units))).collect();
    loop {
        let (mut changed, mut live) = (false, Set::new(units));
        for (number, instr) in program.code.iter().enumerate().rev() {
            before(program, instr, &at, &mut live);
            if let Some(before) = at.get_mut(&(number as u32))
                && *before != live
            {
                before.clone_from(&live);
                changed = true;
            }
        }
        if !changed {
            return at;
        }
    }
}

/// Turns what is live after an instruction into what is live before it.
fn before(program: &Program, instr: &Instr, targets: &HashMap<u32, Set>, live: &mut Set) {
    match instr.op.parts().next {
        Next::Following => {}
        Next::Target(target) => {
            live.clear();
            live.extend(targets.get(&target));
        }
        Next::Either(target) => live.extend(targets.get(&target)),
        Next::End => live.clear(),
    }
    if let Some(unit) = set_by(program, instr) {
        live.remove(unit);
    }
    read_by(program, instr, live);
}

fn array(program: &Program, place: Place) -> Option<usize> {
    match place {
        Place::Local(id) => Some(program.kernel.slots.len() + id.index()),
        Place::Param(_) | Place::Shared(_) => None,
    }
}

/// The slot or array that is wholly set by an instruction, whatever happens: what an access out of bounds or a
/// division by zero would have given is 0.
fn set_by(program: &Program, instr: &Instr) -> Option<usize> {
    match instr.op {
        Op::Access(number) => match program.accesses.get(number as usize)?.parts().answer? {
            Destination::Slot(slot) => Some(slot as usize),
            Destination::Array(id) => array(program, Place::Local(id)),
        },
        op => op.parts().slot.map(|slot| slot as usize),
    }
}

/// Adds the slots and arrays that an instruction reads.
fn read_by(program: &Program, instr: &Instr, live: &mut Set) {
    for operand in program.operands_of(instr) {
        if let Operand::Slot(slot) = operand {
            live.insert(slot as usize);
        }
    }
    let Some(access) = program.access_of(instr) else { return };
    if let (Action::Plain { store: false, .. }, Some(array)) = (access.parts().action, array(program, access.place)) {
        live.insert(array);
    }
}

/// A set of small numbers below a bound; others are never in it.
#[derive(Clone, Debug, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn new(bound: usize) -> Set {
        Set(vec![0; bound.div_ceil(64)])
    }

    fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|bits| bits >> (number % 64) & 1 != 0)
    }

    fn insert(&mut self, number: usize) {
        if let Some(bits) = self.0.get_mut(number / 64) {
            *bits |= 1 << (number % 64);
        }
    }

    fn remove(&mut self, number: usize) {
        if let Some(bits) = self.0.get_mut(number / 64) {
            *bits &= !(1 << (number % 64));
        }
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn extend(&mut self, other: Option<&Set>) {
        if let Some(other) = other {
            self.0.iter_mut().zip(&other.0).for_each(|(bits, other)| *bits |= other);
        }
    }
}
