//! A litmus program: what a file says, with its names resolved.

use std::fmt;

use wattle_ir::AtomicOp;
use wattle_memory::{Label, LocationId, Placement, ThreadId};

use crate::condition::{Claim, Comparison, Condition};
use crate::error::Place;

/// The number of a register in its thread.
pub type RegisterId = usize;
/// The number of a name of memory in its program.
pub type ReferenceId = usize;
/// The number of a label in its thread.
pub type LabelId = usize;

/// The instruction set that a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// PTX.
    Ptx,
    /// Vulkan's, after Khronos' formal model.
    Vulkan,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Dialect::Ptx => "PTX",
            Dialect::Vulkan => "Vulkan",
        })
    }
}

/// A name of memory. Several may name one location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The name.
    pub name: String,
    /// What it names.
    pub location: LocationId,
}

/// A thread's register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// The name.
    pub name: String,
    /// What it holds before.
    pub initial: u64,
}

/// A register or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// What the register holds.
    Register(RegisterId),
    /// The value.
    Constant(u64),
}

/// Arithmetic on registers; of 64 bits, wrapping. Division and remainder are signed, shifts are by at most 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient, rounded towards zero.
    Div,
    /// The remainder, with the dividend's sign.
    Rem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The left one shifted to the left, 0 where it is shifted out.
    Shl,
    /// The left one shifted to the right, zeros coming in.
    Shr,
}

impl Operator {
    /// The result; none where a divisor is zero.
    pub fn apply(self, left: u64, right: u64) -> Option<u64> {
        let shift = |shifted: fn(u64, u32) -> Option<u64>| u32::try_from(right).ok().and_then(|by| shifted(left, by));
        Some(match self {
            Operator::Add => left.wrapping_add(right),
            Operator::Sub => left.wrapping_sub(right),
            Operator::Mul => left.wrapping_mul(right),
            Operator::Div if right == 0 => return None,
            Operator::Rem if right == 0 => return None,
            Operator::Div => (left as i64).wrapping_div(right as i64) as u64,
            Operator::Rem => (left as i64).wrapping_rem(right as i64) as u64,
            Operator::And => left & right,
            Operator::Or => left | right,
            Operator::Xor => left ^ right,
            Operator::Shl => shift(u64::checked_shl).unwrap_or(0),
            Operator::Shr => shift(u64::checked_shr).unwrap_or(0),
        })
    }
}

/// What a read-modify-write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Applies an operator to the old value and an operand.
    Apply(AtomicOp, Operand),
    /// Writes `desired` where it reads `expected`.
    CompareExchange {
        /// What it compares with.
        expected: Operand,
        /// What it writes.
        desired: Operand,
    },
}

/// One instruction. Everything that the models want to know of it is in its label or labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// Reads memory.
    Load {
        /// Where the value goes.
        to: RegisterId,
        /// What is read.
        from: ReferenceId,
        /// How.
        label: Label,
    },
    /// Writes memory.
    Store {
        /// What is written to.
        to: ReferenceId,
        /// What is written.
        value: Operand,
        /// How.
        label: Label,
    },
    /// Reads and writes memory at once.
    Update {
        /// Where the old value goes, if anywhere.
        result: Option<RegisterId>,
        /// What is updated.
        at: ReferenceId,
        /// What becomes of it.
        update: Update,
        /// How it reads.
        read: Label,
        /// How it writes.
        write: Label,
    },
    /// A fence; Vulkan's operations to the device domain too.
    Fence(Label),
    /// A control barrier.
    Barrier {
        /// Which one of the block's, each time that it is passed.
        instance: u64,
        /// Its resource; the instance where that is not said.
        resource: Option<Operand>,
        /// After how many arrivals it opens; after all of those that have an instruction for it where that is not said.
        quorum: Option<Operand>,
        /// Whether the thread waits.
        waits: bool,
        /// How it orders memory.
        label: Label,
    },
    /// Sets a register.
    Move {
        /// Which.
        to: RegisterId,
        /// To what.
        value: Operand,
    },
    /// Computes.
    Compute {
        /// What.
        operator: Operator,
        /// Where the result goes.
        to: RegisterId,
        /// The left operand.
        left: Operand,
        /// The right operand.
        right: Operand,
    },
    /// Jumps where a comparison holds.
    Branch {
        /// The comparison.
        comparison: Comparison,
        /// Its left side.
        left: Operand,
        /// Its right side.
        right: Operand,
        /// Where to.
        to: LabelId,
    },
    /// Jumps.
    Goto(LabelId),
}

/// A name for a place in a thread's code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JumpTarget {
    /// The name.
    pub name: String,
    /// The instruction that it stands before; the number of instructions where it stands at the end.
    pub at: usize,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Where it is. Its number is unique in the program.
    pub placement: Placement,
    /// Its registers.
    pub registers: Vec<Register>,
    /// What it does.
    pub code: Vec<Instruction>,
    /// Its labels, in the order in which they stand.
    pub labels: Vec<JumpTarget>,
}

impl Thread {
    /// The instruction that a label stands before.
    pub fn target(&self, label: LabelId) -> usize {
        self.labels.get(label).map_or(self.code.len(), |label| label.at)
    }
}

/// The file that a program was read from. Two programs are equal though they come from different files.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The file.
    pub file: String,
    /// For each thread the place of each instruction.
    pub places: Vec<Vec<Place>>,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Eq for Origin {}

/// A litmus program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it is written in.
    pub dialect: Dialect,
    /// Its name.
    pub name: String,
    /// What it says of itself, one text each.
    pub description: Vec<String>,
    /// For each location what it holds before all threads.
    pub locations: Vec<u64>,
    /// The names of memory. Locations are numbered in the order in which they are first named.
    pub references: Vec<Reference>,
    /// Pairs of threads of which the first system-synchronizes-with the second (Vulkan).
    pub system: Vec<(ThreadId, ThreadId)>,
    /// The threads, in the order of their columns.
    pub threads: Vec<Thread>,
    /// Which ends of runs count; all where there is none.
    pub filter: Option<Condition>,
    /// What is claimed.
    pub claim: Option<Claim>,
    /// Where it comes from.
    pub origin: Origin,
}

impl Program {
    /// The number by which events tell of an instruction.
    pub fn source(&self, thread: ThreadId, instruction: usize) -> u32 {
        let before: usize = self.threads.iter().take(thread).map(|thread| thread.code.len()).sum();
        (before + instruction) as u32
    }

    /// The thread and the instruction that such a number means.
    pub fn instruction(&self, source: u32) -> Option<(ThreadId, usize)> {
        let mut left = source as usize;
        for (thread, code) in self.threads.iter().map(|thread| thread.code.len()).enumerate() {
            if left < code {
                return Some((thread, left));
            }
            left -= code;
        }
        None
    }

    /// Where such an instruction stands in its file.
    pub fn place(&self, source: u32) -> Option<Place> {
        let (thread, instruction) = self.instruction(source)?;
        self.origin.places.get(thread)?.get(instruction).copied()
    }

    /// A location's first name.
    pub fn location_name(&self, location: LocationId) -> &str {
        self.references.iter().find(|name| name.location == location).map_or("", |name| &name.name)
    }

    /// Where the threads are.
    pub fn placements(&self) -> Vec<Placement> {
        self.threads.iter().map(|thread| thread.placement).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Operator;

    #[test]
    fn arithmetic_wraps_and_is_signed_where_that_matters() {
        let minus = |value: i64| value as u64;
        assert_eq!(Operator::Add.apply(u64::MAX, 1), Some(0));
        assert_eq!(Operator::Sub.apply(0, 1), Some(u64::MAX));
        assert_eq!(Operator::Div.apply(minus(-7), 2), Some(minus(-3)));
        assert_eq!(Operator::Rem.apply(minus(-7), 2), Some(minus(-1)));
        assert_eq!(Operator::Div.apply(minus(i64::MIN), minus(-1)), Some(minus(i64::MIN)));
        assert_eq!(Operator::Div.apply(1, 0), None);
        assert_eq!(Operator::Shl.apply(1, 64), Some(0));
        assert_eq!(Operator::Shr.apply(8, 2), Some(2));
        assert_eq!(Operator::Xor.apply(6, 3), Some(5));
    }
}
