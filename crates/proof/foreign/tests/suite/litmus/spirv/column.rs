//! A thread's column: its instructions as those of SPIR-V.

use wattle_ir::AtomicOp;
use wattle_litmus::{Comparison, Instruction, Operand, Operator, Program, Thread, Update};
use wattle_memory::{Label, Level};

use super::words::Words;
use super::{Beyond, Layout, Storage, word};

/// A thread's column.
pub struct Column<'p> {
    pub program: &'p Program,
    pub layout: &'p Layout,
    pub thread: usize,
}

impl<'p> Column<'p> {
    pub fn thread(&self) -> &'p Thread {
        &self.program.threads[self.thread]
    }

    /// The variable of a register.
    pub fn register(&self, register: usize) -> String {
        format!("%t{}r{register}", self.thread)
    }

    /// The pointer to the location of a name.
    fn pointer(&self, reference: usize) -> String {
        let location = self.program.references[reference].location;
        match self.layout.locations[location] {
            Storage::Buffer => format!("%p{location}"),
            Storage::Workgroup | Storage::Output => format!("%m{location}"),
        }
    }

    /// The value of an operand.
    fn operand(&self, words: &mut Words, operand: Operand) -> Result<String, Beyond> {
        match operand {
            Operand::Register(register) => Ok(words.result(format!("OpLoad %int {}", self.register(register)))),
            Operand::Constant(constant) => Ok(words.int(word(constant)?)),
        }
    }

    fn set(&self, words: &mut Words, register: usize, value: &str) {
        words.line(format!("OpStore {} {value}", self.register(register)));
    }

    /// The memory operands of a plain access, with the one that stands for its availability or visibility operation.
    fn operands(words: &mut Words, label: &Label, coherence: &str) -> String {
        match (label.private, label.coherent) {
            (true, _) => String::new(),
            (false, false) => " NonPrivatePointer".to_owned(),
            (false, true) => format!(" NonPrivatePointer|{coherence} {}", scope(words, label.level)),
        }
    }

    /// The bits of memory semantics.
    pub fn semantics(&self, words: &mut Words, acquire: Option<&Label>, release: Option<&Label>) -> String {
        let acquire = acquire.filter(|label| label.acquire);
        let release = release.filter(|label| label.release);
        let order = match (acquire, release) {
            (None, None) => 0,
            (Some(_), None) => 0x2,
            (None, Some(_)) => 0x4,
            (Some(_), Some(_)) => 0x8,
        };
        let mut bits = order;
        for (label, makes, bit) in [
            (release, release.is_some_and(|label| label.makes_available), 0x2000),
            (acquire, acquire.is_some_and(|label| label.makes_visible), 0x4000),
        ] {
            bits |= label.map_or(0, |label| self.layout.semantics(label.semantics));
            bits |= if makes { bit } else { 0 };
        }
        words.uint(bits)
    }

    /// Writes an instruction that neither jumps nor waits.
    pub fn instruction(&self, words: &mut Words, at: usize) -> Result<(), Beyond> {
        match &self.thread().code[at] {
            Instruction::Load { to, from, label } => {
                let pointer = self.pointer(*from);
                let value = if label.atomic {
                    let (scope, semantics) = (scope(words, label.level), self.semantics(words, Some(label), None));
                    words.result(format!("OpAtomicLoad %int {pointer} {scope} {semantics}"))
                } else {
                    let operands = Column::operands(words, label, "MakePointerVisible");
                    words.result(format!("OpLoad %int {pointer}{operands}"))
                };
                self.set(words, *to, &value);
            }
            Instruction::Store { to, value, label } => {
                let (pointer, value) = (self.pointer(*to), self.operand(words, *value)?);
                if label.atomic {
                    let (scope, semantics) = (scope(words, label.level), self.semantics(words, None, Some(label)));
                    words.line(format!("OpAtomicStore {pointer} {scope} {semantics} {value}"));
                } else {
                    let operands = Column::operands(words, label, "MakePointerAvailable");
                    words.line(format!("OpStore {pointer} {value}{operands}"));
                }
            }
            Instruction::Update { result, at, update, read, write } => {
                let pointer = self.pointer(*at);
                let scope = scope(words, read.level);
                let semantics = self.semantics(words, Some(read), Some(write));
                let old = match *update {
                    Update::Apply(op, operand) => {
                        let (name, operand) = (operation(op)?, self.operand(words, operand)?);
                        words.result(format!("{name} %int {pointer} {scope} {semantics} {operand}"))
                    }
                    Update::CompareExchange { expected, desired } => {
                        // One that fails only reads.
                        let unequal = self.semantics(words, Some(read), None);
                        let (expected, desired) = (self.operand(words, expected)?, self.operand(words, desired)?);
                        words.result(format!(
                            "OpAtomicCompareExchange %int {pointer} {scope} {semantics} {unequal} {desired} {expected}"
                        ))
                    }
                };
                result.iter().for_each(|&result| self.set(words, result, &old));
            }
            Instruction::Fence(label) if label.kind == wattle_memory::Kind::Fence => {
                let (scope, semantics) = (scope(words, label.level), self.semantics(words, Some(label), Some(label)));
                words.line(format!("OpMemoryBarrier {scope} {semantics}"));
            }
            Instruction::Fence(_) => return Err("an operation to the device domain"),
            Instruction::Barrier { .. } => return Err("a barrier that not all threads of its scope come to"),
            Instruction::Move { to, value } => {
                let value = self.operand(words, *value)?;
                self.set(words, *to, &value);
            }
            Instruction::Compute { operator, to, left, right } => {
                let (left, right) = (self.operand(words, *left)?, self.operand(words, *right)?);
                let value = words.result(format!("{} %int {left} {right}", arithmetic(*operator)));
                self.set(words, *to, &value);
            }
            Instruction::Branch { .. } | Instruction::Goto(_) => return Err("a jump in the middle of a block"),
        }
        Ok(())
    }

    /// The condition of a branch.
    pub fn condition(&self, words: &mut Words, at: usize) -> Result<String, Beyond> {
        let &Instruction::Branch { comparison, left, right, .. } = &self.thread().code[at] else {
            return Err("a branch that is none");
        };
        let (left, right) = (self.operand(words, left)?, self.operand(words, right)?);
        Ok(words.result(format!("{} %bool {left} {right}", sign(comparison))))
    }
}

/// A scope, as a constant.
pub fn scope(words: &mut Words, level: Level) -> String {
    words.uint(match level {
        Level::System => 0,
        Level::Device => 1,
        Level::Block => 2,
        Level::Subgroup => 3,
        Level::Thread => 4,
        Level::QueueFamily => 5,
    })
}

fn operation(op: AtomicOp) -> Result<&'static str, Beyond> {
    Ok(match op {
        AtomicOp::Exchange => "OpAtomicExchange",
        AtomicOp::Add => "OpAtomicIAdd",
        AtomicOp::Sub => "OpAtomicISub",
        AtomicOp::Min => "OpAtomicSMin",
        AtomicOp::Max => "OpAtomicSMax",
        AtomicOp::And => "OpAtomicAnd",
        AtomicOp::Or => "OpAtomicOr",
        AtomicOp::Xor => "OpAtomicXor",
        AtomicOp::Inc | AtomicOp::Dec => return Err("an increment that wraps where its operand says"),
    })
}

fn arithmetic(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "OpIAdd",
        Operator::Sub => "OpISub",
        Operator::Mul => "OpIMul",
        Operator::Div => "OpSDiv",
        Operator::Rem => "OpSRem",
        Operator::And => "OpBitwiseAnd",
        Operator::Or => "OpBitwiseOr",
        Operator::Xor => "OpBitwiseXor",
        Operator::Shl => "OpShiftLeftLogical",
        Operator::Shr => "OpShiftRightLogical",
    }
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "OpIEqual",
        Comparison::NotEqual => "OpINotEqual",
        Comparison::Less => "OpSLessThan",
        Comparison::LessOrEqual => "OpSLessThanEqual",
        Comparison::Greater => "OpSGreaterThan",
        Comparison::GreaterOrEqual => "OpSGreaterThanEqual",
    }
}
