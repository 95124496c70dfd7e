//! Updates that a write of another thread can divide.
//!
//! Atomicity keeps a write from between the two halves of a read-modify-write only where the model says so: PTX for
//! morally strong operations (PTX ISA 8.5, 8.10.3 "Atomicity"), so that an unlock of narrower scope, or a weak one, can
//! be lost in an exchange. The model itself is asked about each pair.
//!
//! So this file and `judge`, `lasso` and `evidence` refer to each other: an answer about liveness depends on the divided
//! updates, and each of those on an answer about the outcome of a program of two instructions, which asks no further.

use std::collections::HashSet;

use wattle_ir::AtomicOp;
use wattle_memory::{Model, ThreadId};

use crate::ask::Question;
use crate::condition::{Claim, Comparison, Condition, Observed, Quantifier, Term};
use crate::judge::{Answer, JudgeError, Options, judge};
use crate::process::World;
use crate::program::{Instruction, Operand, Program, Register, Update};

/// The pairs of an update and a write of another thread, by their sources, of which the write can stand between the
/// update's halves.
#[derive(Clone, Debug, Default)]
pub struct Divided {
    pairs: HashSet<(u32, u32)>,
}

impl Divided {
    /// Asks the model about each update and each write of another thread to its location.
    ///
    /// # Errors
    /// The accesses of the program cannot be searched.
    pub fn of(world: &World, model: Model, options: &Options) -> Result<Divided, JudgeError> {
        let program = world.program();
        let location = |instruction: &Instruction| {
            instruction.written().and_then(|reference| program.references.get(reference)).map(|name| name.location)
        };
        let writes: Vec<(ThreadId, usize, &Instruction)> = (program.threads.iter().enumerate())
            .flat_map(|(thread, of)| of.code.iter().enumerate().map(move |(at, instruction)| (thread, at, instruction)))
            .filter(|(.., instruction)| instruction.written().is_some())
            .collect();
        let mut pairs = HashSet::new();
        for &(thread, at, update) in &writes {
            if !matches!(update, Instruction::Update { .. }) {
                continue;
            }
            for &(other, beside, write) in &writes {
                if other != thread
                    && location(update) == location(write)
                    && can_divide(program, (thread, update), (other, write), model, options)?
                {
                    pairs.insert((program.source(thread, at), program.source(other, beside)));
                }
            }
        }
        Ok(Divided { pairs })
    }

    /// Whether there is no such pair.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether some write can divide the update.
    pub(crate) fn has(&self, update: u32) -> bool {
        self.pairs.iter().any(|&(known, _)| known == update)
    }

    /// Whether the write can divide the update.
    pub(crate) fn by(&self, update: u32, write: u32) -> bool {
        self.pairs.contains(&(update, write))
    }
}

/// Whether an exchange in the place of the update can read the first value and still be last, where the other thread
/// writes beside it.
fn can_divide(
    program: &Program,
    (thread, update): (ThreadId, &Instruction),
    (other, write): (ThreadId, &Instruction),
    model: Model,
    options: &Options,
) -> Result<bool, JudgeError> {
    const BESIDE: u64 = 1;
    const LAST: u64 = 2;
    let &Instruction::Update { at, read, write: half, .. } = update else { return Ok(false) };
    let exchange = |value| Update::Apply(AtomicOp::Exchange, Operand::Constant(value));
    let mut alone = Program { filter: None, ..program.clone() };
    alone.locations.fill(0);
    for thread in &mut alone.threads {
        (thread.code, thread.labels) = (Vec::new(), Vec::new());
        thread.registers = vec![Register { name: "old".to_owned(), initial: BESIDE }];
    }
    let first = Instruction::Update { result: Some(0), at, update: exchange(LAST), read, write: half };
    alone.threads[thread].code.push(first);
    alone.threads[other].code.push(match *write {
        Instruction::Store { to, label, .. } => Instruction::Store { to, value: Operand::Constant(BESIDE), label },
        Instruction::Update { at, read, write, .. } => {
            Instruction::Update { result: None, at, update: exchange(BESIDE), read, write }
        }
        Instruction::Load { .. }
        | Instruction::Fence(_)
        | Instruction::Barrier { .. }
        | Instruction::Move { .. }
        | Instruction::Compute { .. }
        | Instruction::Branch { .. }
        | Instruction::Goto(_) => return Ok(false),
    });
    let location = program.references.get(at).map_or(0, |name| name.location);
    let is = |observed, value| Condition::Compare(Term::Final(observed), Comparison::Equal, Term::Constant(value));
    let read = is(Observed::Register { thread, register: 0 }, 0);
    let last = is(Observed::Memory(location), LAST);
    let condition = read.and(last);
    alone.claim = Some(Claim { quantifier: Quantifier::Exists, condition });
    let verdict =
        judge(&World::new(alone), model, Question::Outcome, &Options { count_all: false, ..options.clone() })?;
    // Where there is no answer, it is taken for possible.
    Ok(verdict.answer != Answer::No)
}
