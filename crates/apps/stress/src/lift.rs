//! Takes a litmus file for a program of the language, wherever it has a meaning there.
//!
//! What a file orders less than the language can say is strengthened, and noted: a subgroup's scope becomes the
//! block's, an acquire without visibility becomes the language's acquire. The program that runs is then another than
//! the file's, and it is that program whose outcomes the models are asked for; so a note never hides a forbidden
//! outcome.

use std::collections::BTreeSet;

use thiserror::Error;
use wattle_litmus::{Instruction, Observed, Operand as FileOperand, Operator, Program as File, Update};
use wattle_memory::{Classes, FenceOrder, Kind, Label, Level, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::interpreted::{MOST_REGISTERS, UPDATES};
use crate::program::{Op, Operand, Program, Thread, Word};

/// The reason why a litmus file has no meaning as a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoKernel {
    /// The file's threads are on several devices.
    #[error("its threads are on several devices, and a launch is on one")]
    Devices,
    /// The file's threads are in several queue families.
    #[error("its threads are in several queue families, and a launch is in one")]
    QueueFamilies,
    /// The file orders threads outside of kernels.
    #[error("it orders its threads outside of kernels (`ssw`, `avdevice`, `visdevice`)")]
    OutsideOfKernels,
    /// Several threads touch a word by private accesses.
    #[error("several threads touch `{0}` by private accesses, which the language has for a thread's own memory alone")]
    Private(String),
    /// A number does not fit.
    #[error("the number {0} is beyond `i32`, the type of the words that are tried on devices")]
    Number(i64),
    /// An instruction that the language lacks on words of 32 bits.
    #[error("`{0}` is none of the instructions on words of 32 bits that are tried on devices")]
    Instruction(String),
    /// A barrier that is not the whole block's.
    #[error("a barrier is the whole block's in the language: {0}")]
    Barrier(&'static str),
    /// The file reads or observes nothing.
    #[error("it observes nothing: no register is read into, and the claim names no location")]
    Nothing,
    /// The file is too large for the kernels that run it.
    #[error("a thread has {found} {what}; {most} at the most")]
    TooLarge {
        /// What the thread has too many of.
        what: &'static str,
        /// How many of them the thread has.
        found: usize,
        /// The greatest number that the kernels take.
        most: usize,
    },
}

/// The most words of a program.
pub const MOST_WORDS: usize = 16;

/// The program that a litmus file is.
///
/// # Errors
/// It has no meaning as a kernel.
pub fn lift(file: &File) -> Result<Program, NoKernel> {
    placements(file)?;
    let mut notes = BTreeSet::new();
    let words = words(file, &mut notes)?;
    let mut blocks: Vec<_> = Vec::new();
    let mut threads = Vec::new();
    for thread in &file.threads {
        let group = (thread.placement.device, thread.placement.queue_family, thread.placement.block);
        let block = blocks.iter().position(|known| *known == group).unwrap_or_else(|| {
            blocks.push(group);
            blocks.len() - 1
        });
        let registers = thread.registers.iter().map(|it| Ok((it.name.clone(), number(it.initial)?)));
        let registers: Vec<_> = registers.collect::<Result<_, NoKernel>>()?;
        at_most("registers", registers.len(), MOST_REGISTERS)?;
        let lines = file.origin.places.get(threads.len());
        let mut code = Vec::new();
        for (at, instruction) in thread.code.iter().enumerate() {
            let line = lines.and_then(|lines| lines.get(at)).map_or(0, |place| place.line);
            let op = operation(file, thread, instruction, &words, &mut notes)?;
            code.push((op, line));
        }
        threads.push(Thread { block, registers, code });
    }
    let observed = observed(file)?;
    let notes = notes.into_iter().collect();
    let program = Program { name: file.name.clone(), words, threads, observed, notes };
    barriers(file, &program)?;
    Ok(program)
}

fn at_most(what: &'static str, found: usize, most: usize) -> Result<(), NoKernel> {
    if found <= most { Ok(()) } else { Err(NoKernel::TooLarge { what, found, most }) }
}

fn placements(file: &File) -> Result<(), NoKernel> {
    let one = |of: fn(&wattle_litmus::Thread) -> u32| file.threads.windows(2).all(|two| of(&two[0]) == of(&two[1]));
    if !one(|thread| thread.placement.device) {
        return Err(NoKernel::Devices);
    }
    if !one(|thread| thread.placement.queue_family) {
        return Err(NoKernel::QueueFamilies);
    }
    if file.system.is_empty() { Ok(()) } else { Err(NoKernel::OutsideOfKernels) }
}

fn number(value: u64) -> Result<i32, NoKernel> {
    let value = value as i64;
    i32::try_from(value).map_err(|_| NoKernel::Number(value))
}

fn operand(operand: FileOperand) -> Result<Operand, NoKernel> {
    Ok(match operand {
        FileOperand::Register(register) => Operand::Register(register),
        FileOperand::Constant(value) => Operand::Constant(number(value)?),
    })
}

/// The words. One that any access touches atomically is atomic for all of them, since a view is one or the other.
fn words(file: &File, notes: &mut BTreeSet<String>) -> Result<Vec<Word>, NoKernel> {
    at_most("words", file.locations.len(), MOST_WORDS)?;
    let all = file.locations.iter().enumerate().map(|(location, &initial)| {
        let name = file.location_name(location).to_owned();
        let (mut atomic, mut plain) = (false, false);
        let mut private = BTreeSet::new();
        for (thread, it) in file.threads.iter().enumerate() {
            for (at, label) in it.code.iter().filter_map(accessed) {
                if file.references[at].location == location {
                    *(if label.atomic { &mut atomic } else { &mut plain }) = true;
                    if label.private {
                        private.insert(thread);
                    }
                }
            }
        }
        if private.len() > 1 {
            return Err(NoKernel::Private(name));
        }
        if atomic && plain {
            notes.insert(format!(
                "the plain accesses of `{name}` are relaxed atomics of block scope: other accesses of it are atomic"
            ));
        }
        Ok(Word { name, initial: number(initial)?, atomic })
    });
    all.collect()
}

/// The name and the label of an access; of a read-modify-write that of its read.
fn accessed(instruction: &Instruction) -> Option<(usize, &Label)> {
    match instruction {
        Instruction::Load { from, label, .. } => Some((*from, label)),
        Instruction::Store { to, label, .. } => Some((*to, label)),
        Instruction::Update { at, read, .. } => Some((*at, read)),
        Instruction::Fence(_)
        | Instruction::Barrier { .. }
        | Instruction::Move { .. }
        | Instruction::Compute { .. }
        | Instruction::Branch { .. }
        | Instruction::Goto(_) => None,
    }
}

/// The scope that includes a level's threads, all of which are on one device.
fn scope(level: Level, notes: &mut BTreeSet<String>) -> Scope {
    match level {
        Level::Thread | Level::Block => Scope::Block,
        Level::Subgroup => {
            notes.insert("subgroup scope is block scope, which the language has".into());
            Scope::Block
        }
        Level::QueueFamily => {
            notes.insert("queue family scope is device scope, which the language has".into());
            Scope::Device
        }
        Level::Device => Scope::Device,
        Level::System => Scope::System,
    }
}

/// Notes where the language's acquire or release orders more than the label's.
fn strengthened(file: &File, label: &Label, notes: &mut BTreeSet<String>) {
    let of_vulkan = file.dialect == wattle_litmus::Dialect::Vulkan && (label.acquire || label.release);
    let makes = (!label.acquire || label.makes_visible) && (!label.release || label.makes_available);
    if of_vulkan && !(makes && label.semantics.includes(Classes::BOTH)) {
        notes.insert("acquire and release apply to all memory, and make it visible and available".into());
    }
}

fn operation(
    file: &File,
    thread: &wattle_litmus::Thread,
    instruction: &Instruction,
    words: &[Word],
    notes: &mut BTreeSet<String>,
) -> Result<Op, NoKernel> {
    let word = |reference: usize| file.references[reference].location;
    for label in labels(instruction) {
        strengthened(file, label, notes);
    }
    Ok(match instruction {
        Instruction::Load { to, from, label } if words[word(*from)].atomic => {
            let order = if label.acquire { ReadOrder::Acquire } else { ReadOrder::Relaxed };
            let scope = if label.atomic { scope(label.level, notes) } else { Scope::Block };
            Op::AtomicLoad { to: *to, word: word(*from), order, scope }
        }
        Instruction::Load { to, from, .. } => Op::Load { to: *to, word: word(*from) },
        Instruction::Store { to, value, label } if words[word(*to)].atomic => {
            let order = if label.release { WriteOrder::Release } else { WriteOrder::Relaxed };
            let scope = if label.atomic { scope(label.level, notes) } else { Scope::Block };
            Op::AtomicStore { word: word(*to), value: operand(*value)?, order, scope }
        }
        Instruction::Store { to, value, .. } => Op::Store { word: word(*to), value: operand(*value)? },
        Instruction::Update { result, at, update, read, write } => {
            let order = match (read.acquire, write.release) {
                (false, false) => UpdateOrder::Relaxed,
                (true, false) => UpdateOrder::Acquire,
                (false, true) => UpdateOrder::Release,
                (true, true) => UpdateOrder::AcqRel,
            };
            let (to, word, scope) = (*result, word(*at), scope(read.level, notes));
            match *update {
                Update::Apply(op, _) if !UPDATES.contains(&op) => {
                    return Err(NoKernel::Instruction(op.name().to_owned()));
                }
                Update::Apply(op, value) => Op::Update { to, word, op, operand: operand(value)?, order, scope },
                Update::CompareExchange { expected, desired } => {
                    let (expected, desired) = (operand(expected)?, operand(desired)?);
                    Op::CompareExchange { to, word, expected, desired, order, scope }
                }
            }
        }
        Instruction::Fence(label) => match label.kind {
            Kind::MakeAvailable | Kind::MakeVisible => return Err(NoKernel::OutsideOfKernels),
            Kind::Fence | Kind::Barrier | Kind::Read | Kind::Write => {
                let order = match (label.sc, label.acquire, label.release) {
                    (true, _, _) => FenceOrder::SeqCst,
                    (false, true, true) => FenceOrder::AcqRel,
                    (false, true, false) => FenceOrder::Acquire,
                    (false, false, true) => FenceOrder::Release,
                    (false, false, false) => return Err(NoKernel::Instruction("fence without an order".into())),
                };
                Op::Fence { order, scope: scope(label.level, notes) }
            }
        },
        Instruction::Barrier { quorum: Some(quorum), .. } if *quorum != FileOperand::Constant(mates(file, thread)) => {
            return Err(NoKernel::Barrier("the file's opens after some of the threads"));
        }
        Instruction::Barrier { waits: false, .. } => return Err(NoKernel::Barrier("the file's does not wait")),
        Instruction::Barrier { resource: Some(FileOperand::Register(_)), .. } => {
            return Err(NoKernel::Barrier("the file's has its number in a register"));
        }
        Instruction::Barrier { label, .. } => {
            if !(label.acquire && label.release) {
                notes.insert("a barrier orders memory too, which the file's does not".into());
            }
            Op::Barrier
        }
        Instruction::Move { to, value } => Op::Move { to: *to, value: operand(*value)? },
        Instruction::Compute { operator, to, left, right } => match operator {
            Operator::Add | Operator::Sub | Operator::Mul | Operator::And | Operator::Or | Operator::Xor => {
                Op::Compute { operator: *operator, to: *to, left: operand(*left)?, right: operand(*right)? }
            }
            Operator::Div | Operator::Rem | Operator::Shl | Operator::Shr => {
                return Err(NoKernel::Instruction(format!("{operator:?}").to_lowercase()));
            }
        },
        Instruction::Branch { comparison, left, right, to } => Op::Branch {
            comparison: *comparison,
            left: operand(*left)?,
            right: operand(*right)?,
            target: thread.target(*to),
        },
        Instruction::Goto(to) => Op::Goto(thread.target(*to)),
    })
}

/// The number of threads in a thread's block.
fn mates(file: &File, thread: &wattle_litmus::Thread) -> u64 {
    file.threads.iter().filter(|other| other.placement.shares(&thread.placement, Level::Block)).count() as u64
}

fn labels(instruction: &Instruction) -> Vec<&Label> {
    match instruction {
        Instruction::Load { label, .. }
        | Instruction::Store { label, .. }
        | Instruction::Fence(label)
        | Instruction::Barrier { label, .. } => vec![label],
        Instruction::Update { read, write, .. } => vec![read, write],
        Instruction::Move { .. } | Instruction::Compute { .. } | Instruction::Branch { .. } | Instruction::Goto(_) => {
            Vec::new()
        }
    }
}

/// What the claim and the filter observe; where that is nothing, every register that memory is read into.
fn observed(file: &File) -> Result<Vec<Observed>, NoKernel> {
    let mut all = BTreeSet::new();
    let conditions = file.filter.iter().chain(file.claim.iter().map(|claim| &claim.condition));
    conditions.for_each(|condition| {
        condition.visit(&mut |seen| {
            all.insert(seen);
        });
    });
    if all.is_empty() {
        for (thread, it) in file.threads.iter().enumerate() {
            for instruction in &it.code {
                if let Instruction::Load { to: register, .. } | Instruction::Update { result: Some(register), .. } =
                    *instruction
                {
                    all.insert(Observed::Register { thread, register });
                }
            }
        }
    }
    if all.is_empty() { Err(NoKernel::Nothing) } else { Ok(all.into_iter().collect()) }
}

/// Refuses barriers that not all threads of the block reach one after another, on every way through their code.
fn barriers(file: &File, program: &Program) -> Result<(), NoKernel> {
    for block in 0..program.blocks() {
        let mut first: Option<Vec<(u64, Option<FileOperand>)>> = None;
        for thread in program.members(block) {
            let barriers = file.threads[thread].code.iter().filter_map(|instruction| match *instruction {
                Instruction::Barrier { instance, resource, .. } => Some((instance, resource)),
                _ => None,
            });
            let barriers: Vec<_> = barriers.collect();
            if *first.get_or_insert_with(|| barriers.clone()) != barriers {
                return Err(NoKernel::Barrier("the file's threads of a block wait at different ones"));
            }
            let phase = phases(&program.threads[thread]);
            let crosses = |(at, (op, _)): (usize, &(Op, u32))| {
                op.target().is_some_and(|target| phase[target.min(phase.len() - 1)] != phase[at])
            };
            if program.threads[thread].code.iter().enumerate().any(crosses) {
                return Err(NoKernel::Barrier("the file jumps across one"));
            }
        }
    }
    Ok(())
}

/// For each operation, and for the end, the number of barriers before it.
pub(crate) fn phases(thread: &Thread) -> Vec<usize> {
    let mut phase = 0;
    let mut phases = Vec::new();
    for (op, _) in &thread.code {
        phases.push(phase);
        phase += usize::from(matches!(op, Op::Barrier));
    }
    phases.push(phase);
    phases
}
