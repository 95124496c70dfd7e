//! A litmus program: the content of a file, with its names resolved.

use std::fmt;

use wattle_ir::AtomicOp;
use wattle_memory::{CodeLanguage, Label, LocationId, Placement, ThreadId};

use crate::condition::{Claim, Comparison, Condition};
use crate::error::Place;
use crate::ids::{LabelId, ReferenceId, RegisterId};

/// The instruction set that a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// The PTX dialect.
    Ptx,
    /// The Vulkan dialect, after Khronos' formal model.
    Vulkan,
}

impl Dialect {
    /// The language whose instructions a file in the dialect writes.
    pub fn language(self) -> CodeLanguage {
        match self {
            Dialect::Ptx => CodeLanguage::PTX,
            Dialect::Vulkan => CodeLanguage::Spirv,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Dialect::Ptx => "PTX",
            Dialect::Vulkan => "Vulkan",
        })
    }
}

/// A name of a memory location. Several may name one location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The name by which the file calls the location.
    pub name: String,
    /// The location that it names.
    pub location: LocationId,
}

/// A thread's register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// The name of the register.
    pub name: String,
    /// What the register holds before the thread begins.
    pub initial: u64,
}

/// An operand: a register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The value of the register.
    Register(RegisterId),
    /// The constant.
    Constant(u64),
}

/// An arithmetic operator on 64 bits, wrapping. Division and remainder are signed, shifts are by at most 63.
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
    /// The left operand shifted to the left, 0 where it is shifted out.
    Shl,
    /// The left operand shifted to the right, zeros coming in.
    Shr,
}

impl Operator {
    /// The result; `None` where a divisor is zero.
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

/// The change that a read-modify-write makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Applies an operator to the old value and an operand.
    Apply(AtomicOp, Operand),
    /// Writes `desired` where it reads `expected`.
    CompareExchange {
        /// The value that is compared with.
        expected: Operand,
        /// The value that is written on success.
        desired: Operand,
    },
}

/// An instruction of a thread. Everything that the models use of it is in its label or labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// Reads memory.
    Load {
        /// The register that receives the value.
        to: RegisterId,
        /// The name of the location that is read.
        from: ReferenceId,
        /// The order and scope of the read.
        label: Label,
    },
    /// Writes memory.
    Store {
        /// The name of the location that is written.
        to: ReferenceId,
        /// The value that is written.
        value: Operand,
        /// The order and scope of the write.
        label: Label,
    },
    /// A read-modify-write of memory.
    Update {
        /// The register that receives the old value, if any.
        result: Option<RegisterId>,
        /// The name of the location that is updated.
        at: ReferenceId,
        /// The change of the value.
        update: Update,
        /// The order and scope of the read half.
        read: Label,
        /// The order and scope of the write half.
        write: Label,
    },
    /// A fence, or one of Vulkan's operations to the device domain.
    Fence(Label),
    /// A control barrier.
    Barrier {
        /// The number of the barrier in the block, each time that it is passed.
        instance: u64,
        /// The resource; `None` means the instance.
        resource: Option<Operand>,
        /// The number of arrivals after which it opens; `None` means all threads that have an instruction for it.
        quorum: Option<Operand>,
        /// Whether the thread waits; otherwise it only arrives.
        waits: bool,
        /// The memory ordering of the barrier.
        label: Label,
    },
    /// Sets a register.
    Move {
        /// The register that is set.
        to: RegisterId,
        /// The new value.
        value: Operand,
    },
    /// Computes a value.
    Compute {
        /// The operator.
        operator: Operator,
        /// The register that receives the result.
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
        /// The left side of the comparison.
        left: Operand,
        /// The right side of the comparison.
        right: Operand,
        /// The label to jump to.
        to: LabelId,
    },
    /// Jumps unconditionally.
    Goto(LabelId),
}

impl Instruction {
    /// The label to which it may jump.
    pub fn jump(&self) -> Option<LabelId> {
        match *self {
            Instruction::Branch { to, .. } | Instruction::Goto(to) => Some(to),
            Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Update { .. }
            | Instruction::Fence(_)
            | Instruction::Barrier { .. }
            | Instruction::Move { .. }
            | Instruction::Compute { .. } => None,
        }
    }

    /// The label to which it may jump, for a change.
    pub fn jump_mut(&mut self) -> Option<&mut LabelId> {
        match self {
            Instruction::Branch { to, .. } | Instruction::Goto(to) => Some(to),
            Instruction::Load { .. }
            | Instruction::Store { .. }
            | Instruction::Update { .. }
            | Instruction::Fence(_)
            | Instruction::Barrier { .. }
            | Instruction::Move { .. }
            | Instruction::Compute { .. } => None,
        }
    }

    /// Whether the instruction behind it may come next.
    pub fn falls_through(&self) -> bool {
        !matches!(self, Instruction::Goto(_))
    }

    /// The name of the location that it writes.
    pub fn written(&self) -> Option<ReferenceId> {
        match *self {
            Instruction::Store { to, .. } | Instruction::Update { at: to, .. } => Some(to),
            Instruction::Load { .. }
            | Instruction::Fence(_)
            | Instruction::Barrier { .. }
            | Instruction::Move { .. }
            | Instruction::Compute { .. }
            | Instruction::Branch { .. }
            | Instruction::Goto(_) => None,
        }
    }

    /// The register that it sets.
    pub fn set(&self) -> Option<RegisterId> {
        match *self {
            Instruction::Load { to, .. } | Instruction::Move { to, .. } | Instruction::Compute { to, .. } => Some(to),
            Instruction::Update { result, .. } => result,
            Instruction::Store { .. }
            | Instruction::Fence(_)
            | Instruction::Barrier { .. }
            | Instruction::Branch { .. }
            | Instruction::Goto(_) => None,
        }
    }
}

/// A name for a place in a thread's code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JumpTarget {
    /// The name of the label.
    pub name: String,
    /// The index of the instruction after it; the number of instructions at the end of the code.
    pub at: usize,
}

/// A thread of a litmus program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The place in the hierarchy of groups. Its thread number is unique in the program.
    pub placement: Placement,
    /// The registers that the thread uses.
    pub registers: Vec<Register>,
    /// The instructions.
    pub code: Vec<Instruction>,
    /// The labels, in the order of the code.
    pub labels: Vec<JumpTarget>,
}

impl Thread {
    /// The index of the instruction after a label.
    pub fn target(&self, label: LabelId) -> usize {
        self.labels.get(label).map_or(self.code.len(), |label| label.at)
    }
}

/// The source of a program. Two programs are equal even if they come from different files.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The file's name.
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
    /// The dialect that it is written in.
    pub dialect: Dialect,
    /// The name that its file gives the program.
    pub name: String,
    /// The descriptions in the file, one text each.
    pub description: Vec<String>,
    /// The initial value of each location.
    pub locations: Vec<u64>,
    /// The names of memory. Locations are numbered in the order in which they are first named.
    pub references: Vec<Reference>,
    /// Pairs of threads of which the first system-synchronizes-with the second (Vulkan).
    pub system: Vec<(ThreadId, ThreadId)>,
    /// The threads, in the order of their columns.
    pub threads: Vec<Thread>,
    /// The condition on the ends that count; `None` counts all.
    pub filter: Option<Condition>,
    /// The claim, if any.
    pub claim: Option<Claim>,
    /// The file that it comes from.
    pub origin: Origin,
}

impl Program {
    /// The number by which events identify an instruction.
    pub fn source(&self, thread: ThreadId, instruction: usize) -> u32 {
        let before: usize = self.threads.iter().take(thread).map(|thread| thread.code.len()).sum();
        (before + instruction) as u32
    }

    /// The thread and the instruction that such a number identifies.
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

    /// The place of such an instruction in its file.
    pub fn place(&self, source: u32) -> Option<Place> {
        let (thread, instruction) = self.instruction(source)?;
        self.origin.places.get(thread)?.get(instruction).copied()
    }

    /// The first name of a location, or an empty text if it has none.
    pub fn location_name(&self, location: LocationId) -> &str {
        self.references.iter().find(|name| name.location == location).map_or("", |name| &name.name)
    }

    /// The placements of the threads.
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
