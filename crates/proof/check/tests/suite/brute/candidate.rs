//! Builds every candidate execution of a program: each path through its threads, each source of each read.

use wattle_memory::{Label, Model};

use super::completion::{Kind, Reads, Runs};
use crate::script::{Op, Program, Value};

/// An operation; a read-modify-write is one, not two.
#[derive(Clone, Debug)]
pub struct Event {
    pub thread: usize,
    /// Its statement, by its place in the thread.
    op: usize,
    pub cell: Option<u64>,
    pub read: Option<Label>,
    pub write: Option<Label>,
    pub fence: Option<Label>,
    /// The written value, if any.
    written: Option<Formula>,
    /// The reads that decided whether this event happens.
    control: Vec<usize>,
}

/// A sum of a constant and the values of earlier reads.
#[derive(Clone, Debug)]
struct Formula {
    constant: u64,
    reads: Vec<usize>,
}

/// A condition under which a thread takes this path: whether a read's value is the given one.
#[derive(Clone, Debug)]
struct Condition {
    read: usize,
    value: u64,
    equal: bool,
}

/// The threads' events, each thread's in program order, and the source of each read; `None` is the initial value.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub events: Vec<Event>,
    pub source: Vec<Option<usize>>,
    pub registers: Vec<Vec<u64>>,
}

/// A path through some threads.
#[derive(Clone, Default)]
struct Way {
    events: Vec<Event>,
    conditions: Vec<Condition>,
    /// For each thread the read from which each register comes.
    registers: Vec<Vec<Option<usize>>>,
}

pub fn candidates(program: &Program, model: Model) -> Vec<Candidate> {
    let runs = Runs::of(program, model);
    let candidate = |way: &Way, source| candidate(way, source, &runs);
    ways(program).iter().flat_map(|way| sources(way).into_iter().filter_map(|source| candidate(way, source))).collect()
}

/// The candidates that there are where no write depends on any read; what bears itself has one of the values `tried`.
pub fn candidates_without_dependencies(program: &Program, tried: &[u64]) -> Vec<Candidate> {
    let candidates = |way: &Way, source| without_dependencies(way, source, tried);
    ways(program).iter().flat_map(|way| sources(way).into_iter().flat_map(|source| candidates(way, source))).collect()
}

/// The paths through the threads.
fn ways(program: &Program) -> Vec<Way> {
    let mut ways = vec![Way::default()];
    for (thread, ops) in program.iter().enumerate() {
        ways.iter_mut().for_each(|way| way.registers.push(vec![None; 8]));
        ways = ways.into_iter().flat_map(|way| through(way, thread, ops, 0, Vec::new())).collect();
    }
    ways
}

fn through(mut way: Way, thread: usize, ops: &[Op], at: usize, mut control: Vec<usize>) -> Vec<Way> {
    let Some(op) = ops.get(at) else { return vec![way] };
    let id = way.events.len();
    let blank = Event {
        thread,
        op: at,
        cell: None,
        read: None,
        write: None,
        fence: None,
        written: None,
        control: control.clone(),
    };
    let formula = |way: &Way, value: &Value, old: bool| Formula {
        constant: value.constant,
        reads: value.registers.iter().filter_map(|&r| way.registers[thread][r]).chain(old.then_some(id)).collect(),
    };
    match op {
        Op::Load { to, cell, label } => {
            way.events.push(Event { cell: Some(*cell), read: Some(*label), ..blank });
            way.registers[thread][*to] = Some(id);
        }
        Op::Store { cell, value, label } => {
            let written = Some(formula(&way, value, false));
            way.events.push(Event { cell: Some(*cell), write: Some(*label), written, ..blank });
        }
        Op::Add { to, cell, value, read, write } | Op::Exchange { to, cell, value, read, write } => {
            let written = Some(formula(&way, value, matches!(op, Op::Add { .. })));
            way.events.push(Event { cell: Some(*cell), read: Some(*read), write: Some(*write), written, ..blank });
            way.registers[thread][*to] = Some(id);
        }
        Op::CompareExchange { to, cell, expected, desired, read, write, succeeded } => {
            way.registers[thread][*to] = Some(id);
            let both = [true, false].map(|equal| {
                let mut way = way.clone();
                let written = equal.then(|| Formula { constant: *desired, reads: Vec::new() });
                let read = succeeded.as_ref().filter(|_| equal).unwrap_or(read);
                let mut event = Event { cell: Some(*cell), read: Some(*read), written, ..blank.clone() };
                if equal {
                    event.write = Some(*write);
                    event.control.push(id);
                }
                way.events.push(event);
                way.conditions.push(Condition { read: id, value: *expected, equal });
                through(way, thread, ops, at + 1, control.clone())
            });
            return both.concat();
        }
        Op::Fence { label } => way.events.push(Event { fence: Some(*label), ..blank }),
        Op::Require { register, value } => {
            let Some(read) = way.registers[thread][*register] else {
                return if *value == 0 { through(way, thread, ops, at + 1, control) } else { vec![way] };
            };
            let mut ends = way.clone();
            ends.conditions.push(Condition { read, value: *value, equal: false });
            way.conditions.push(Condition { read, value: *value, equal: true });
            control.push(read);
            let mut both = through(way, thread, ops, at + 1, control);
            both.push(ends);
            return both;
        }
        Op::SkipUnless { register, value, equal: wanted, count } => {
            let Some(read) = way.registers[thread][*register] else {
                let next = if (*value == 0) == *wanted { at + 1 } else { at + 1 + count };
                return through(way, thread, ops, next, control);
            };
            control.push(read);
            let both = [(*wanted, at + 1), (!wanted, at + 1 + count)].map(|(equal, next)| {
                let mut way = way.clone();
                way.conditions.push(Condition { read, value: *value, equal });
                through(way, thread, ops, next, control.clone())
            });
            return both.concat();
        }
        other => panic!("the generator makes no such statement: {other:?}"),
    }
    through(way, thread, ops, at + 1, control)
}

/// All combinations of sources of the reads of one path. All models keep a thread's accesses of one cell in order, so
/// that no read reads from what follows it in its thread, nor from what its thread has overwritten; such sources are
/// omitted here.
fn sources(way: &Way) -> Vec<Vec<Option<usize>>> {
    let mut all = vec![Vec::new()];
    for (id, event) in way.events.iter().enumerate() {
        let mut choices = vec![None];
        if event.read.is_some() {
            let writes = |other: &usize| {
                let write = &way.events[*other];
                *other != id && write.write.is_some() && write.cell == event.cell
            };
            let own = |other: &usize| way.events[*other].thread == event.thread;
            let last = (0..id).rev().filter(writes).find(own);
            let overwritten = |other: &usize| own(other) && last != Some(*other);
            choices.retain(|_| last.is_none());
            choices.extend((0..way.events.len()).filter(writes).filter(|other| !overwritten(other)).map(Some));
        }
        all = all
            .into_iter()
            .flat_map(|chosen: Vec<Option<usize>>| {
                choices.iter().map(move |&choice| [&chosen[..], &[choice]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

/// The candidate with these sources, if its values do not come out of thin air and its threads take this path.
fn candidate(way: &Way, source: Vec<Option<usize>>, runs: &Runs) -> Option<Candidate> {
    let n = way.events.len();
    let (mut read, mut written) = (vec![None; n], vec![None; n]);
    for _ in 0..=2 * n {
        for (id, event) in way.events.iter().enumerate() {
            let mut reads = Reads::default();
            for (other, of) in way.events.iter().enumerate().filter(|(_, other)| other.thread == event.thread) {
                reads.known.extend(read[other].map(|value| (of.op, value)));
                let own = source[other].is_some_and(|write| way.events[write].thread == event.thread);
                reads.own.extend(own.then_some(of.op));
            }
            let came = event.control.iter().all(|&first| first == id || read[first].is_some());
            let certain = |kind| runs.certain(event.thread, &reads, event.op, kind);
            let update = event.read.is_some() && event.written.is_some();
            let sure = update && certain(Kind::Update).is_some();
            if event.read.is_some() && (came || sure || (!update && certain(Kind::Read).is_some())) {
                // What has come stays: a value that is computed from what a write was thought to be would bear itself.
                read[id] = read[id].or(source[id].map_or(Some(0), |write| written[write]));
            }
            let Some(formula) = &event.written else { continue };
            if !update {
                let sum = || formula.reads.iter().try_fold(formula.constant, |sum, &from| Some(sum + read[from]?));
                written[id] = written[id].or_else(|| sum().filter(|_| came)).or_else(|| certain(Kind::Write));
            } else if (sure && (!event.control.contains(&id) || read[id].is_some()))
                || (came && event.control.iter().all(|&first| read[first].is_some()))
            {
                let sum = formula.reads.iter().try_fold(formula.constant, |sum, &from| Some(sum + read[from]?));
                // The operand of an update may be certain before the values that it is computed from are.
                let given = || runs.operand(event.thread, &reads, event.op);
                let old = formula.reads.contains(&id);
                let new = || given().and_then(|given| Some(if old { given + read[id]? } else { given }));
                written[id] = written[id].or(sum).or_else(new);
            }
        }
    }
    let known = way.events.iter().enumerate().all(|(id, event)| {
        (event.read.is_none() || read[id].is_some()) && (event.written.is_none() || written[id].is_some())
    });
    // What was certain before all reads had come is what they make of it.
    let agrees = |(id, event): (usize, &Event)| {
        let formula = event.written.as_ref();
        formula.is_none_or(|formula| {
            let sum = formula.reads.iter().try_fold(formula.constant, |sum, &from| Some(sum + read[from]?));
            sum == written[id]
        })
    };
    let known = known && way.events.iter().enumerate().all(agrees);
    known.then(|| taken(way, source, &read)).flatten()
}

/// The candidate with these sources and values, if its threads take this path.
fn taken(way: &Way, source: Vec<Option<usize>>, read: &[Option<u64>]) -> Option<Candidate> {
    let goes = |condition: &Condition| (read[condition.read] == Some(condition.value)) == condition.equal;
    if !way.conditions.iter().all(goes) {
        return None;
    }
    let value = |from: &Option<usize>| from.and_then(|from| read[from]).unwrap_or(0);
    let registers = way.registers.iter().map(|thread| thread.iter().map(value).collect()).collect();
    Some(Candidate { events: way.events.clone(), source, registers })
}

/// Whether updates alone make what they read: what one writes depends on what it reads in any case.
fn bears_itself(way: &Way, source: &[Option<usize>]) -> bool {
    let needs = |id: usize| {
        let event = &way.events[id];
        event.written.as_ref().is_some_and(|formula| formula.reads.contains(&id)) || event.control.contains(&id)
    };
    let next = |id: usize| source[id].filter(|_| needs(id));
    (0..source.len())
        .any(|id| std::iter::successors(next(id), |&id| next(id)).take(source.len()).any(|other| other == id))
}

/// All candidates with these sources, whatever else depends on what.
fn without_dependencies(way: &Way, source: Vec<Option<usize>>, tried: &[u64]) -> Vec<Candidate> {
    let n = way.events.len();
    let (mut open, mut found) = (vec![vec![None; n]], Vec::new());
    while let Some(assumed) = open.pop() {
        let (mut read, mut written): (Vec<Option<u64>>, Vec<Option<u64>>) = (assumed.clone(), vec![None; n]);
        for _ in 0..=2 * n {
            for (id, event) in way.events.iter().enumerate() {
                if event.read.is_some() {
                    read[id] = read[id].or(source[id].map_or(Some(0), |write| written[write]));
                }
                if let Some(formula) = &event.written {
                    written[id] = formula.reads.iter().try_fold(formula.constant, |sum, &from| Some(sum + read[from]?));
                }
            }
        }
        let unknown = (0..n).find(|&id| way.events[id].read.is_some() && read[id].is_none());
        if let Some(unknown) = unknown {
            open.extend(tried.iter().map(|&value| {
                let mut assumed = assumed.clone();
                assumed[unknown] = Some(value);
                assumed
            }));
            continue;
        }
        let given = |id: usize| source[id].map_or(Some(0), |write| written[write]);
        if !bears_itself(way, &source) && (0..n).all(|id| way.events[id].read.is_none() || read[id] == given(id)) {
            found.extend(taken(way, source.clone(), &read));
        }
    }
    found
}
