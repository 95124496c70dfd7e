//! The enumeration of small programs.

use std::collections::BTreeMap;

use wattle_memory::{FenceOrder, LoadOrder, RmwOrder, Scope, StoreOrder};

use crate::source::Statement;

/// The family of programs to enumerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Programs of atomics alone, each within the other thread's scope, without guards.
    Strong,
    /// Programs of plain and atomic places, with at least one guard.
    Guarded,
    /// Guarded programs with places that are accessed both ways.
    Mixed,
}

/// The position of a statement in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Only,
    First,
    Middle,
    Last,
}

/// The form of a statement, without its place and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    PlainLoad,
    PlainStore,
    Load(u8),
    Store(u8),
    Exchange(u8),
    Failed(u8),
    Fence(u8),
}

const LOADS: [LoadOrder; 3] = [LoadOrder::Relaxed, LoadOrder::Acquire, LoadOrder::SeqCst];
const STORES: [StoreOrder; 3] = [StoreOrder::Relaxed, StoreOrder::Release, StoreOrder::SeqCst];
const UPDATES: [RmwOrder; 5] =
    [RmwOrder::Relaxed, RmwOrder::Acquire, RmwOrder::Release, RmwOrder::AcqRel, RmwOrder::SeqCst];
const FENCES: [FenceOrder; 4] = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];

/// The forms that a place has to be tried with. In a mixed program a first write may release and a last read acquire:
/// the coherence of its own location does not suffice for a plain access of that location.
fn forms(family: Family, place: Place) -> Vec<Form> {
    let mixed = family == Family::Mixed;
    let (loads, stores, updates): (&[u8], &[u8], &[u8]) = match (place, mixed) {
        (Place::Only, false) => (&[0], &[0], &[0]),
        (Place::First, false) => (&[0, 1], &[0], &[0, 1]),
        (Place::Last, false) => (&[0, 2], &[0, 1, 2], &[0, 2, 4]),
        (Place::Only | Place::First, true) => (&[0, 1], &[0, 1], &[0, 1, 2, 3]),
        _ => (&[0, 1, 2], &[0, 1, 2], &[0, 1, 2, 3, 4]),
    };
    let mut forms = Vec::new();
    if family != Family::Strong {
        forms.extend([Form::PlainLoad, Form::PlainStore]);
    }
    forms.extend(loads.iter().map(|&order| Form::Load(order)));
    forms.extend(stores.iter().map(|&order| Form::Store(order)));
    forms.extend(updates.iter().map(|&order| Form::Exchange(order)));
    if family == Family::Strong {
        forms.extend(updates.iter().map(|&order| Form::Failed(order)));
    }
    if place == Place::Middle {
        forms.extend((0..4).map(Form::Fence));
    }
    forms
}

/// One statement of a thread; `guard` is 0 for none, or one more than the number of the required value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    form: Form,
    cell: u8,
    guard: u8,
}

impl Step {
    fn writes(&self) -> bool {
        matches!(self.form, Form::PlainStore | Form::Store(_) | Form::Exchange(_))
    }

    fn reads(&self) -> bool {
        matches!(self.form, Form::PlainLoad | Form::Load(_) | Form::Exchange(_) | Form::Failed(_))
    }

    fn is_load(&self) -> bool {
        self.reads() && !self.writes()
    }

    fn is_plain(&self) -> bool {
        matches!(self.form, Form::PlainLoad | Form::PlainStore)
    }

    fn is_fence(&self) -> bool {
        matches!(self.form, Form::Fence(_))
    }
}

/// The lengths of the two threads, longer one first, shortest programs first.
pub const SHAPES: [(usize, usize); 6] = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)];

/// All threads of that length, with their forms, places and guards.
fn threads(family: Family, length: usize) -> Vec<Vec<Step>> {
    let mut all: Vec<Vec<Step>> = vec![Vec::new()];
    for at in 0..length {
        let place = match (length, at) {
            (1, _) => Place::Only,
            (_, 0) => Place::First,
            (length, at) if at + 1 == length => Place::Last,
            _ => Place::Middle,
        };
        let forms = forms(family, place);
        let mut longer = Vec::new();
        for thread in &all {
            for &form in &forms {
                let step = Step { form, cell: 0, guard: 0 };
                let cells = if step.is_fence() { 1 } else { 3 };
                // The values that a guard can require: the initial one, and those of the other thread's writes.
                let guards = if family != Family::Strong && step.reads() && at + 1 < length { 5 } else { 1 };
                for cell in 0..cells {
                    for guard in 0..guards {
                        let mut thread = thread.clone();
                        thread.push(Step { form, cell, guard });
                        longer.push(thread);
                    }
                }
            }
        }
        all = longer;
    }
    all
}

/// The properties that decide whether two threads make a program of the family. Sets of places are bits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Role {
    used: u8,
    written: u8,
    /// The places that are loaded, so that the other thread has to write them.
    loaded: u8,
    plain: u8,
    atomic: u8,
    /// The place that each statement writes.
    writes: [Option<u8>; 3],
    /// The statements of the other thread whose value guards require, and their places.
    wanted: Vec<(usize, u8)>,
    guarded: bool,
}

impl Role {
    fn of(thread: &[Step]) -> Role {
        let set = |holds: fn(&Step) -> bool| {
            thread.iter().filter(|step| !step.is_fence() && holds(step)).fold(0, |set, step| set | 1 << step.cell)
        };
        let mut wanted: Vec<_> =
            thread.iter().filter(|step| step.guard > 1).map(|step| (step.guard as usize - 2, step.cell)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let writes = [0, 1, 2].map(|at| thread.get(at).filter(|step| step.writes()).map(|step| step.cell));
        Role {
            used: set(|_| true),
            written: set(Step::writes),
            loaded: set(Step::is_load),
            plain: set(Step::is_plain),
            atomic: set(|step| !step.is_plain()),
            writes,
            wanted,
            guarded: thread.iter().any(|step| step.guard > 0),
        }
    }

    /// Whether the two threads make a program of the family.
    fn meets(&self, other: &Role, family: Family) -> bool {
        let comes = |wanted: &[(usize, u8)], writes: &[Option<u8>; 3]| {
            wanted.iter().all(|&(at, cell)| writes[at] == Some(cell))
        };
        let (plain, atomic) = (self.plain | other.plain, self.atomic | other.atomic);
        let fits = match family {
            Family::Strong => true,
            Family::Guarded => plain != 0 && plain & atomic == 0 && (self.guarded || other.guarded),
            Family::Mixed => plain & atomic != 0,
        };
        fits && self.used == other.used
            && self.used == self.written | other.written
            && self.loaded & !other.written == 0
            && other.loaded & !self.written == 0
            && comes(&self.wanted, &other.writes)
            && comes(&other.wanted, &self.writes)
    }
}

/// Whether places are numbered in the order of their first use.
fn is_numbered(thread: &[Step]) -> bool {
    let mut known = 0;
    thread.iter().filter(|step| !step.is_fence()).all(|step| {
        let next = step.cell <= known;
        known = known.max(step.cell + 1);
        next
    })
}

/// The same program with its threads swapped, and its places renumbered.
fn swapped(threads: [&[Step]; 2]) -> [Vec<Step>; 2] {
    let mut names = [u8::MAX; 3];
    let mut known = 0;
    [threads[1], threads[0]].map(|steps| {
        let rename = |step: &Step| {
            if step.is_fence() {
                return *step;
            }
            let name = &mut names[step.cell as usize];
            if *name == u8::MAX {
                *name = known;
                known += 1;
            }
            Step { cell: *name, ..*step }
        };
        steps.iter().map(rename).collect()
    })
}

fn statements(thread: usize, steps: &[Step]) -> Vec<Statement> {
    let scope = Scope::Device;
    let mut statements = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let (cell, value) = (u64::from(step.cell), (1 + 3 * thread + at) as u64);
        let statement = statements.len();
        statements.push(match step.form {
            Form::PlainLoad => Statement::PlainLoad { cell },
            Form::PlainStore => Statement::PlainStore { cell, value },
            Form::Load(order) => Statement::Load { cell, order: LOADS[order as usize], scope },
            Form::Store(order) => Statement::Store { cell, value, order: STORES[order as usize], scope },
            Form::Exchange(order) => Statement::Exchange { cell, value, order: UPDATES[order as usize], scope },
            Form::Failed(order) => Statement::FailedExchange { cell, order: UPDATES[order as usize], scope },
            Form::Fence(order) => Statement::Fence { order: FENCES[order as usize], scope },
        });
        if step.guard > 0 {
            let wanted = if step.guard == 1 { 0 } else { 3 * (1 - thread as u64) + u64::from(step.guard) - 1 };
            statements.push(Statement::Guard { statement, value: wanted });
        }
    }
    statements
}

/// All programs of a family with threads of two lengths.
pub struct Programs {
    symmetric: bool,
    firsts: Vec<Vec<Vec<Step>>>,
    seconds: Vec<Vec<Vec<Step>>>,
    /// The pairs of groups that make programs, each with the number of its first program.
    pairs: Vec<(usize, usize, u64)>,
    len: u64,
}

impl Programs {
    pub fn new(family: Family, (first, second): (usize, usize)) -> Programs {
        let mut groups: [BTreeMap<Role, Vec<Vec<Step>>>; 2] = Default::default();
        for thread in threads(family, first).into_iter().filter(|thread| is_numbered(thread)) {
            groups[0].entry(Role::of(&thread)).or_default().push(thread);
        }
        for thread in threads(family, second) {
            groups[1].entry(Role::of(&thread)).or_default().push(thread);
        }
        let (mut pairs, mut len) = (Vec::new(), 0);
        for (a, (role, firsts)) in groups[0].iter().enumerate() {
            for (b, (other, seconds)) in groups[1].iter().enumerate() {
                if role.meets(other, family) {
                    pairs.push((a, b, len));
                    len += firsts.len() as u64 * seconds.len() as u64;
                }
            }
        }
        let [firsts, seconds] = groups.map(|groups| groups.into_values().collect());
        Programs { symmetric: first == second, firsts, seconds, pairs, len }
    }

    /// The number of programs; where both threads have one length, each program but the symmetric ones counts twice.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The program with this number; `None` if it equals another one with its threads swapped.
    pub fn get(&self, number: u64) -> Option<[Vec<Statement>; 2]> {
        let pair = self.pairs.partition_point(|&(_, _, first)| first <= number) - 1;
        let (a, b, first) = self.pairs[pair];
        let (firsts, seconds) = (&self.firsts[a], &self.seconds[b]);
        let at = (number - first) as usize;
        let (a, b) = (&firsts[at / seconds.len()], &seconds[at % seconds.len()]);
        if self.symmetric && swapped([a, b]) < [a.clone(), b.clone()] {
            return None;
        }
        Some([statements(0, a), statements(1, b)])
    }
}
