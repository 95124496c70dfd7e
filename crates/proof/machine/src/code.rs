//! The instructions that a thread executes: what a kernel's statements become.

use wattle_ir::message::Text;
use wattle_ir::visit::Meeting;
use wattle_ir::{
    AtomicOp, BinaryOp, Builtin, DivOp, Label, LocalId, MAX_RANK, Place, TernaryOp, Type, UnaryOp, WarpOp,
};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::Program;
use crate::action::Action;

/// The message of an assertion: its text, and the values in it with their types.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub text: Text,
    pub values: Vec<(Type, Operand)>,
}

/// A private array: its first word, and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    pub first: usize,
    pub len: u32,
}

/// An instruction: the steps of the expressions that it needs, then its operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instr {
    pub first_calc: u32,
    pub last_calc: u32,
    pub op: Op,
}

/// A value that needs no computation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Const(u64),
    Slot(u32),
    Temp(u32),
    Param(u32),
    Extent(u32, u8),
    SharedLen,
    Builtin(Builtin, u8),
}

/// An operator, and the temporary that receives its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calc {
    pub dst: u32,
    pub op: CalcOp,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum CalcOp {
    Unary(UnaryOp, Type, Operand),
    Binary(BinaryOp, Type, Operand, Operand),
    Ternary(TernaryOp, Type, Operand, Operand, Operand),
    Select(Operand, Operand, Operand),
    Cast(Type, Type, Operand),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Assign {
        slot: u32,
        value: Operand,
    },
    Divide {
        dst: u32,
        op: DivOp,
        ty: Type,
        left: Operand,
        right: Operand,
    },
    Access(u32),
    Fence {
        order: FenceOrder,
        scope: Scope,
    },
    /// The number identifies the barrier in the code; see [`Program::barriers`].
    Barrier(u32),
    /// An operation of the warp; `barrier` is its number among barriers.
    Warp {
        dst: u32,
        op: WarpOp,
        ty: Type,
        value: Operand,
        operand: Operand,
        barrier: u32,
    },
    /// The warp's barrier.
    WarpBarrier(u32),
    /// A loop with a barrier in it is entered: the word counts its iterations from 0.
    Enter {
        counter: u32,
    },
    /// A loop with a barrier in it begins its next iteration: the word counts one more.
    Count {
        counter: u32,
    },
    Jump(u32),
    JumpUnless {
        condition: Operand,
        target: u32,
    },
    /// The head of a loop without a bound, before its body; `number` counts such loops.
    LoopHead {
        label: Label,
        number: u32,
    },
    /// Jumps to the body of such a loop, which follows its head.
    BackEdge {
        label: Label,
        target: u32,
        number: u32,
    },
    Assert {
        condition: Operand,
        message: u32,
    },
    Clock {
        dst: u32,
    },
    Return,
}

/// An access to memory, the thread's own arrays included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub kind: AccessKind,
    pub place: Place,
    pub element: Type,
    pub rank: usize,
    pub index: [Operand; MAX_RANK],
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum AccessKind {
    Load {
        dst: u32,
    },
    LoadLanes {
        dst: LocalId,
        lanes: u32,
    },
    Store {
        value: Operand,
    },
    /// The values are `Program::lanes[first..first + lanes]`.
    StoreLanes {
        first: u32,
        lanes: u32,
    },
    AtomicLoad {
        dst: u32,
        order: ReadOrder,
        scope: Scope,
    },
    AtomicStore {
        value: Operand,
        order: WriteOrder,
        scope: Scope,
    },
    AtomicUpdate {
        dst: u32,
        op: AtomicOp,
        operand: Operand,
        order: UpdateOrder,
        scope: Scope,
    },
    CompareExchange {
        dst: u32,
        expected: Operand,
        desired: Operand,
        order: UpdateOrder,
        scope: Scope,
    },
}

impl CalcOp {
    pub(crate) fn operands(&self) -> Vec<Operand> {
        match *self {
            CalcOp::Unary(_, _, x) | CalcOp::Cast(_, _, x) => vec![x],
            CalcOp::Binary(_, _, x, y) => vec![x, y],
            CalcOp::Ternary(_, _, x, y, z) | CalcOp::Select(x, y, z) => vec![x, y, z],
        }
    }
}

/// The instruction at which a thread goes on after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// At the instruction that follows.
    Following,
    /// At another one.
    Target(u32),
    /// At the instruction that follows or at another one.
    Either(u32),
    /// Nowhere: it ends.
    End,
}

/// What an operation is made of.
pub(crate) struct OpParts {
    /// The instruction at which a thread goes on after the operation, unless it faults.
    pub next: Next,
    /// The threads that wait for one another at it.
    pub meeting: Option<Meeting>,
    /// The slot that it sets, if it is no access.
    pub slot: Option<u32>,
    /// How it orders memory, if it is no access.
    pub ordering: Option<Action>,
    /// The operands of the operation itself; those of an access belong to the access.
    pub operands: [Option<Operand>; 2],
}

impl Op {
    /// What the operation is made of: no other list of operations says so.
    pub(crate) fn parts(&self) -> OpParts {
        let none = OpParts { next: Next::Following, meeting: None, slot: None, ordering: None, operands: [None; 2] };
        match *self {
            Op::Assign { slot, value } => OpParts { slot: Some(slot), operands: [Some(value), None], ..none },
            Op::Divide { dst, op: _, ty: _, left, right } => {
                OpParts { slot: Some(dst), operands: [Some(left), Some(right)], ..none }
            }
            Op::Fence { order, scope } => OpParts { ordering: Some(Action::Fence { order, scope }), ..none },
            Op::Barrier(_) => OpParts { meeting: Some(Meeting::Block), ordering: Some(Action::Barrier), ..none },
            Op::Warp { dst, op: _, ty: _, value, operand, barrier: _ } => OpParts {
                slot: Some(dst),
                meeting: Some(Meeting::Warp),
                operands: [Some(value), Some(operand)],
                ..none
            },
            Op::WarpBarrier(_) => OpParts { meeting: Some(Meeting::Warp), ordering: Some(Action::WarpBarrier), ..none },
            Op::Jump(target) | Op::BackEdge { label: _, target, number: _ } => {
                OpParts { next: Next::Target(target), ..none }
            }
            Op::JumpUnless { condition, target } => {
                OpParts { next: Next::Either(target), operands: [Some(condition), None], ..none }
            }
            Op::Assert { condition, message: _ } => OpParts { operands: [Some(condition), None], ..none },
            Op::Clock { dst } => OpParts { slot: Some(dst), ..none },
            Op::Return => OpParts { next: Next::End, ..none },
            Op::Access(_)
            | Op::Enter { counter: _ }
            | Op::Count { counter: _ }
            | Op::LoopHead { label: _, number: _ } => none,
        }
    }

    /// Whether the operation asks for an access to memory, or for an order of memory, or waits for other threads: a
    /// thread that runs it returns its request. Loops and the clock, which do so too, do not count.
    pub(crate) fn requests(&self) -> bool {
        let parts = self.parts();
        matches!(self, Op::Access(_)) || parts.meeting.is_some() || parts.ordering.is_some()
    }
}

/// The words that the answer to an access sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A slot.
    Slot(u32),
    /// An array of the thread's own, from its beginning.
    Array(LocalId),
}

/// What an access is made of.
pub(crate) struct AccessParts {
    /// The access as one of memory that threads share, with its order and scope.
    pub action: Action,
    /// The destination of what is read.
    pub answer: Option<Destination>,
    /// The number of consecutive elements.
    pub lanes: u32,
    /// The operands that are stored or combined with what is there.
    pub operands: [Option<Operand>; 2],
    /// The first of the operands in [`Program::lanes`] that a store of several elements stores.
    pub stored: Option<u32>,
}

impl Access {
    /// What the access is made of: no other list of kinds says so.
    pub(crate) fn parts(&self) -> AccessParts {
        let place = self.place;
        let parts = |action| AccessParts { action, answer: None, lanes: 1, operands: [None; 2], stored: None };
        match self.kind {
            AccessKind::Load { dst } => {
                AccessParts { answer: Some(Destination::Slot(dst)), ..parts(Action::Plain { place, store: false }) }
            }
            AccessKind::LoadLanes { dst, lanes } => AccessParts {
                answer: Some(Destination::Array(dst)),
                lanes,
                ..parts(Action::Plain { place, store: false })
            },
            AccessKind::Store { value } => {
                AccessParts { operands: [Some(value), None], ..parts(Action::Plain { place, store: true }) }
            }
            AccessKind::StoreLanes { first, lanes } => {
                AccessParts { lanes, stored: Some(first), ..parts(Action::Plain { place, store: true }) }
            }
            AccessKind::AtomicLoad { dst, order, scope } => {
                AccessParts { answer: Some(Destination::Slot(dst)), ..parts(Action::Load { place, order, scope }) }
            }
            AccessKind::AtomicStore { value, order, scope } => {
                AccessParts { operands: [Some(value), None], ..parts(Action::Store { place, order, scope }) }
            }
            AccessKind::AtomicUpdate { dst, op: _, operand, order, scope } => AccessParts {
                answer: Some(Destination::Slot(dst)),
                operands: [Some(operand), None],
                ..parts(Action::Update { place, order, scope })
            },
            AccessKind::CompareExchange { dst, expected, desired, order, scope } => AccessParts {
                answer: Some(Destination::Slot(dst)),
                operands: [Some(expected), Some(desired)],
                ..parts(Action::Update { place, order, scope })
            },
        }
    }

    /// The values that the access stores or combines with what is there.
    pub(crate) fn operands(&self, program: &Program) -> Vec<Operand> {
        let AccessParts { lanes, operands, stored, .. } = self.parts();
        let stored = stored.map_or(&[][..], |first| program.lanes(first, lanes));
        operands.into_iter().flatten().chain(stored.iter().copied()).collect()
    }
}
