//! The flow of a thread's code: where loops begin, which registers are live there and at the end, and which locations
//! it may still write.

use wattle_memory::LocationId;

use crate::ids::RegisterId;
use crate::program::{Instruction, Operand, Program, Thread, Update};

/// The properties of a thread's code that are known before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    /// For each instruction, and for the end, the registers that are dead before it; `None` except where a loop begins
    /// and at the end.
    dead: Vec<Option<Vec<RegisterId>>>,
    /// For each instruction, and for the end, whether a write to each location may come from there on.
    writes: Vec<Vec<bool>>,
}

impl Flow {
    /// Analyses a thread; `observed` are the registers that are read after its end.
    pub(crate) fn of(program: &Program, thread: &Thread, observed: &[RegisterId]) -> Flow {
        let end = thread.code.len();
        let mut keep = vec![false; end + 1];
        keep[end] = true;
        for (at, instruction) in thread.code.iter().enumerate() {
            if let Some(target) = instruction.jump().map(|to| thread.target(to)).filter(|&target| target <= at) {
                keep[target] = true;
            }
        }
        let live = live(thread, observed);
        let dead = |at: usize| (0..thread.registers.len()).filter(|&register| !live[at][register]).collect();
        Flow { dead: (0..=end).map(|at| keep[at].then(|| dead(at))).collect(), writes: writes(program, thread) }
    }

    /// Whether a write to a location may come from that instruction on.
    pub(crate) fn may_write(&self, at: usize, location: LocationId) -> bool {
        self.writes.get(at).and_then(|writes| writes.get(location)).copied().unwrap_or(false)
    }

    /// The registers that are dead where a loop begins or the code ends; `None` elsewhere.
    pub(crate) fn dead(&self, at: usize) -> Option<&[RegisterId]> {
        self.dead.get(at)?.as_deref()
    }

    /// Whether a loop begins at that instruction.
    pub(crate) fn loop_begins(&self, at: usize) -> bool {
        at + 1 < self.dead.len() && self.dead(at).is_some()
    }
}

/// For each instruction, and for the end, whether each register is live before it.
fn live(thread: &Thread, observed: &[RegisterId]) -> Vec<Vec<bool>> {
    let mut end = vec![false; thread.registers.len()];
    observed.iter().for_each(|&register| end[register] = true);
    backwards(thread, end, |instruction, live| {
        if let Some(written) = instruction.set() {
            live[written] = false;
        }
        for_operands(instruction, |operand| {
            if let Operand::Register(register) = operand {
                live[register] = true;
            }
        });
    })
}

/// For each instruction, and for the end, whether a write to each location may come from there on.
fn writes(program: &Program, thread: &Thread) -> Vec<Vec<bool>> {
    backwards(thread, vec![false; program.locations.len()], |instruction, writes| {
        if let Some(to) = instruction.written() {
            writes[program.references[to].location] = true;
        }
    })
}

/// Computes a set for each instruction and for the end: `end` at the end, elsewhere the result of `before` for the
/// union of the sets of all instructions that may come next.
fn backwards(thread: &Thread, end: Vec<bool>, before: impl Fn(&Instruction, &mut [bool])) -> Vec<Vec<bool>> {
    let none = vec![false; end.len()];
    let mut sets = vec![none.clone(); thread.code.len()];
    sets.push(end);
    // The pass goes from the last instruction to the first, so that only backward jumps need another pass.
    loop {
        let mut changed = false;
        for (at, instruction) in thread.code.iter().enumerate().rev() {
            let mut set = if instruction.falls_through() { sets[at + 1].clone() } else { none.clone() };
            if let Some(target) = instruction.jump().map(|to| thread.target(to)) {
                set.iter_mut().zip(&sets[target]).for_each(|(here, there)| *here |= there);
            }
            before(instruction, &mut set);
            changed |= set != sets[at];
            sets[at] = set;
        }
        if !changed {
            return sets;
        }
    }
}

fn for_operands(instruction: &Instruction, mut see: impl FnMut(Operand)) {
    match *instruction {
        Instruction::Store { value, .. } | Instruction::Move { value, .. } => see(value),
        Instruction::Update { update: Update::Apply(_, operand), .. } => see(operand),
        Instruction::Update { update: Update::CompareExchange { expected, desired }, .. } => {
            see(expected);
            see(desired);
        }
        Instruction::Barrier { resource, quorum, .. } => resource.into_iter().chain(quorum).for_each(see),
        Instruction::Compute { left, right, .. } | Instruction::Branch { left, right, .. } => {
            see(left);
            see(right);
        }
        Instruction::Load { .. } | Instruction::Fence(_) | Instruction::Goto(_) => {}
    }
}
