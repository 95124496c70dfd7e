//! Traces a thread as a graph of instructions and branches.

use std::collections::HashMap;

use wattle_check::program::{KernelThread, World as Launches};
use wattle_check::search::{AccessTarget, Action, Address, Change, Members, Process};
use wattle_ir::eval;
use wattle_memory::{Classes, Label, ThreadId};

use super::function::{self, Variable, combinations};
use super::seen::Seen;
use super::{EmitError, litmus_type};
use crate::ids::{ReferenceId, RegisterId};
use crate::program::{Dialect, Instruction, Operand, Update};

/// The maximum number of combinations of values on which a state or a stored value may depend.
const MOST_COMBINATIONS: usize = 4096;

/// A node of a thread's code.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A node without content yet.
    Open,
    /// An instruction, and the next node.
    Do(Instruction, usize),
    /// A branch on the value of a register.
    Branch(RegisterId, Vec<(u64, usize)>),
    /// A jump to another node.
    Goto(usize),
    /// The end of the code.
    End,
}

/// A thread's code as a graph.
pub(super) struct Traced {
    pub nodes: Vec<Node>,
    pub start: usize,
    /// Whether a fault can happen, which the code omits.
    pub faults: bool,
}

/// The answer to a read.
#[derive(Clone, Copy)]
enum Given {
    Value(u64),
    Held(RegisterId),
}

/// A thread on its way: its state at a branch, and its actions and answers since.
#[derive(Clone)]
struct TracedThread {
    base: KernelThread,
    actions: usize,
    given: Vec<Given>,
    /// The reads whose values have not mattered yet.
    open: Vec<Variable>,
}

impl TracedThread {
    /// The thread as it is now, for the given values of registers.
    fn thread(&self, launches: &Launches, value: &dyn Fn(RegisterId) -> Option<u64>) -> KernelThread {
        let mut thread = self.base.clone();
        let mut given = self.given.iter();
        for _ in 0..self.actions {
            if thread.next(launches).parts().is_answered {
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

    /// The thread of a kernel in which one register's value is not known; the others hold the first value that they
    /// can.
    fn without(&self, launches: &Launches, unknown: RegisterId) -> KernelThread {
        self.thread(launches, &|register| if register == unknown { None } else { self.first(register) })
    }

    fn first(&self, register: RegisterId) -> Option<u64> {
        self.open.iter().find(|open| open.register == register)?.values.first().copied()
    }

    /// The thread of a kernel with these values in these registers; the others hold the first value that they can.
    fn at(&self, launches: &Launches, variables: &[Variable], point: &[u64]) -> KernelThread {
        self.thread(launches, &|register| {
            let known = variables.iter().zip(point).find(|(variable, _)| variable.register == register);
            known.map(|(_, value)| *value).or_else(|| self.first(register))
        })
    }

    /// Fixes the value of a register.
    fn settle(&mut self, register: RegisterId, value: u64) {
        self.open.retain(|open| open.register != register);
        for given in &mut self.given {
            if matches!(given, Given::Held(held) if *held == register) {
                *given = Given::Value(value);
            }
        }
    }

    /// The lowest register that holds no open value.
    fn free(&self) -> RegisterId {
        (0..).find(|register| self.open.iter().all(|open| open.register != *register)).unwrap_or(0)
    }

    /// The first register from which on all are unused.
    fn temporary(&self) -> RegisterId {
        self.open.iter().map(|open| open.register + 1).max().unwrap_or(0)
    }
}

/// The identity of a state at the head of a loop: the thread, for all values that the registers can hold.
#[derive(PartialEq, Eq, Hash)]
struct Key(Vec<Variable>, Vec<KernelThread>);

/// The tracer of one thread.
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
        let state = TracedThread { base: thread, actions: 0, given: Vec::new(), open: Vec::new() };
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

    /// Traces the thread until it ends, branches, or reaches an earlier state.
    fn run(
        &mut self,
        mut at: usize,
        mut state: TracedThread,
        waiting: &mut Vec<(usize, TracedThread)>,
    ) -> Result<(), EmitError> {
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

    /// Assigns a register to a read, unless the read can return only one value.
    fn take(&self, state: &mut TracedThread, address: Address) {
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

    /// Branches on the value that control, or an address, waits for.
    fn branch(&mut self, at: usize, state: &TracedThread, waiting: &mut Vec<(usize, TracedThread)>) {
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

    /// The key of the state at the head of a loop. Clears the registers that the thread no longer needs.
    fn key(&self, state: &mut TracedThread, thread: &KernelThread) -> Result<Key, EmitError> {
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
            *state = TracedThread { base: thread.clone(), actions: 0, given: Vec::new(), open: Vec::new() };
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

    /// The instructions for an action.
    fn instructions(&mut self, state: &TracedThread, action: &Action) -> Result<Vec<Instruction>, EmitError> {
        let (mut code, temporary) = (Vec::new(), state.temporary());
        match action {
            Action::Read { target: Some(target), label, .. } => {
                code.push(Instruction::Load { to: state.free(), from: self.refer(target), label: self.label(*label) });
            }
            Action::Write { target: Some(target), label, source, .. } => {
                let (value, _) = self.value(state, &mut code, temporary, *source, 0)?;
                code.push(Instruction::Store { to: self.refer(target), value, label: self.label(*label) });
            }
            Action::Update { target: Some(target), change, read, write, source } => {
                let update = self.update(state, &mut code, target, *change, *source)?;
                let (read, write) = (self.label(*read), self.label(*write));
                let at = self.refer(target);
                code.push(Instruction::Update { result: Some(state.free()), at, update, read, write });
            }
            Action::Fence { label, .. } => code.push(Instruction::Fence(*label)),
            Action::Barrier { barrier, label, source } => {
                let quorum = match &barrier.members {
                    Members::Threads(members) if members.len() as u64 == self.threads_per_block() => None,
                    Members::Threads(_) | Members::Remaining(_) | Members::Groups { .. } => {
                        return Err(EmitError::Warp { site: self.site(*source) });
                    }
                    Members::Quorum(quorum) => Some(Operand::Constant((*quorum).into())),
                };
                let resource = quorum.map(|_| Operand::Constant(barrier.resource));
                let (instance, waits) = (barrier.instance, barrier.waits);
                code.push(Instruction::Barrier { instance, resource, quorum, waits, label: *label });
            }
            Action::Exchange { source, .. } => return Err(EmitError::Warp { site: self.site(*source) }),
            // Nothing that another thread sees, or what `run` has treated.
            Action::Read { target: None, .. }
            | Action::Write { target: None, .. }
            | Action::Update { target: None, .. }
            | Action::LoopHead { .. }
            | Action::BackEdge { .. }
            | Action::NeedsValue
            | Action::Fault { .. }
            | Action::Halt
            | Action::Done => {}
        }
        Ok(code)
    }

    /// Code for the operands of a read-modify-write, and the update. Fails where litmus files compute otherwise.
    fn update(
        &self,
        state: &TracedThread,
        code: &mut Vec<Instruction>,
        target: &AccessTarget,
        change: Change,
        source: u32,
    ) -> Result<Update, EmitError> {
        let temporary = state.temporary();
        match change {
            Change::Apply { op, ty, .. } => {
                let (operand, values) = self.value(state, code, temporary, source, 0)?;
                let (old, _) = self.seen.values(self.launches, target.address);
                let same = |old: u64, value: u64| {
                    eval::atomic(op, ty, old, value) == eval::atomic(op, litmus_type(op), old, value)
                };
                if !old.iter().all(|&old| values.iter().all(|&value| same(old, value))) {
                    let (operation, ty) = (format!("{op:?}").to_lowercase(), format!("{ty:?}").to_lowercase());
                    return Err(EmitError::Arithmetic { site: self.site(source), operation, ty });
                }
                Ok(Update::Apply(op, operand))
            }
            Change::CompareExchange { .. } => {
                let (expected, _) = self.value(state, code, temporary, source, 0)?;
                // A table needs three registers.
                let (desired, _) = self.value(state, code, temporary + 3, source, 1)?;
                Ok(Update::CompareExchange { expected, desired })
            }
        }
    }

    /// Code for an operand of the action, by its number in [`wattle_check::search::ActionParts::operands`]; returns the
    /// operand that holds it, and the values that it can have.
    fn value(
        &self,
        state: &TracedThread,
        code: &mut Vec<Instruction>,
        temporary: RegisterId,
        source: u32,
        number: usize,
    ) -> Result<(Operand, Vec<u64>), EmitError> {
        let says = |mut thread: KernelThread| thread.next(self.launches).parts().operands[number];
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

    fn refer(&mut self, target: &AccessTarget) -> ReferenceId {
        let known = self.addresses.iter().position(|address| *address == target.address);
        known.unwrap_or_else(|| {
            self.addresses.push(target.address);
            self.addresses.len() - 1
        })
    }

    /// A label in the dialect's form: PTX's model has no storage classes.
    fn label(&self, label: Label) -> Label {
        match self.dialect {
            Dialect::Ptx => label.of(Classes::BUFFER),
            Dialect::Vulkan => label,
        }
    }

    fn threads_per_block(&self) -> u64 {
        let launch = &self.launches.launches[self.launches.launch_of(self.thread)];
        launch.environment.shape.threads_per_block()
    }

    fn site(&self, source: u32) -> String {
        self.launches.site(source).map(|site| site.to_string()).unwrap_or_default()
    }
}

/// Whether a thread cannot continue, or its address is unknown, without a value.
fn is_blocked(action: &Action) -> bool {
    matches!(
        action,
        Action::NeedsValue
            | Action::Read { target: None, .. }
            | Action::Write { target: None, .. }
            | Action::Update { target: None, .. }
    )
}
