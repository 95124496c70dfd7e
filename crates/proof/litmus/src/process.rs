//! A litmus thread as a process of the search.

use std::collections::HashMap;
use std::sync::Arc;

use wattle_check::search::{
    AccessTarget, Action, Address, Barrier, Change, Initial, Members, Memory, Process, Setup, Spawn,
};
use wattle_ir::{AtomicLaw, AtomicOp, BinaryOp, Type};
use wattle_memory::{Level, Model, Placement, ThreadId};

use crate::condition::Observed;
use crate::flow::Flow;
use crate::ids::{ReferenceId, RegisterId};
use crate::program::{Dialect, Instruction, Operand, Program, Update};

/// The fault number of a division by zero, whose result is 0.
pub const DIVISION_BY_ZERO: u32 = 0;

/// The size of all values in bytes.
const BYTES: u8 = 8;

/// A program, with the tables that its threads use while they run.
#[derive(Clone, Debug)]
pub struct World {
    program: Program,
    flows: Vec<Flow>,
    first_source: Vec<u32>,
    /// For each thread the members of each of its barriers without a quorum, by instruction.
    members: Vec<HashMap<usize, Arc<[ThreadId]>>>,
}

impl World {
    /// Builds the tables for a program.
    pub fn new(program: Program) -> World {
        let mut observed = vec![Vec::new(); program.threads.len()];
        let conditions = program.filter.iter().chain(program.claim.iter().map(|claim| &claim.condition));
        conditions.for_each(|condition| {
            condition.visit(&mut |seen| {
                if let Observed::Register { thread, register } = seen {
                    observed[thread].push(register);
                }
            });
        });
        let flows = program
            .threads
            .iter()
            .zip(&observed)
            .map(|(thread, observed)| Flow::of(&program, thread, observed))
            .collect();
        let first_source = (0..program.threads.len()).map(|thread| program.source(thread, 0)).collect();
        let members = (0..program.threads.len()).map(|thread| members(&program, thread)).collect();
        World { program, flows, first_source, members }
    }

    /// The program that the threads run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The threads before their first instruction.
    pub fn threads(&self) -> Vec<LitmusThread> {
        (0..self.program.threads.len()).map(|thread| LitmusThread::new(self, thread)).collect()
    }

    /// A search of all its threads under a model.
    pub fn setup(&self, model: Model) -> Setup<'_> {
        let threads = self.threads().into_iter().zip(self.program.placements());
        let spawn = |(process, placement)| Spawn { placement, process, after: [].into() };
        let setup = Setup::new(self, model).with_threads(self, threads.map(spawn).collect());
        Setup { system: self.program.system.clone(), ..setup }
    }
}

impl Memory for World {
    fn initial(&self, address: Address) -> Initial {
        let value = self.program.locations.get(address.memory as usize).copied();
        Initial { value: value.unwrap_or(0), unwritten: value.is_none() }
    }
}

/// For each barrier of a thread without a quorum the threads that must arrive: those of the same block (of the same
/// subgroup if that is its scope) that have an instruction for the same instance.
fn members(program: &Program, thread: ThreadId) -> HashMap<usize, Arc<[ThreadId]>> {
    let here = &program.threads[thread];
    let mut members = HashMap::new();
    for (at, instruction) in here.code.iter().enumerate() {
        let &Instruction::Barrier { instance: wanted, quorum: None, label, .. } = instruction else { continue };
        let level = if label.level == Level::Subgroup { Level::Subgroup } else { Level::Block };
        let comes = |other: &Placement, code: &[Instruction]| {
            let has = |instruction: &Instruction| matches!(instruction, Instruction::Barrier { instance, .. } if *instance == wanted);
            other.shares(&here.placement, level) && code.iter().any(has)
        };
        let all = program.threads.iter().enumerate();
        let those = all.filter(|(_, other)| comes(&other.placement, &other.code)).map(|(number, _)| number);
        members.insert(at, those.collect());
    }
    members
}

/// A thread of a litmus program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LitmusThread {
    thread: u32,
    /// The next instruction.
    at: u32,
    /// Whether the head of the loop that begins there has been reported.
    announced: bool,
    /// The values of the registers, as far as they are known.
    registers: Vec<Option<u64>>,
}

impl LitmusThread {
    fn new(world: &World, thread: ThreadId) -> LitmusThread {
        let registers = world.program.threads[thread].registers.iter().map(|register| Some(register.initial)).collect();
        LitmusThread { thread: thread as u32, at: 0, announced: false, registers }
    }

    /// The value of a register; `None` while it is not known. At the end only registers that the program's conditions
    /// name keep their values.
    pub fn register(&self, register: RegisterId) -> Option<u64> {
        self.registers.get(register).copied().flatten()
    }

    fn value(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Constant(constant) => Some(constant),
            Operand::Register(register) => self.register(register),
        }
    }

    fn set(&mut self, register: RegisterId, value: Option<u64>) {
        if let Some(slot) = self.registers.get_mut(register) {
            *slot = value;
        }
    }

    fn go_to(&mut self, at: usize) {
        self.at = at as u32;
        self.announced = false;
    }

    /// Clears the dead registers, so that threads with equal futures are equal.
    fn forget(&mut self, dead: &[RegisterId]) {
        dead.iter().for_each(|&register| self.set(register, Some(0)));
    }

    /// The change that an update makes, as far as its operands are known.
    fn change(&self, update: Update, dialect: Dialect) -> Change {
        match update {
            Update::Apply(op, operand) => Change::Apply { op, ty: operand_type(op), operand: self.value(operand) },
            Update::CompareExchange { expected, desired } => Change::CompareExchange {
                expected: self.value(expected),
                desired: self.value(desired),
                writes_back: dialect.language().failed_exchange_writes(),
                succeeded: None,
            },
        }
    }

    /// The threads that must arrive at the barrier at which the thread is; `None` where that depends on a value that is
    /// not known.
    fn members(&self, world: &World, quorum: Option<Operand>) -> Option<Members> {
        let Some(quorum) = quorum else {
            let members = world.members[self.thread as usize].get(&(self.at as usize));
            return Some(Members::Threads(members.cloned().unwrap_or_default()));
        };
        Some(Members::Quorum(u32::try_from(self.value(quorum)?).unwrap_or(u32::MAX)))
    }

    /// Jumps; returns a back edge if the jump goes backwards.
    fn jump(&mut self, world: &World, target: usize, source: u32) -> Option<Action> {
        let from = self.at as usize;
        self.go_to(target);
        if target > from {
            return None;
        }
        self.forget(world.flows[self.thread as usize].dead(target).unwrap_or_default());
        self.announced = true;
        Some(Action::BackEdge { label: target as u32, source, waits: true, ends: false })
    }
}

impl Process for LitmusThread {
    type World = World;

    fn next(&mut self, world: &World) -> Action {
        let thread = self.thread as usize;
        let (code, flow) = (&world.program.threads[thread], &world.flows[thread]);
        loop {
            let at = self.at as usize;
            let Some(instruction) = code.code.get(at) else {
                self.forget(flow.dead(at).unwrap_or_default());
                return Action::Done;
            };
            if flow.loop_begins(at) && !self.announced {
                self.forget(flow.dead(at).unwrap_or_default());
                self.announced = true;
                return Action::LoopHead { label: self.at };
            }
            let source = world.first_source[thread] + self.at;
            match *instruction {
                Instruction::Load { from, label, .. } => {
                    return Action::Read { target: Some(target(&world.program, from)), label, source };
                }
                Instruction::Store { to, value, label } => {
                    self.go_to(at + 1);
                    let target = Some(target(&world.program, to));
                    return Action::Write { target, value: self.value(value), label, source };
                }
                Instruction::Update { at: reference, update, read, write, .. } => {
                    let change = self.change(update, world.program.dialect);
                    let target = Some(target(&world.program, reference));
                    return Action::Update { target, change, read, write, source };
                }
                Instruction::Fence(label) => {
                    self.go_to(at + 1);
                    return Action::Fence { label, source };
                }
                Instruction::Barrier { instance, resource, quorum, waits, label } => {
                    let Some(resource) = self.value(resource.unwrap_or(Operand::Constant(instance))) else {
                        return Action::NeedsValue;
                    };
                    let Some(members) = self.members(world, quorum) else { return Action::NeedsValue };
                    self.go_to(at + 1);
                    let barrier = Barrier { instance, resource, members, waits, converges: None };
                    return Action::Barrier { barrier, label, source };
                }
                Instruction::Move { to, value } => {
                    self.set(to, self.value(value));
                    self.go_to(at + 1);
                }
                Instruction::Compute { operator, to, left, right } => {
                    self.go_to(at + 1);
                    let (Some(left), Some(right)) = (self.value(left), self.value(right)) else {
                        self.set(to, None);
                        continue;
                    };
                    let result = operator.apply(left, right);
                    self.set(to, Some(result.unwrap_or(0)));
                    if result.is_none() {
                        return Action::Fault { fault: DIVISION_BY_ZERO, source };
                    }
                }
                Instruction::Branch { comparison, left, right, to } => {
                    let (Some(left), Some(right)) = (self.value(left), self.value(right)) else {
                        return Action::NeedsValue;
                    };
                    if !comparison.holds(left, right) {
                        self.go_to(at + 1);
                    } else if let Some(action) = self.jump(world, code.target(to), source) {
                        return action;
                    }
                }
                Instruction::Goto(to) => {
                    if let Some(action) = self.jump(world, code.target(to), source) {
                        return action;
                    }
                }
            }
        }
    }

    fn answer(&mut self, world: &World, value: Option<u64>) {
        let at = self.at as usize;
        match world.program.threads[self.thread as usize].code.get(at) {
            Some(&Instruction::Load { to, .. }) => self.set(to, value),
            Some(&Instruction::Update { result: Some(to), .. }) => self.set(to, value),
            Some(Instruction::Update { .. }) => {}
            _ => return,
        }
        self.go_to(at + 1);
    }

    /// The dependencies of a litmus file are those of its instructions, so both outcomes of a branch are never
    /// explored.
    fn ways(&self, _: &World) -> Option<Vec<LitmusThread>> {
        None
    }

    fn any_pending(&self) -> bool {
        self.registers.iter().any(Option::is_none)
    }

    fn may_write(&self, world: &World, address: Address) -> bool {
        world.flows[self.thread as usize].may_write(self.at as usize, address.memory as usize)
    }
}

fn target(program: &Program, reference: ReferenceId) -> AccessTarget {
    let memory = program.references.get(reference).map_or(0, |name| name.location) as u32;
    AccessTarget { address: Address { memory, element: 0 }, bytes: BYTES, reference: reference as u32 }
}

/// The operand type of an operator: signed where that matters, except PTX's wrapping increment and decrement.
pub(crate) fn operand_type(op: AtomicOp) -> Type {
    match op.law() {
        AtomicLaw::Combines(BinaryOp::Min | BinaryOp::Max) => Type::I64,
        AtomicLaw::Combines(_) | AtomicLaw::Replaces | AtomicLaw::CountsUp | AtomicLaw::CountsDown => Type::U64,
    }
}
