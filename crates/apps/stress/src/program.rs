//! A litmus test in the words of the language: a short list of operations for each thread.

use std::fmt;

use wattle_ir::AtomicOp;
use wattle_litmus::{Comparison, Observed, Operator};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

/// The number of a word of memory in its program; litmus files call it a location.
pub type WordId = usize;
/// The number of a register in its thread.
pub type RegisterId = usize;

/// A litmus test whose operations are those of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name of the test.
    pub name: String,
    /// The words of memory that its threads share.
    pub words: Vec<Word>,
    /// The threads, grouped by their blocks in no particular order.
    pub threads: Vec<Thread>,
    /// The registers and words whose last values are an outcome. Threads, registers and words have the numbers that
    /// they have in the litmus file.
    pub observed: Vec<Observed>,
    /// The changes to the file by which it has a meaning in the language, each in a sentence.
    pub notes: Vec<String>,
}

/// A word of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The name of the word in the litmus file.
    pub name: String,
    /// The value at the start.
    pub initial: i32,
    /// Whether it is in an `Atomic` view; otherwise it is in a `Shared` one.
    pub atomic: bool,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The number of its block, from 0 without gaps.
    pub block: usize,
    /// The registers: name and value at the start.
    pub registers: Vec<(String, i32)>,
    /// The operations, each with its line in the file.
    pub code: Vec<(Op, u32)>,
}

/// A register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The value of the register.
    Register(RegisterId),
    /// The constant.
    Constant(i32),
}

/// An operation. Jumps go to the number of an operation, or to the end of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields mean the same everywhere: `to` gets the value that is read")]
pub enum Op {
    /// A plain load.
    Load { to: RegisterId, word: WordId },
    /// A plain store.
    Store { word: WordId, value: Operand },
    /// An atomic load.
    AtomicLoad { to: RegisterId, word: WordId, order: ReadOrder, scope: Scope },
    /// An atomic store.
    AtomicStore { word: WordId, value: Operand, order: WriteOrder, scope: Scope },
    /// An atomic read-modify-write.
    Update { to: Option<RegisterId>, word: WordId, op: AtomicOp, operand: Operand, order: UpdateOrder, scope: Scope },
    /// An atomic compare-exchange.
    CompareExchange {
        to: Option<RegisterId>,
        word: WordId,
        expected: Operand,
        desired: Operand,
        order: UpdateOrder,
        scope: Scope,
    },
    /// A fence.
    Fence { order: FenceOrder, scope: Scope },
    /// The block's barrier.
    Barrier,
    /// Sets a register.
    Move { to: RegisterId, value: Operand },
    /// Computes a value.
    Compute { operator: Operator, to: RegisterId, left: Operand, right: Operand },
    /// Jumps where a comparison holds.
    Branch { comparison: Comparison, left: Operand, right: Operand, target: usize },
    /// Jumps.
    Goto(usize),
}

/// The order of a fence or atomic operation, in its place.
pub(crate) enum OrderMut<'o> {
    /// The order of a load.
    Read(&'o mut ReadOrder),
    /// The order of a store.
    Write(&'o mut WriteOrder),
    /// The order of a read-modify-write.
    Update(&'o mut UpdateOrder),
    /// The order of a fence.
    Fence(&'o mut FenceOrder),
}

impl Op {
    /// The order and the scope of a fence or atomic operation.
    pub(crate) fn synchronization(&mut self) -> Option<(OrderMut<'_>, &mut Scope)> {
        match self {
            Op::AtomicLoad { order, scope, .. } => Some((OrderMut::Read(order), scope)),
            Op::AtomicStore { order, scope, .. } => Some((OrderMut::Write(order), scope)),
            Op::Update { order, scope, .. } | Op::CompareExchange { order, scope, .. } => {
                Some((OrderMut::Update(order), scope))
            }
            Op::Fence { order, scope } => Some((OrderMut::Fence(order), scope)),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::Barrier
            | Op::Move { .. }
            | Op::Compute { .. }
            | Op::Branch { .. }
            | Op::Goto(_) => None,
        }
    }

    /// The scope of a fence or atomic operation.
    pub fn scope(mut self) -> Option<Scope> {
        self.synchronization().map(|(_, scope)| *scope)
    }

    /// Returns the operation at another scope; without a change if it has none.
    pub fn with_scope(mut self, new: Scope) -> Op {
        if let Some((_, scope)) = self.synchronization() {
            *scope = new;
        }
        self
    }

    /// The number of the operation that a jump goes to, in its place.
    pub(crate) fn target_mut(&mut self) -> Option<&mut usize> {
        match self {
            Op::Branch { target, .. } | Op::Goto(target) => Some(target),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::AtomicLoad { .. }
            | Op::AtomicStore { .. }
            | Op::Update { .. }
            | Op::CompareExchange { .. }
            | Op::Fence { .. }
            | Op::Barrier
            | Op::Move { .. }
            | Op::Compute { .. } => None,
        }
    }

    /// The number of the operation that a jump goes to.
    pub fn target(mut self) -> Option<usize> {
        self.target_mut().map(|target| *target)
    }
}

impl Program {
    /// Returns the number of blocks that the program's threads are in.
    pub fn blocks(&self) -> usize {
        self.threads.iter().map(|thread| thread.block + 1).max().unwrap_or(0)
    }

    /// The threads of a block, by number.
    pub fn members(&self, block: usize) -> Vec<usize> {
        (0..self.threads.len()).filter(|&thread| self.threads[thread].block == block).collect()
    }

    /// The most threads that a block has.
    pub fn threads_per_block(&self) -> usize {
        (0..self.blocks()).map(|block| self.members(block).len()).max().unwrap_or(0)
    }

    /// The widest scope that an operation has.
    pub fn widest(&self) -> Scope {
        let scopes = self.threads.iter().flat_map(|thread| thread.code.iter().filter_map(|(op, _)| op.scope()));
        scopes.max().unwrap_or(Scope::Block)
    }

    /// Returns the program for a device without system scope: its threads are all on one device, so device scope
    /// includes them all.
    #[must_use]
    pub fn without_system_scope(&self) -> Program {
        let mut program = self.clone();
        let code = program.threads.iter_mut().flat_map(|thread| thread.code.iter_mut());
        for (op, _) in code.filter(|(op, _)| op.scope() == Some(Scope::System)) {
            *op = op.with_scope(Scope::Device);
        }
        if program != *self {
            program.notes.push("system scope is device scope: the device has none, and all threads are on it".into());
        }
        program
    }

    /// The names of what is observed: `P0:r1` or `x`.
    pub fn observed_names(&self) -> Vec<String> {
        let name = |observed: &Observed| match *observed {
            Observed::Register { thread, register } => {
                format!("P{thread}:{}", self.threads[thread].registers[register].0)
            }
            Observed::Memory(word) => self.words[word].name.clone(),
        };
        self.observed.iter().map(name).collect()
    }

    /// An operation as the language writes it.
    pub fn op_text(&self, thread: usize, op: &Op) -> String {
        OpText { program: self, thread, op }.to_string()
    }
}

/// Formats a thread's operations in the language's words, one a line.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, thread) in self.threads.iter().enumerate() {
            writeln!(f, "P{number} in block {}:", thread.block)?;
            for (at, (op, _)) in thread.code.iter().enumerate() {
                writeln!(f, "  {at:2}  {}", self.op_text(number, op))?;
            }
        }
        Ok(())
    }
}

struct OpText<'p> {
    program: &'p Program,
    thread: usize,
    op: &'p Op,
}

impl OpText<'_> {
    fn register(&self, register: RegisterId) -> &str {
        &self.program.threads[self.thread].registers[register].0
    }

    fn result(&self, register: Option<RegisterId>) -> String {
        register.map_or(String::new(), |register| format!("{} = ", self.register(register)))
    }

    fn word(&self, word: WordId) -> &str {
        &self.program.words[word].name
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Register(register) => self.register(register).to_owned(),
            Operand::Constant(value) => value.to_string(),
        }
    }
}

impl fmt::Display for OpText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.op {
            Op::Load { to, word } => write!(f, "{} = {}", self.register(to), self.word(word)),
            Op::Store { word, value } => write!(f, "{} = {}", self.word(word), self.operand(value)),
            Op::AtomicLoad { to, word, order, scope } => {
                write!(f, "{} = {}.load({scope:?}, {order:?})", self.register(to), self.word(word))
            }
            Op::AtomicStore { word, value, order, scope } => {
                write!(f, "{}.store({}, {scope:?}, {order:?})", self.word(word), self.operand(value))
            }
            Op::Update { to, word, op, operand, order, scope } => write!(
                f,
                "{}{}.{}({}, {scope:?}, {order:?})",
                self.result(to),
                self.word(word),
                op.name(),
                self.operand(operand)
            ),
            Op::CompareExchange { to, word, expected, desired, order, scope } => write!(
                f,
                "{}{}.compare_exchange({}, {}, {scope:?}, {order:?})",
                self.result(to),
                self.word(word),
                self.operand(expected),
                self.operand(desired)
            ),
            Op::Fence { order, scope } => write!(f, "mem_fence({scope:?}, {order:?})"),
            Op::Barrier => f.write_str("sync_block()"),
            Op::Move { to, value } => write!(f, "{} = {}", self.register(to), self.operand(value)),
            Op::Compute { operator, to, left, right } => {
                let (left, right) = (self.operand(left), self.operand(right));
                write!(f, "{} = {operator:?}({left}, {right})", self.register(to))
            }
            Op::Branch { comparison, left, right, target } => {
                let (left, right) = (self.operand(left), self.operand(right));
                write!(f, "if {comparison:?}({left}, {right}) goto {target}")
            }
            Op::Goto(target) => write!(f, "goto {target}"),
        }
    }
}
