//! What the models allow a program: its operations as the lowering table has them for a target, and their ends.

use std::collections::BTreeSet;

use wattle_litmus::{
    Claim, Comparison, Condition, Dialect, Ends, Instruction, JudgeError, JumpTarget, Observed, Operand as FileOperand,
    Operator, Options, Origin, Program as File, Quantifier, Reference, Register, Term, Thread as FileThread, Update,
    World, ends,
};
use wattle_memory::{Classes, Lowered, Lowering, Model, NoScope, Placement, Target};

use crate::program::{Op, Operand, Program, Thread};

/// The reason why a target's outcomes are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotJudged {
    /// The target lacks a scope.
    #[error(transparent)]
    Scope(#[from] NoScope),
    /// The search does not support the program.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// The environment has words in the memory of one block, and the program's threads are not of one, or the device
    /// has none.
    #[error(
        "`space=block` keeps a program's words in the memory of one block, which needs a device with such memory, and all threads of the program in one block: use `space=device`"
    )]
    Apart,
}

/// The outcomes that a model allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The values of what is observed, at each end.
    pub outcomes: BTreeSet<Vec<i32>>,
    /// Whether some execution has a data race; `None` if that was not found out.
    pub races: Option<bool>,
    /// The reason why there may be further outcomes.
    pub missed: Option<String>,
}

impl Allowed {
    /// Whether every outcome that the model allows is known.
    pub fn is_complete(&self) -> bool {
        self.missed.is_none()
    }
}

/// The outcomes of a program that is lowered for a target, under a model.
///
/// # Errors
/// The target lacks a scope, or the search does not support the program.
pub fn allowed(program: &Program, target: Target, model: Model, options: &Options) -> Result<Allowed, NotJudged> {
    let file = lowered(program, target)?;
    let Ends { observed, values, races, missed } = ends(&World::new(file), model, options)?;
    let place = |wanted: &Observed| observed.iter().position(|it| it == wanted);
    let places: Vec<Option<usize>> = program.observed.iter().map(place).collect();
    let outcome = |end: &Vec<u64>| places.iter().map(|at| at.map_or(0, |at| end[at] as i64 as i32)).collect();
    let missed = missed.map(|reason| reason.to_string());
    Ok(Allowed { outcomes: values.iter().map(outcome).collect(), races, missed })
}

/// The litmus program that a target runs.
///
/// # Errors
/// The target lacks a scope.
pub fn lowered(program: &Program, target: Target) -> Result<File, NoScope> {
    let lowering = Lowering::new(target, program.widest());
    let hidden = program.words.len();
    let mut locations: Vec<u64> = program.words.iter().map(|word| i64::from(word.initial) as u64).collect();
    let mut references: Vec<Reference> = (program.words.iter().enumerate())
        .map(|(location, word)| Reference { name: word.name.clone(), location })
        .collect();
    locations.push(0);
    references.push(Reference { name: "hidden".into(), location: hidden });
    let mut threads = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        threads.push(lower_thread(thread, number, program, &lowering, hidden)?);
    }
    // A failed compare-exchange writes the old value back where the target's does, which the dialects differ in.
    let dialect = if lowering.failed_exchange_writes() { Dialect::Ptx } else { Dialect::Vulkan };
    Ok(File {
        dialect,
        name: program.name.clone(),
        description: Vec::new(),
        locations,
        references,
        system: Vec::new(),
        threads,
        filter: None,
        claim: claim(&program.observed),
        origin: Origin::default(),
    })
}

/// A claim that names everything that is observed, so that its values are kept to the end.
fn claim(observed: &[Observed]) -> Option<Claim> {
    let zero = |&it: &Observed| Condition::Compare(Term::Final(it), Comparison::Equal, Term::Constant(0));
    let condition = observed.iter().map(zero).reduce(Condition::and)?;
    Some(Claim { quantifier: Quantifier::Exists, condition })
}

fn value(operand: Operand) -> FileOperand {
    match operand {
        Operand::Register(register) => FileOperand::Register(register),
        Operand::Constant(value) => FileOperand::Constant(i64::from(value) as u64),
    }
}

/// What an operation gives for all values of its registers, if that is one. The language promises nothing by such a
/// dependency, since compilers remove it: NVIDIA's Vulkan driver was seen to, where the file's own model has it order.
fn whatever_is_read(operator: Operator, left: Operand, right: Operand) -> Option<i32> {
    let has_zero = [left, right].contains(&Operand::Constant(0));
    match operator {
        Operator::Sub | Operator::Xor if left == right => Some(0),
        Operator::And | Operator::Mul if has_zero => Some(0),
        Operator::Add | Operator::Sub | Operator::Mul | Operator::And | Operator::Or | Operator::Xor => None,
        Operator::Div | Operator::Rem | Operator::Shl | Operator::Shr => None,
    }
}

fn lower_thread(
    thread: &Thread,
    number: usize,
    program: &Program,
    lowering: &Lowering,
    hidden: usize,
) -> Result<FileThread, NoScope> {
    let mut code = Vec::new();
    // Where each operation begins, and the end.
    let mut begins = Vec::new();
    let mut barriers = 0;
    for (op, _) in &thread.code {
        begins.push(code.len());
        let one = match *op {
            Op::Load { to, word } => Instruction::Load { to, from: word, label: lowering.read(Classes::BUFFER, true) },
            Op::Store { word, value: it } => {
                Instruction::Store { to: word, value: value(it), label: lowering.write(Classes::BUFFER, true) }
            }
            Op::AtomicLoad { to, word, order, scope } => {
                let label = lowering.atomic_read(order, scope, Classes::BUFFER)?;
                Instruction::Load { to, from: word, label }
            }
            Op::AtomicStore { word, value: it, order, scope } => {
                let label = lowering.atomic_write(order, scope, Classes::BUFFER)?;
                Instruction::Store { to: word, value: value(it), label }
            }
            Op::Update { to, word, op, operand, order, scope } => {
                let (read, write) = lowering.update(order, scope, Classes::BUFFER)?;
                let update = Update::Apply(op, value(operand));
                Instruction::Update { result: to, at: word, update, read, write }
            }
            Op::CompareExchange { to, word, expected, desired, order, scope } => {
                let (read, write) = lowering.update(order, scope, Classes::BUFFER)?;
                let update = Update::CompareExchange { expected: value(expected), desired: value(desired) };
                Instruction::Update { result: to, at: word, update, read, write }
            }
            Op::Fence { order, scope } => {
                for step in lowering.fence(order, scope)? {
                    code.push(match step {
                        Lowered::Fence(label) => Instruction::Fence(label),
                        Lowered::HiddenUpdate { read, write } => {
                            let update = Update::Apply(wattle_ir::AtomicOp::Add, FileOperand::Constant(0));
                            Instruction::Update { result: None, at: hidden, update, read, write }
                        }
                    });
                }
                continue;
            }
            Op::Barrier => {
                barriers += 1;
                let label = lowering.barrier();
                Instruction::Barrier { instance: barriers, resource: None, quorum: None, waits: true, label }
            }
            Op::Move { to, value: it } => Instruction::Move { to, value: value(it) },
            Op::Compute { operator, to, left, right } => match whatever_is_read(operator, left, right) {
                Some(constant) => Instruction::Move { to, value: value(Operand::Constant(constant)) },
                None => Instruction::Compute { operator, to, left: value(left), right: value(right) },
            },
            Op::Branch { comparison, left, right, target } => {
                Instruction::Branch { comparison, left: value(left), right: value(right), to: target }
            }
            Op::Goto(target) => Instruction::Goto(target),
        };
        code.push(one);
    }
    begins.push(code.len());
    // Each operation has a label of its number.
    let label = |(number, &at): (usize, &usize)| JumpTarget { name: format!("L{number}"), at };
    let labels = begins.iter().enumerate().map(label).collect();
    let registers = thread.registers.iter();
    let registers =
        registers.map(|(name, initial)| Register { name: name.clone(), initial: i64::from(*initial) as u64 });
    let placement = Placement::new(program.threads[number].block as u32, number as u32);
    Ok(FileThread { placement, registers: registers.collect(), code, labels })
}
