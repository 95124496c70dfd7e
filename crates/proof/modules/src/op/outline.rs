//! What all analyses need of an operation: its operands, its accesses, who meets there, and what comes next.

use super::{Op, Step, TestJoin};
use crate::exchange::Exchange;
use crate::operand::{Access, NO_REG, Ordering, Reg, Src};

impl Op {
    /// What the operation moves between memory and registers, if it is a load or a store and nothing else besides.
    pub fn transfer(&self) -> Option<Transfer<'_>> {
        match self {
            Op::Load { access, d } => Some(Transfer::Load(access, std::slice::from_ref(d))),
            Op::LoadMany { access, d } => Some(Transfer::Load(access, d)),
            Op::Store { access, a } => Some(Transfer::Store(access, std::slice::from_ref(a))),
            Op::StoreMany { access, a } => Some(Transfer::Store(access, a)),
            // Atomic operations are both, and copies go from memory to memory.
            Op::Rmw { .. } | Op::Cas { .. } | Op::Copy(_) | Op::CopyObject { .. } => None,
            Op::Mov { .. }
            | Op::Un { .. }
            | Op::Bin { .. }
            | Op::Partial { .. }
            | Op::Tern { .. }
            | Op::Quad { .. }
            | Op::Rounded { .. }
            | Op::Halves { .. }
            | Op::Test { .. }
            | Op::TestJoin(_)
            | Op::TableJoin(_)
            | Op::Select { .. }
            | Op::Convert { .. }
            | Op::ConvertTwo { .. }
            | Op::Special { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::ToGeneric { .. }
            | Op::FromGeneric { .. }
            | Op::IsSpace { .. }
            | Op::Carry { .. }
            | Op::CarryProduct { .. }
            | Op::Fence(_)
            | Op::Ordering(_)
            | Op::Barrier { .. }
            | Op::BarrierReduce { .. }
            | Op::CopyGroup
            | Op::CopyWait { .. }
            | Op::Exchange { .. }
            | Op::Hint
            | Op::Yield
            | Op::Branch { .. }
            | Op::Exit
            | Op::Trap(_) => None,
        }
    }
}

/// What there is to know of an operation without its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Outline<'o> {
    /// The access of the operation to memory, if it has one.
    pub access: Option<&'o Access>,
    /// Whether the operation gives its thread a value of that memory.
    pub reads_memory: bool,
    /// Whether the operation may write to that memory.
    pub writes_memory: bool,
    /// Whether what the operation writes depends on its finding a certain value.
    pub compares: bool,
    /// How threads meet at the operation, if they do.
    pub meeting: Option<Meeting>,
    /// The step that comes next, unless a guard keeps the operation from being executed.
    pub next: Next,
}

/// How threads meet at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// The threads of a block, or those that a barrier counts, wait for one another, or arrive there without waiting.
    Barrier,
    /// The threads that wait for one another get what their predicates give together.
    Gathering,
    /// The lanes of a warp do something together.
    Lanes {
        /// The operation of the lanes.
        how: Exchange,
        /// The operands that decide who takes part and who gets whose value; the values themselves are not among them.
        deciding: [Src; 3],
    },
}

/// What an access that is a load or a store moves between memory and its thread's registers.
#[derive(Clone, Copy, Debug)]
pub enum Transfer<'o> {
    /// A load, and the registers that it sets, the first one from the lowest address.
    Load(&'o Access, &'o [Reg]),
    /// A store, and the operands that it writes, the first one to the lowest address.
    Store(&'o Access, &'o [Src]),
}

/// The step that comes after an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The step behind the operation.
    Follows,
    /// The step of this number.
    Jumps(u32),
    /// No step: the thread, or the launch, has ended.
    Ends,
}

impl Op {
    /// Calls `read` for each register that the operation reads, and `write` for each that it writes; returns what else
    /// there is to know of the operation without its meaning.
    pub fn outline(&self, mut read: impl FnMut(Reg), mut write: impl FnMut(Reg)) -> Outline<'_> {
        let mut sources = |sources: &[Src]| sources.iter().filter_map(|src| src.as_reg()).for_each(&mut read);
        let mut results = |results: &[Reg]| results.iter().filter(|&&reg| reg != NO_REG).for_each(|&reg| write(reg));
        let none = Outline {
            access: None,
            reads_memory: false,
            writes_memory: false,
            compares: false,
            meeting: None,
            next: Next::Follows,
        };
        let mut outline = none;
        let mut memory = |access, reads_memory, writes_memory| {
            outline = Outline { access: Some(access), reads_memory, writes_memory, ..none };
        };
        match self {
            Op::Mov { d, a }
            | Op::Un { d, a, .. }
            | Op::Convert { d, a, .. }
            | Op::ToGeneric { d, a, .. }
            | Op::FromGeneric { d, a, .. }
            | Op::IsSpace { d, a, .. } => {
                sources(&[*a]);
                results(&[*d]);
            }
            Op::Bin { d, a, b, .. }
            | Op::Partial { d, a, b, .. }
            | Op::Test { d, a, b, .. }
            | Op::Carry { d, a, b, .. }
            | Op::ConvertTwo { d, a, b, .. } => {
                sources(&[*a, *b]);
                results(&[*d]);
            }
            Op::Tern { d, a, b, c, .. }
            | Op::Rounded { d, a, b, c, .. }
            | Op::Halves { d, a, b, c, .. }
            | Op::CarryProduct { d, a, b, c, .. } => {
                sources(&[*a, *b, *c]);
                results(&[*d]);
            }
            Op::Quad { d, a, b, c, e, .. } => {
                sources(&[*a, *b, *c, *e]);
                results(&[*d]);
            }
            Op::TestJoin(test) => {
                let TestJoin { d, q, a, b, c, .. } = **test;
                sources(&[a, b]);
                if c != NO_REG {
                    sources(&[Src::reg(c)]);
                }
                results(&[d, q]);
            }
            Op::TableJoin(logic) => {
                sources(&logic.operands);
                sources(&[logic.q]);
                results(&[logic.d, logic.p]);
            }
            Op::Select { d, a, b, p } => {
                sources(&[*a, *b, Src::reg(*p)]);
                results(&[*d]);
            }
            Op::Special { d, .. } => results(&[*d]),
            Op::Pack { d, parts, .. } => {
                sources(parts);
                results(&[*d]);
            }
            Op::Unpack { a, parts, .. } => {
                sources(&[*a]);
                results(parts);
            }
            Op::Load { access, d } => {
                memory(access, true, false);
                sources(&[access.base]);
                results(&[*d]);
            }
            Op::LoadMany { access, d } => {
                memory(access, true, false);
                sources(&[access.base]);
                results(d);
            }
            Op::Store { access, a } => {
                memory(access, false, true);
                sources(&[access.base, *a]);
            }
            Op::StoreMany { access, a } => {
                memory(access, false, true);
                sources(&[access.base]);
                sources(a);
            }
            Op::Rmw { access, d, a, .. } => {
                memory(access, true, true);
                sources(&[access.base, *a]);
                results(&[*d]);
            }
            Op::Cas { access, d, a, b, .. } => {
                memory(access, true, true);
                outline.compares = true;
                sources(&[access.base, *a, *b]);
                results(&[*d]);
            }
            Op::Barrier { a, b, .. } => {
                outline.meeting = Some(Meeting::Barrier);
                sources(&[*a]);
                sources(b.as_slice());
            }
            Op::BarrierReduce { a, b, d, p, .. } => {
                outline.meeting = Some(Meeting::Gathering);
                sources(&[*a, Src::reg(*p)]);
                sources(b.as_slice());
                results(&[*d]);
            }
            Op::Copy(copied) => {
                memory(&copied.to, false, true);
                sources(&[copied.from.base, copied.to.base]);
                sources(copied.read.as_slice());
                if copied.ignore != NO_REG {
                    sources(&[Src::reg(copied.ignore)]);
                }
            }
            Op::CopyObject { access, .. } => sources(&[access.base]),
            Op::Exchange { how, d, p, a, b, c, mask, .. } => {
                outline.meeting = Some(Meeting::Lanes { how: *how, deciding: [*b, *c, *mask] });
                sources(&[*a, *b, *c, *mask]);
                results(&[*d, *p]);
            }
            Op::Branch { target } => outline.next = Next::Jumps(*target),
            Op::Exit | Op::Trap(_) => outline.next = Next::Ends,
            Op::Ordering(ordering) => match **ordering {
                Ordering::Barrier { .. } => outline.meeting = Some(Meeting::Barrier),
                Ordering::Fence(_) => {}
            },
            Op::Fence(_) | Op::CopyGroup | Op::CopyWait { .. } | Op::Hint | Op::Yield => {}
        }
        outline
    }
}

impl Step {
    /// The number of the step that this one may jump to, if it is a jump.
    pub fn target(&self) -> Option<usize> {
        match self.op.outline(|_| {}, |_| {}).next {
            Next::Jumps(target) => Some(target as usize),
            Next::Follows | Next::Ends => None,
        }
    }

    /// Whether the next step may follow it: with a guard it always may.
    pub fn falls_through(&self) -> bool {
        self.guard.reg != NO_REG || self.op.outline(|_| {}, |_| {}).next == Next::Follows
    }
}
