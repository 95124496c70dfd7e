//! A small thread for tests of the search: a straight line of accesses and fences, with waiting loops.

#![allow(dead_code, unused_imports, reason = "each test uses its part, and so does the brute-force check of xtask")]

mod op;

use std::ops::ControlFlow;

use wattle_check::search::{
    AccessTarget, Action, Address, Barrier, Change, Dependencies, End, Exchange, Execution, Initial, Members, Memory,
    Process, Setup, Spawn, Statistics, Visitor, search,
};
use wattle_ir::{AtomicOp, Type, WarpOp};
use wattle_memory::{Label, Model, Placement};

pub use op::{Op, Value, constant, register};

pub type Program = Vec<Vec<Op>>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script {
    pub thread: usize,
    pc: usize,
    /// The step within an operation that takes several.
    step: u8,
    pub registers: Vec<Option<u64>>,
    fresh: Option<u64>,
}

impl Script {
    pub fn new(thread: usize) -> Script {
        Script { thread, pc: 0, step: 0, registers: vec![Some(0); 8], fresh: Some(0) }
    }

    fn value(&self, value: &Value) -> Option<u64> {
        value.registers.iter().try_fold(value.constant, |sum, &register| Some(sum + self.registers[register]?))
    }

    /// A loop that loads a cell until the value ends it, where that is known. In step 3 it goes on, whatever the value is.
    fn wait(
        &mut self,
        world: &Program,
        cell: u64,
        label: Label,
        ends: impl Fn(&Script, u64) -> Option<bool>,
    ) -> Action {
        let source = self.pc as u32;
        match self.step {
            0 => {
                self.step = 1;
                self.fresh = Some(0);
                Action::LoopHead { label: source }
            }
            1 => {
                self.step = 2;
                Action::Read { target: target(cell), label, source }
            }
            step => {
                let Some(ends) = self.fresh.and_then(|seen| ends(self, seen)) else { return Action::NeedsValue };
                self.fresh = Some(0);
                if step == 2 && ends {
                    self.step = 0;
                    self.pc += 1;
                    return self.next(world);
                }
                self.step = 1;
                Action::BackEdge { label: source, source, waits: true, ends: false }
            }
        }
    }
}

fn target(cell: u64) -> Option<AccessTarget> {
    Some(AccessTarget { address: Address { memory: 0, element: cell }, bytes: 4, reference: cell as u32 })
}

impl Process for Script {
    type World = Program;

    fn next(&mut self, world: &Program) -> Action {
        let source = self.pc as u32;
        let Some(op) = world[self.thread].get(self.pc) else { return Action::Done };
        match op {
            Op::Load { cell, label, .. } => {
                self.pc += 1;
                Action::Read { target: target(*cell), label: *label, source }
            }
            Op::Store { cell, value, label } => {
                self.pc += 1;
                Action::Write { target: target(*cell), value: self.value(value), label: *label, source }
            }
            Op::LoadAt { base, register, label, .. } => {
                self.pc += 1;
                let target = self.registers[*register].and_then(|behind| target(base + behind));
                Action::Read { target, label: *label, source }
            }
            Op::StoreAt { base, register, value, label } => {
                self.pc += 1;
                let target = self.registers[*register].and_then(|behind| target(base + behind));
                Action::Write { target, value: self.value(value), label: *label, source }
            }
            Op::Head => {
                self.pc += 1;
                Action::LoopHead { label: source }
            }
            Op::RepeatBelow { register, below, count } => {
                let Some(known) = self.registers[*register] else { return Action::NeedsValue };
                if known >= *below {
                    self.pc += 1;
                    return self.next(world);
                }
                self.pc = self.pc.saturating_sub(*count);
                Action::BackEdge { label: self.pc.saturating_sub(1) as u32, source, waits: true, ends: false }
            }
            Op::SkipUnlessBelow { register, below, count } => {
                let Some(known) = self.registers[*register] else { return Action::NeedsValue };
                self.pc += if known < *below { 1 } else { 1 + count };
                self.next(world)
            }
            Op::Add { cell, value, read, write, .. } | Op::Exchange { cell, value, read, write, .. } => {
                self.pc += 1;
                let kind = if matches!(op, Op::Add { .. }) { AtomicOp::Add } else { AtomicOp::Exchange };
                let change = Change::Apply { op: kind, ty: Type::U32, operand: self.value(value) };
                Action::Update { target: target(*cell), change, read: *read, write: *write, source }
            }
            Op::CompareExchange { cell, expected, desired, read, write, succeeded, .. } => {
                self.pc += 1;
                let (expected, desired) = (Some(*expected), Some(*desired));
                let change = Change::CompareExchange { expected, desired, writes_back: false, succeeded: *succeeded };
                Action::Update { target: target(*cell), change, read: *read, write: *write, source }
            }
            Op::Fence { label } => {
                self.pc += 1;
                Action::Fence { label: *label, source }
            }
            Op::Barrier { members, about, level } => {
                self.pc += 1;
                let members = Members::Threads((0..*members as usize).collect());
                let barrier = Barrier { instance: source as u64, resource: 0, members, waits: true, converges: None };
                Action::Barrier { barrier, label: Label { semantics: *about, ..Label::barrier(*level) }, source }
            }
            Op::Shuffle { register, from, members, .. } => {
                self.pc += 1;
                let members = Members::Threads((0..*members as usize).collect());
                let (instance, converges) = (u64::from(source), None);
                let barrier = Barrier { instance, resource: 1 << 16, members, waits: true, converges };
                let value = self.registers[*register];
                let exchange = Exchange { op: WarpOp::Shuffle, ty: Type::U64, value, operand: Some(*from) };
                Action::Exchange { barrier, exchange, source }
            }
            Op::Await { cell, value, label } => {
                self.wait(world, *cell, *label, |script, seen| Some(seen == script.value(value)?))
            }
            Op::AwaitWithin { cell, least, most, label } => {
                self.wait(world, *cell, *label, |_, seen| Some((*least..=*most).contains(&seen)))
            }
            Op::Shift { register, by } => {
                let Some(known) = self.registers[*register] else { return Action::NeedsValue };
                self.registers[*register] = Some(known >> by);
                self.pc += 1;
                self.next(world)
            }
            Op::Accumulate { to, from } => {
                let sum = self.registers[*to].zip(self.registers[*from]).map(|(one, other)| one + other);
                self.registers[*to] = sum;
                self.pc += 1;
                self.next(world)
            }
            Op::AwaitPhase { cell, register, bits, shifted, label } => {
                let more = if *shifted { 0 } else { *bits };
                self.wait(world, *cell, *label, |script, seen| {
                    Some(seen >> bits != script.registers[*register]? >> more)
                })
            }
            Op::Lock { cell, read, write } => match self.step {
                0 => {
                    self.step = 1;
                    self.fresh = Some(0);
                    Action::LoopHead { label: source }
                }
                1 => {
                    self.step = 2;
                    let change = Change::Apply { op: AtomicOp::Exchange, ty: Type::U32, operand: Some(1) };
                    Action::Update { target: target(*cell), change, read: *read, write: *write, source }
                }
                _ => {
                    let Some(seen) = self.fresh else { return Action::NeedsValue };
                    self.fresh = Some(0);
                    if seen == 0 {
                        self.step = 0;
                        self.pc += 1;
                        return self.next(world);
                    }
                    self.step = 1;
                    Action::BackEdge { label: source, source, waits: true, ends: false }
                }
            },
            Op::SkipUnless { register, value, equal, count } => {
                let Some(known) = self.registers[*register] else { return Action::NeedsValue };
                self.pc += if (known == *value) == *equal { 1 } else { 1 + count };
                self.next(world)
            }
            Op::Require { register, value } => {
                let Some(known) = self.registers[*register] else { return Action::NeedsValue };
                self.pc = if known == *value { self.pc + 1 } else { world[self.thread].len() };
                self.next(world)
            }
        }
    }

    fn answer(&mut self, world: &Program, value: Option<u64>) {
        let at = if self.step > 0 { self.pc } else { self.pc - 1 };
        match &world[self.thread][at] {
            Op::Load { to, .. }
            | Op::LoadAt { to, .. }
            | Op::Add { to, .. }
            | Op::Exchange { to, .. }
            | Op::CompareExchange { to, .. }
            | Op::Shuffle { to, .. } => {
                self.registers[*to] = value;
            }
            _ => self.fresh = value,
        }
    }

    /// Threads are alike except for their numbers, by which they find their code, if what is left of it is the same.
    fn is_alike(&self, world: &Program, other: &Self) -> bool {
        let left = |script: &Script| world[script.thread].get(script.pc..).map(<[Op]>::to_vec);
        *self == Script { thread: self.thread, ..other.clone() } && left(self) == left(other)
    }

    fn ways(&self, world: &Program) -> Option<Vec<Script>> {
        let to = |pc| Script { pc, ..self.clone() };
        let (pc, end) = (self.pc, world[self.thread].len());
        match world[self.thread].get(pc) {
            Some(Op::Require { .. }) => Some(vec![to(pc + 1), to(end)]),
            Some(Op::SkipUnless { count, .. } | Op::SkipUnlessBelow { count, .. }) => {
                Some(vec![to(pc + 1), to(pc + 1 + count)])
            }
            Some(Op::AwaitWithin { .. } | Op::AwaitPhase { .. }) => {
                let known = Script { fresh: Some(0), ..self.clone() };
                Some(vec![Script { pc: pc + 1, step: 0, ..known.clone() }, Script { step: 3, ..known }])
            }
            _ => None,
        }
    }

    fn any_pending(&self) -> bool {
        self.fresh.is_none() || self.registers.contains(&None)
    }

    fn forget_dead(&mut self, world: &Program) {
        let ops = &world[self.thread];
        // A loop may come again.
        let again = |(at, op): (usize, &Op)| match op {
            Op::RepeatBelow { count, .. } if at >= self.pc => Some(at.saturating_sub(*count)),
            _ => None,
        };
        let from = ops.iter().enumerate().filter_map(again).min().unwrap_or(self.pc).min(self.pc);
        let left = ops.get(from..).unwrap_or_default();
        for register in 0..self.registers.len() {
            let reads = |op: &Op| match op {
                Op::Store { value, .. }
                | Op::Add { value, .. }
                | Op::Exchange { value, .. }
                | Op::Await { value, .. } => value.registers.contains(&register),
                Op::StoreAt { register: of, value, .. } => *of == register || value.registers.contains(&register),
                Op::Shuffle { register: of, .. }
                | Op::LoadAt { register: of, .. }
                | Op::SkipUnlessBelow { register: of, .. }
                | Op::RepeatBelow { register: of, .. }
                | Op::SkipUnless { register: of, .. }
                | Op::Require { register: of, .. }
                | Op::Shift { register: of, .. }
                | Op::AwaitPhase { register: of, .. } => *of == register,
                Op::Accumulate { to, from } => [to, from].contains(&&register),
                Op::Load { .. }
                | Op::Head
                | Op::CompareExchange { .. }
                | Op::Fence { .. }
                | Op::Barrier { .. }
                | Op::AwaitWithin { .. }
                | Op::Lock { .. } => false,
            };
            if !left.iter().any(reads) {
                self.registers[register] = Some(0);
            }
        }
    }

    fn widen(&mut self, _: &Program, other: &Script, _: bool) -> bool {
        let same = Script { registers: other.registers.clone(), ..self.clone() };
        for (register, others) in self.registers.iter_mut().zip(&other.registers) {
            *register = register.filter(|value| Some(*value) == *others);
        }
        same == *other
    }

    fn may_write(&self, world: &Program, address: Address) -> bool {
        let repeats = |op: &Op| matches!(op, Op::RepeatBelow { .. });
        let from = if world[self.thread].iter().any(repeats) { 0 } else { self.pc };
        world[self.thread].iter().skip(from).any(|op| match op {
            Op::StoreAt { base, .. } => address.element >= *base,
            Op::Store { cell, .. }
            | Op::Add { cell, .. }
            | Op::Exchange { cell, .. }
            | Op::CompareExchange { cell, .. }
            | Op::Lock { cell, .. } => *cell == address.element,
            _ => false,
        })
    }
}

/// Memory that is 0 before all threads.
struct Zero;

impl Memory for Zero {
    fn initial(&self, _: Address) -> Initial {
        Initial { value: 0, unwritten: false }
    }
}

/// The registers of the scripts at the end of an execution.
pub fn registers<'a>(execution: &Execution<'a>) -> impl Iterator<Item = &'a [Option<u64>]> {
    execution.threads.iter().filter_map(|thread| thread.process::<Script>()).map(|script| &script.registers[..])
}

/// The result of a search: for each finished execution the registers of all threads.
#[derive(Default)]
pub struct Found {
    pub outcomes: Vec<Vec<Vec<u64>>>,
    pub stuck: Vec<Vec<usize>>,
    pub races: usize,
    pub model: Option<Model>,
}

impl Visitor for Found {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let values = |registers: &[Option<u64>]| registers.iter().map(|value| value.unwrap_or(u64::MAX)).collect();
        self.outcomes.push(registers(execution).map(values).collect());
        if let Some(model) = self.model {
            self.races += usize::from(!model.races(execution.graph, execution.analysis).is_empty());
        }
        ControlFlow::Continue(())
    }

    fn failed_iteration(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if let Some(model) = self.model {
            self.races += usize::from(!model.races(execution.graph, execution.analysis).is_empty());
        }
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if std::env::var("SHOW").is_ok() {
            println!("{}", show(execution));
        }
        self.stuck.push(execution.stuck.iter().map(|stuck| stuck.thread).collect());
        ControlFlow::Continue(())
    }
}

pub fn setup(program: &Program, placements: Vec<Placement>, model: Model) -> Setup<'_> {
    let spawn = |(thread, placement)| Spawn { placement, process: Script::new(thread), after: [].into() };
    let threads = placements.into_iter().enumerate().map(spawn);
    Setup {
        loop_bound: 4,
        dependencies: Dependencies::AsCompiled,
        failed_iterations: true,
        ..Setup::new(&Zero, model).with_threads(program, threads.collect())
    }
}

/// Searches a program whose threads are each alone in a block.
pub fn run(program: &Program, model: Model) -> (Found, Statistics) {
    let placements = (0..program.len() as u32).map(|block| Placement::new(block, 0)).collect();
    run_placed(program, placements, model)
}

pub fn run_placed(program: &Program, placements: Vec<Placement>, model: Model) -> (Found, Statistics) {
    let mut found = Found { model: Some(model), ..Found::default() };
    let (end, statistics) = search(&setup(program, placements, model), &mut found);
    assert_eq!(end, End::Exhausted);
    (found, statistics)
}

/// A graph in a few lines, for debugging.
pub fn show(execution: &Execution<'_>) -> String {
    let graph = execution.graph;
    let mut text = String::new();
    for (id, event) in graph.events().iter().enumerate() {
        let (from, half) = (graph.source(id), graph.other_half(id));
        text += &format!(
            "{id}: {:?} {:?} loc {:?} = {:?} from {from:?} half {half:?}\n",
            event.thread, event.label.kind, event.location, event.value
        );
    }
    text + &format!("co {:?} stuck {:?}\n", execution.analysis.coherence.pairs().collect::<Vec<_>>(), execution.stuck)
}
