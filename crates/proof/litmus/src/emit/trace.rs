//! What a thread does, as a graph of instructions and branches.

use std::collections::HashMap;

use wattle_check::program::{KernelThread, World as Launches};
use wattle_check::search::{Action, Address, Change, Members, Process, Target};
use wattle_ir::eval;
use wattle_memory::{Classes, Label, ThreadId};

use super::function::{self, Variable, combinations};
use super::seen::Seen;
use super::{EmitError, litmus_type};
use crate::program::{Dialect, Instruction, Operand, ReferenceId, RegisterId, Update};

/// The most combinations of values that a state or a stored value may depend on.
const MOST_COMBINATIONS: usize = 4096;

/// A piece of a thread's code.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Nothing yet.
    Open,
    /// An instruction, and what follows.
    Do(Instruction, usize),
    /// Goes on by what a register holds.
    Branch(RegisterId, Vec<(u64, usize)>),
    /// Goes on elsewhere.
    Goto(usize),
    /// The end.
    End,
}

/// A thread's code as a graph.
pub(super) struct Traced {
    pub nodes: Vec<Node>,
    pub start: usize,
    /// Whether something on the way must not happen, and is left out.
    pub faults: bool,
}

/// What a read was answered.
#[derive(Clone, Copy)]
enum Given {
    Value(u64),
    Held(RegisterId),
}

/// A thread on its way: what it was, and what it has done and been given since.
#[derive(Clone)]
struct State {
    base: KernelThread,
    actions: usize,
    given: Vec<Given>,
    /// The reads whose value makes no difference yet.
    open: Vec<Variable>,
}

impl State {
    /// The thread as it is now, if registers hold those values.
    fn thread(&self, launches: &Launches, value: &dyn Fn(RegisterId) -> Option<u64>) -> KernelThread {
        let mut thread = self.base.clone();
        let mut given = self.given.iter();
        for _ in 0..self.actions {
            if matches!(thread.next(launches), Action::Read { .. } | Action::Update { .. }) {
                thread.answer(
                    launches,
                    match given.next() {
                        Some(Given::Value(known)) => Some(*known),
                        Some(Given::Held(register)) => value(*register),
                        None => None,
                    },
                );
            }
        }
        thread
    }

    /// The same where only one register's value is not known; the others hold the first that they can.
    fn without(&self, launches: &Launches, unknown: RegisterId) -> KernelThread {
        self.thread(launches, &|register| if register == unknown { None } else { self.first(register) })
    }

    fn first(&self, register: RegisterId) -> Option<u64> {
        self.open.iter().find(|open| open.register == register)?.values.first().copied()
    }

    /// The same where those registers hold those values, and the others the first that they can.
    fn at(&self, launches: &Launches, variables: &[Variable], point: &[u64]) -> KernelThread {
        self.thread(launches, &|register| {
            let known = variables.iter().zip(point).find(|(variable, _)| variable.register == register);
            known.map(|(_, value)| *value).or_else(|| self.first(register))
        })
    }

    /// Knows what a register holds.
    fn settle(&mut self, register: RegisterId, value: u64) {
        self.open.retain(|open| open.register != register);
        for given in &mut self.given {
            if matches!(given, Given::Held(held) if *held == register) {
                *given = Given::Value(value);
            }
        }
    }

    /// The first register that holds nothing of interest.
    fn free(&self) -> RegisterId {
        (0..).find(|register| self.open.iter().all(|open| open.register != *register)).unwrap_or(0)
    }

    /// A register from which on none holds anything of interest.
    fn temporary(&self) -> RegisterId {
        self.open.iter().map(|open| open.register + 1).max().unwrap_or(0)
    }
}

/// What tells states at the head of a loop apart: what the thread is, for all that the registers can hold.
#[derive(PartialEq, Eq, Hash)]
struct Key(Vec<Variable>, Vec<KernelThread>);

/// Follows one thread.
pub(super) struct Tracer<'t> {
    launches: &'t Launches,
    seen: &'t Seen,
    dialect: Dialect,
    thread: ThreadId,
    most: usize,
    addresses: &'t mut Vec<Address>,
    nodes: Vec<Node>,
    heads: HashMap<Key, usize>,
    faults: bool,
}

impl<'t> Tracer<'t> {
    pub fn new(
        launches: &'t Launches,
        seen: &'t Seen,
        dialect: Dialect,
        thread: ThreadId,
        most: usize,
        addresses: &'t mut Vec<Address>,
    ) -> Tracer<'t> {
        let (nodes, heads) = (Vec::new(), HashMap::new());
        Tracer { launches, seen, dialect, thread, most, addresses, nodes, heads, faults: false }
    }

    pub fn trace(mut self, thread: KernelThread) -> Result<Traced, EmitError> {
        let start = self.node(Node::Open);
        let state = State { base: thread, actions: 0, given: Vec::new(), open: Vec::new() };
        let mut waiting = vec![(start, state)];
        while let Some((at, state)) = waiting.pop() {
            self.run(at, state, &mut waiting)?;
        }
        Ok(Traced { nodes: self.nodes, start, faults: self.faults })
    }

    fn node(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Follows the thread until it ends, branches, or is where it has been.
    fn run(&mut self, mut at: usize, mut state: State, waiting: &mut Vec<(usize, State)>) -> Result<(), EmitError> {
        loop {
            let mut thread = state.thread(self.launches, &|_| None);
            let action = thread.next(self.launches);
            if self.nodes.len() > self.most {
                let site = self.site(thread.source());
                return Err(EmitError::TooLong { thread: self.thread, most: self.most, site });
            }
            if is_blocked(&action) {
                self.branch(at, &state, waiting);
                return Ok(());
            }
            match action {
                Action::Done | Action::NeedsValue => {
                    self.nodes[at] = Node::End;
                    return Ok(());
                }
                Action::Fault { .. } => {
                    self.faults = true;
                    state.actions += 1;
                }
                Action::LoopHead { .. } | Action::BackEdge { .. } => {
                    state.actions += 1;
                    let key = self.key(&mut state, &thread)?;
                    if let Some(&known) = self.heads.get(&key) {
                        self.nodes[at] = Node::Goto(known);
                        return Ok(());
                    }
                    self.heads.insert(key, at);
                }
                action => {
                    let code = self.instructions(&state, &action)?;
                    for instruction in code {
                        let next = self.node(Node::Open);
                        self.nodes[at] = Node::Do(instruction, next);
                        at = next;
                    }
                    state.actions += 1;
                    if let Action::Read { target: Some(target), .. } | Action::Update { target: Some(target), .. } =
                        action
                    {
                        self.take(&mut state, target.address);
                    }
                }
            }
        }
    }

    /// Gives a read a register, unless it can give but one value, whoever writes.
    fn take(&self, state: &mut State, address: Address) {
        let (values, changes) = self.seen.values(self.launches, address);
        match values.first() {
            Some(&only) if !changes => state.given.push(Given::Value(only)),
            _ => {
                let register = state.free();
                state.given.push(Given::Held(register));
                state.open.push(Variable { register, values });
            }
        }
    }

    /// Goes on by the value that control, or an address, waits for.
    fn branch(&mut self, at: usize, state: &State, waiting: &mut Vec<(usize, State)>) {
        let blocks = |open: &&Variable| is_blocked(&state.without(self.launches, open.register).next(self.launches));
        let Some(variable) = state.open.iter().find(blocks).or(state.open.first()).cloned() else {
            self.nodes[at] = Node::End;
            return;
        };
        let mut ways = Vec::new();
        for &value in &variable.values {
            let mut next = state.clone();
            next.settle(variable.register, value);
            let node = self.node(Node::Open);
            ways.push((value, node));
            waiting.push((node, next));
        }
        self.nodes[at] = Node::Branch(variable.register, ways);
    }

    /// What the state at the head of a loop is. Forgets what the thread has forgotten.
    fn key(&self, state: &mut State, thread: &KernelThread) -> Result<Key, EmitError> {
        let dead: Vec<RegisterId> = if thread.any_pending() {
            let live = |open: &&Variable| state.without(self.launches, open.register).any_pending();
            state.open.iter().filter(|open| !live(open)).map(|open| open.register).collect()
        } else {
            state.open.iter().map(|open| open.register).collect()
        };
        for register in dead {
            let first = state.first(register).unwrap_or(0);
            state.settle(register, first);
        }
        if state.open.is_empty() {
            let thread = state.thread(self.launches, &|_| None);
            *state = State { base: thread.clone(), actions: 0, given: Vec::new(), open: Vec::new() };
            return Ok(Key(Vec::new(), vec![thread]));
        }
        let points = self.points(&state.open, thread.source())?;
        let threads = points.iter().map(|point| state.at(self.launches, &state.open, point));
        Ok(Key(state.open.clone(), threads.collect()))
    }

    fn points(&self, variables: &[Variable], source: u32) -> Result<Vec<Vec<u64>>, EmitError> {
        combinations(variables, MOST_COMBINATIONS).ok_or_else(|| {
            let combinations = variables.iter().map(|variable| variable.values.len()).product();
            EmitError::TooMany { site: self.site(source), combinations }
        })
    }

    /// The instructions that an action becomes.
    fn instructions(&mut self, state: &State, action: &Action) -> Result<Vec<Instruction>, EmitError> {
        let (mut code, temporary) = (Vec::new(), state.temporary());
        match action {
            Action::Read { target: Some(target), label, .. } => {
                code.push(Instruction::Load { to: state.free(), from: self.refer(target), label: self.label(*label) });
            }
            Action::Write { target: Some(target), label, source, .. } => {
                let (value, _) = self.value(state, &mut code, temporary, *source, &|action| match action {
                    Action::Write { value, .. } => *value,
                    _ => None,
                })?;
                code.push(Instruction::Store { to: self.refer(target), value, label: self.label(*label) });
            }
            Action::Update { target: Some(target), change, read, write, source } => {
                let update = match change {
                    Change::Apply { op, ty, .. } => {
                        let operand = |action: &Action| match action {
                            Action::Update { change: Change::Apply { operand, .. }, .. } => *operand,
                            _ => None,
                        };
                        let (operand, values) = self.value(state, &mut code, temporary, *source, &operand)?;
                        let (old, _) = self.seen.values(self.launches, target.address);
                        let same = |old: u64, value: u64| {
                            eval::atomic(*op, *ty, old, value) == eval::atomic(*op, litmus_type(*op), old, value)
                        };
                        if !old.iter().all(|&old| values.iter().all(|&value| same(old, value))) {
                            let (operation, ty) = (format!("{op:?}").to_lowercase(), format!("{ty:?}").to_lowercase());
                            return Err(EmitError::Arithmetic { site: self.site(*source), operation, ty });
                        }
                        Update::Apply(*op, operand)
                    }
                    Change::CompareExchange { .. } => {
                        let part = |wanted: bool| {
                            move |action: &Action| match action {
                                Action::Update {
                                    change: Change::CompareExchange { expected, desired, .. }, ..
                                } => {
                                    if wanted {
                                        *desired
                                    } else {
                                        *expected
                                    }
                                }
                                _ => None,
                            }
                        };
                        let (expected, _) = self.value(state, &mut code, temporary, *source, &part(false))?;
                        // A table needs three registers.
                        let (desired, _) = self.value(state, &mut code, temporary + 3, *source, &part(true))?;
                        Update::CompareExchange { expected, desired }
                    }
                };
                let (read, write) = (self.label(*read), self.label(*write));
                let at = self.refer(target);
                code.push(Instruction::Update { result: Some(state.free()), at, update, read, write });
            }
            Action::Fence { label, .. } => code.push(Instruction::Fence(*label)),
            Action::Barrier { barrier, label, .. } => {
                let quorum = match barrier.members {
                    Members::Threads(_) => None,
                    Members::Quorum(quorum) => Some(Operand::Constant(quorum.into())),
                };
                let resource = quorum.map(|_| Operand::Constant(barrier.resource));
                let (instance, waits) = (barrier.instance, barrier.waits);
                code.push(Instruction::Barrier { instance, resource, quorum, waits, label: *label });
            }
            _ => {}
        }
        Ok(code)
    }

    /// Code for something that the action says, where that is then, and the values that it can have.
    fn value(
        &self,
        state: &State,
        code: &mut Vec<Instruction>,
        temporary: RegisterId,
        source: u32,
        of: &dyn Fn(&Action) -> Option<u64>,
    ) -> Result<(Operand, Vec<u64>), EmitError> {
        let says = |mut thread: KernelThread| of(&thread.next(self.launches));
        if let Some(known) = says(state.thread(self.launches, &|_| None)) {
            return Ok((Operand::Constant(known), vec![known]));
        }
        let matters = |open: &&Variable| says(state.without(self.launches, open.register)).is_none();
        let variables: Vec<Variable> = state.open.iter().filter(matters).cloned().collect();
        let points = self.points(&variables, source)?;
        let results: Vec<u64> =
            points.iter().map(|point| says(state.at(self.launches, &variables, point)).unwrap_or_default()).collect();
        let Some((steps, operand)) = function::compute(&variables, &points, &results, temporary) else {
            return Err(EmitError::TooMany { site: self.site(source), combinations: points.len() });
        };
        code.extend(steps);
        Ok((operand, results))
    }

    fn refer(&mut self, target: &Target) -> ReferenceId {
        let known = self.addresses.iter().position(|address| *address == target.address);
        known.unwrap_or_else(|| {
            self.addresses.push(target.address);
            self.addresses.len() - 1
        })
    }

    /// A label as the dialect has it: PTX's model knows no classes of memory.
    fn label(&self, label: Label) -> Label {
        match self.dialect {
            Dialect::Ptx => label.of(Classes::BUFFER),
            Dialect::Vulkan => label,
        }
    }

    fn site(&self, source: u32) -> String {
        self.launches.site(source).map(|site| site.to_string()).unwrap_or_default()
    }
}

/// Whether a thread cannot go on, or not say where it reads or writes, without a value.
fn is_blocked(action: &Action) -> bool {
    matches!(
        action,
        Action::NeedsValue
            | Action::Read { target: None, .. }
            | Action::Write { target: None, .. }
            | Action::Update { target: None, .. }
    )
}
