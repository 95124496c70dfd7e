//! Finds which accesses of a thread depend on reads that are still open, by running the thread with every value.
//!
//! A store may come as soon as the reads that are known determine it: every run of its thread that agrees with them
//! performs the same store behind the same fences. In a run each read gives some value that some run of some thread
//! writes to its cell; a plain read that takes its value from a plain store of its own thread gives what that stored, if no
//! acquire operation and no fence is between.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use wattle_memory::{Label, Level, Model};

use crate::script::{Op, Program, Value};

/// The maximum number of distinguished values of a cell; a counter has no bound on them.
const FEW: usize = 6;

/// An access that a run makes: the statement, its cell and label, the fences before it, and the number of equal
/// accesses before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub op: usize,
    pub kind: Kind,
    pub cell: u64,
    pub label: Label,
    pub fences: Vec<Label>,
    /// The value read or written.
    pub value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Read,
    Write,
    /// What a read-modify-write writes, which is no store: none can come in its place.
    Changed,
    /// The operand that a read-modify-write writes or adds; its label is that of its write.
    Operand,
    /// A read-modify-write as a whole: what it does, with which operands; its label is that of its read.
    Update,
}

/// A run of a thread from its first statement to its last, with the values that its reads returned.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub accesses: Vec<Access>,
    /// The plain reads behind plain stores of the same cell, by statement, and the values stored.
    forwarded: Vec<(usize, u64)>,
}

impl Run {
    /// The value that the run reads at a statement; `None` if it does not reach it.
    pub fn read(&self, op: usize) -> Option<u64> {
        self.accesses
            .iter()
            .find(|access| access.op == op && matches!(access.kind, Kind::Read | Kind::Write | Kind::Changed))
            .map(|access| access.value)
    }

    /// Whether these statements read what their thread has stored plainly.
    fn forwards(&self, own: &[usize]) -> bool {
        self.forwarded.iter().all(|&(op, value)| !own.contains(&op) || self.read(op) == Some(value))
    }

    /// Whether it makes this access of another run too: behind the same fences, after as many equal ones.
    fn makes(&self, model: Model, wanted: &Access, before: usize, with_value: bool) -> bool {
        self.accesses.iter().filter(|access| alike(model, access, wanted, with_value)).count() > before
    }
}

fn alike(model: Model, access: &Access, wanted: &Access, with_value: bool) -> bool {
    let instruction = |label: &Label| instruction(model, *label);
    access.kind == wanted.kind
        && access.cell == wanted.cell
        && instruction(&access.label) == instruction(&wanted.label)
        && access.fences.iter().map(instruction).eq(wanted.fences.iter().map(instruction))
        && (!with_value || access.value == wanted.value)
}

/// A label for all those that some target of the model has one instruction for: the portable model's targets together know
/// neither the scopes nor, but for sequential consistency, the orders of fences apart; the host does not know the scopes of
/// accesses apart.
fn instruction(model: Model, label: Label) -> Label {
    let is_fence = label.kind == wattle_memory::Kind::Fence;
    match model {
        Model::Portable if is_fence && !label.sc => Label::fence(Level::System),
        Model::Portable => Label { level: Level::System, ..label },
        Model::Rust if !is_fence => Label { level: Level::System, ..label },
        Model::Rust | Model::Ptx | Model::Vulkan | Model::Sc | Model::Unordered => label,
    }
}

/// What is known of the reads of a thread, by their statements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reads {
    /// The values of those that have come.
    pub known: Vec<(usize, u64)>,
    /// Those that take their values from stores of their own thread.
    pub own: Vec<usize>,
}

/// A question: a thread, its reads, and a statement.
type Question = (usize, Reads, usize, Kind);

/// All runs of each thread.
pub struct Runs {
    model: Model,
    of: Vec<Vec<Run>>,
    /// The earlier answers.
    answers: RefCell<HashMap<Question, Option<u64>>>,
}

impl Runs {
    pub fn of(program: &Program, model: Model) -> Runs {
        let mut values: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        loop {
            let of: Vec<Vec<Run>> = program.iter().map(|ops| through(ops, &values)).collect();
            let before = values.clone();
            for access in of
                .iter()
                .flatten()
                .flat_map(|run| &run.accesses)
                .filter(|access| matches!(access.kind, Kind::Write | Kind::Changed))
            {
                let cell = values.entry(access.cell).or_insert_with(|| BTreeSet::from([0]));
                if cell.len() < FEW {
                    cell.insert(access.value);
                }
            }
            if values == before {
                return Runs { model, of, answers: RefCell::default() };
            }
        }
    }

    fn answer(&self, question: Question, find: impl Fn(&[&Run]) -> Option<u64>) -> Option<u64> {
        if let Some(&known) = self.answers.borrow().get(&question) {
            return known;
        }
        let (thread, Reads { known, own }, ..) = &question;
        let agrees = |run: &&Run| {
            run.forwards(own) && known.iter().all(|&(op, value)| run.read(op).is_none_or(|read| read == value))
        };
        let answer = find(&self.of[*thread].iter().filter(agrees).collect::<Vec<_>>());
        self.answers.borrow_mut().insert(question, answer);
        answer
    }

    /// The value of the access that a run makes at a statement, if every run that agrees with the known reads makes
    /// this access; otherwise `None`.
    pub fn certain(&self, thread: usize, reads: &Reads, op: usize, kind: Kind) -> Option<u64> {
        self.answer((thread, reads.clone(), op, kind), |all| {
            let (run, at) = all.iter().find_map(|run| {
                let at = run.accesses.iter().position(|access| access.op == op && access.kind == kind)?;
                Some((run, at))
            })?;
            let access = &run.accesses[at];
            let with_value = kind != Kind::Read;
            // That another store of the thread may write the same does not make it this one.
            let value = |run: &&Run| {
                run.accesses.iter().find(|other| other.op == op && other.kind == kind).map(|other| other.value)
            };
            if with_value && all.iter().filter_map(value).any(|other| other != run.accesses[at].value) {
                return None;
            }
            let before = run.accesses[..at].iter().filter(|other| alike(self.model, other, access, with_value)).count();
            all.iter().all(|run| run.makes(self.model, access, before, with_value)).then_some(access.value)
        })
    }

    /// The operand of a statement if every run that agrees with the known reads and reaches the statement has the same
    /// one.
    pub fn operand(&self, thread: usize, reads: &Reads, op: usize) -> Option<u64> {
        self.answer((thread, reads.clone(), op, Kind::Operand), |all| {
            let given = |run: &&Run| {
                let access = run.accesses.iter().find(|access| access.op == op && access.kind == Kind::Operand)?;
                Some(access.value)
            };
            let all: BTreeSet<u64> = all.iter().filter_map(given).collect();
            if all.len() == 1 { all.first().copied() } else { None }
        })
    }
}

fn through(ops: &[Op], values: &BTreeMap<u64, BTreeSet<u64>>) -> Vec<Run> {
    let mut ended = Vec::new();
    let mut open = vec![(0, vec![0u64; 8], Vec::<Label>::new(), BTreeMap::<u64, u64>::new(), Run::default())];
    // `stored` has the cells that the thread has stored to plainly, with the values.
    while let Some((op, registers, mut fences, mut stored, mut run)) = open.pop() {
        let Some(statement) = ops.get(op) else {
            ended.push(run);
            continue;
        };
        let sum = |registers: &[u64], value: &Value| {
            value.registers.iter().fold(value.constant, |sum, &register| sum + registers[register])
        };
        let of = |cell: u64| values.get(&cell).cloned().unwrap_or_else(|| BTreeSet::from([0]));
        let access = |kind, cell, label, fences: &[Label], value| Access {
            op,
            kind,
            cell,
            label,
            fences: fences.to_vec(),
            value,
        };
        match statement {
            Op::Load { to, cell, label } => {
                let own = stored.get(cell).copied().filter(|_| !label.atomic);
                run.forwarded.extend(own.map(|value| (op, value)));
                if label.acquire {
                    stored.clear();
                }
                let mut values = of(*cell);
                values.extend(own);
                for value in values {
                    let (mut registers, mut run) = (registers.clone(), run.clone());
                    registers[*to] = value;
                    run.accesses.push(access(Kind::Read, *cell, *label, &fences, value));
                    open.push((op + 1, registers, fences.clone(), stored.clone(), run));
                }
                continue;
            }
            Op::Store { cell, value, label } => {
                let value = sum(&registers, value);
                run.accesses.push(access(Kind::Write, *cell, *label, &fences, value));
                stored.remove(cell);
                if !label.atomic {
                    stored.insert(*cell, value);
                }
            }
            Op::Add { to, cell, value, read, write } | Op::Exchange { to, cell, value, read, write } => {
                stored.remove(cell);
                if read.acquire {
                    stored.clear();
                }
                let given = sum(&registers, value);
                let exchanges = matches!(statement, Op::Exchange { .. });
                let what = 1 + 2 * given + u64::from(exchanges);
                for old in of(*cell) {
                    let (mut registers, mut run) = (registers.clone(), run.clone());
                    registers[*to] = old;
                    let new = if matches!(statement, Op::Add { .. }) { old + given } else { given };
                    run.accesses.push(access(Kind::Update, *cell, *read, &fences, what));
                    run.accesses.push(access(Kind::Operand, *cell, *write, &fences, given));
                    run.accesses.push(access(Kind::Read, *cell, *read, &fences, old));
                    run.accesses.push(access(Kind::Changed, *cell, *write, &fences, new));
                    open.push((op + 1, registers, fences.clone(), stored.clone(), run));
                }
                continue;
            }
            // One that acquires where it succeeds is taken to acquire: nobody knows yet whether it does.
            Op::CompareExchange { to, cell, expected, desired, read, write, succeeded } => {
                stored.remove(cell);
                if succeeded.as_ref().unwrap_or(read).acquire {
                    stored.clear();
                }
                for old in of(*cell) {
                    let (mut registers, mut run) = (registers.clone(), run.clone());
                    registers[*to] = old;
                    run.accesses.push(access(Kind::Update, *cell, *read, &fences, (expected + 1) << 32 | desired << 8));
                    run.accesses.push(access(Kind::Read, *cell, *read, &fences, old));
                    if old == *expected {
                        run.accesses.push(access(Kind::Changed, *cell, *write, &fences, *desired));
                    }
                    open.push((op + 1, registers, fences.clone(), stored.clone(), run));
                }
                continue;
            }
            Op::Fence { label } => {
                fences.push(*label);
                if label.level > Level::Thread {
                    stored.clear();
                }
            }
            Op::Require { register, value } => {
                if registers[*register] != *value {
                    open.push((ops.len(), registers, fences, stored, run));
                    continue;
                }
            }
            Op::SkipUnless { register, value, equal, count } => {
                if (registers[*register] == *value) != *equal {
                    open.push((op + 1 + count, registers, fences, stored, run));
                    continue;
                }
            }
            other => panic!("the generator makes no such statement: {other:?}"),
        }
        open.push((op + 1, registers, fences, stored, run));
    }
    ended
}
