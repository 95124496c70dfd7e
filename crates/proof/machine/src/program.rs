//! A kernel as flat code.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use wattle_ir::message::Text;
use wattle_ir::visit::Meeting;
use wattle_ir::{
    AtomicOp, BinaryOp, Builtin, DeviceProperty, DivOp, Expr, Kernel, Label, LocalId, MAX_RANK, Place, SharedId, Site,
    TernaryOp, Type, UnaryOp, VerifyError, WarpOp, verify,
};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::lower::Lowering;
use crate::orders::Action;

/// The greatest number of elements that the private arrays of one thread can have together.
pub const MAX_LOCAL_ELEMENTS: u64 = 1 << 16;

/// A verified kernel as code with jumps, shared by all threads that run it.
#[derive(Debug)]
pub struct Program {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) code: Vec<Instr>,
    /// For each instruction the last source line passed before it.
    pub(crate) sites: Vec<Site>,
    /// The steps of all expressions; each instruction has a range of them.
    pub(crate) calcs: Vec<Calc>,
    pub(crate) accesses: Vec<Access>,
    /// The values of stores of several elements.
    pub(crate) lanes: Vec<Operand>,
    pub(crate) messages: Vec<Message>,
    /// The position of each private array among a thread's words.
    pub(crate) locals: Vec<Local>,
    /// For each loop without a bound, the words that are dead at its head.
    pub(crate) dead: Vec<Vec<Range<usize>>>,
    /// For each instruction the accesses that may follow from there; see [`crate::ahead`].
    pub(crate) ahead: Vec<u64>,
    /// For each instruction whether the thread may read its position from there on.
    pub(crate) reads_position: Vec<bool>,
    /// For each instruction that follows a request the words that are dead before it.
    pub(crate) dead_behind: HashMap<u32, Vec<Range<usize>>>,
    /// For each barrier the words that count the iterations of the loops around it, outermost first.
    pub(crate) barriers: Vec<Vec<u32>>,
    /// The loops whose exit depends on memory that threads share; see [`crate::exits`].
    pub(crate) exits_on_memory: HashSet<Label>,
    /// Whether the kernel uses its warp.
    pub(crate) uses_warps: bool,
    /// The number of temporaries that the largest statement needs.
    pub(crate) temps: usize,
    /// The first of the words that count iterations, which are a thread's last.
    pub(crate) first_counter: u32,
    /// The number of words of a thread: its slots, its private arrays, and a count for each loop with a barrier in it.
    pub(crate) words: usize,
}

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

/// One operator, and the temporary that gets its result.
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
    /// Such a loop begins its next iteration.
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

/// Where a thread goes on after an instruction.
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
    /// Where a thread goes on after it, unless it faults.
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

    /// Whether a thread that runs it returns to who runs it, unless it is about a loop.
    pub(crate) fn requests(&self) -> bool {
        let parts = self.parts();
        matches!(self, Op::Access(_)) || parts.meeting.is_some() || parts.ordering.is_some()
    }
}

impl AccessKind {
    pub(crate) fn writes(&self) -> bool {
        !matches!(self, AccessKind::Load { .. } | AccessKind::LoadLanes { .. } | AccessKind::AtomicLoad { .. })
    }

    /// The number of elements that it is to.
    pub(crate) fn width(&self) -> u64 {
        match *self {
            AccessKind::LoadLanes { lanes, .. } | AccessKind::StoreLanes { lanes, .. } => lanes.into(),
            AccessKind::Load { .. }
            | AccessKind::Store { .. }
            | AccessKind::AtomicLoad { .. }
            | AccessKind::AtomicStore { .. }
            | AccessKind::AtomicUpdate { .. }
            | AccessKind::CompareExchange { .. } => 1,
        }
    }

    /// The scope of an atomic access.
    pub(crate) fn scope(&self) -> Option<Scope> {
        match *self {
            AccessKind::AtomicLoad { scope, .. }
            | AccessKind::AtomicStore { scope, .. }
            | AccessKind::AtomicUpdate { scope, .. }
            | AccessKind::CompareExchange { scope, .. } => Some(scope),
            AccessKind::Load { .. }
            | AccessKind::LoadLanes { .. }
            | AccessKind::Store { .. }
            | AccessKind::StoreLanes { .. } => None,
        }
    }

    /// The operands that stand in it; an access knows those of several elements.
    fn operands(&self) -> Vec<Operand> {
        match *self {
            AccessKind::Store { value } | AccessKind::AtomicStore { value, .. } => vec![value],
            AccessKind::AtomicUpdate { operand, .. } => vec![operand],
            AccessKind::CompareExchange { expected, desired, .. } => vec![expected, desired],
            AccessKind::Load { .. }
            | AccessKind::LoadLanes { .. }
            | AccessKind::StoreLanes { .. }
            | AccessKind::AtomicLoad { .. } => Vec::new(),
        }
    }
}

impl Access {
    /// The values that the access stores or combines with what is there.
    pub(crate) fn operands(&self, program: &Program) -> Vec<Operand> {
        match self.kind {
            AccessKind::StoreLanes { first, lanes } => program.lanes(first, lanes).to_vec(),
            kind => kind.operands(),
        }
    }
}

impl Program {
    /// The values of a store of several elements.
    pub(crate) fn lanes(&self, first: u32, lanes: u32) -> &[Operand] {
        self.lanes.get(first as usize..(first + lanes) as usize).unwrap_or(&[])
    }

    /// The access that an instruction makes.
    pub(crate) fn access_of(&self, instr: &Instr) -> Option<&Access> {
        let Op::Access(number) = instr.op else { return None };
        self.accesses.get(number as usize)
    }

    /// All operands that an instruction reads: those of its expressions, of its operation, and of its access or message.
    pub(crate) fn operands_of(&self, instr: &Instr) -> Vec<Operand> {
        let calcs = self.calcs.get(instr.first_calc as usize..instr.last_calc as usize).unwrap_or(&[]);
        let mut all: Vec<_> = calcs.iter().flat_map(|calc| calc.op.operands()).collect();
        all.extend(instr.op.parts().operands.into_iter().flatten());
        if let Op::Assert { message, .. } = instr.op {
            all.extend(
                self.messages.get(message as usize).iter().flat_map(|message| &message.values).map(|(_, of)| of),
            );
        }
        if let Some(access) = self.access_of(instr) {
            all.extend(access.index.iter().take(access.rank));
            all.extend(access.operands(self));
        }
        all
    }

    /// The constants that stand in the kernel, each once.
    pub fn written_constants(&self) -> Vec<u64> {
        let constant = |operand| if let Operand::Const(raw) = operand { Some(raw) } else { None };
        let mut all: Vec<u64> =
            self.code.iter().flat_map(|instr| self.operands_of(instr)).filter_map(constant).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The source line of an instruction, by its number ([`Thread::at`](crate::Thread::at)).
    pub fn site_at(&self, at: u32) -> Site {
        self.sites.get(at as usize).copied().unwrap_or(self.kernel.site)
    }

    /// The place that an instruction accesses, if it is an access.
    pub fn place_at(&self, at: u32) -> Option<Place> {
        Some(self.access_of(self.code.get(at as usize)?)?.place)
    }

    /// Whether the exit of a loop depends on memory that threads share, so that they decide how often it iterates.
    pub fn exits_on_memory(&self, label: Label) -> bool {
        self.exits_on_memory.contains(&label)
    }

    /// Whether a thread may wait for others: in a loop without a bound, at a barrier, or at an operation of its warp.
    pub fn waits(&self) -> bool {
        self.code.iter().any(|instr| matches!(instr.op, Op::BackEdge { .. }) || instr.op.parts().meeting.is_some())
    }

    /// Whether the lanes of a warp wait for each other.
    pub fn has_warps(&self) -> bool {
        self.code.iter().any(|instr| instr.op.parts().meeting == Some(Meeting::Warp))
    }

    /// Whether the threads of a block wait for each other.
    pub fn has_barriers(&self) -> bool {
        self.code.iter().any(|instr| instr.op.parts().meeting == Some(Meeting::Block))
    }

    /// Whether it matters how many lanes a warp has: the kernel has operations of warps, or numbers that depend on their
    /// size.
    pub fn uses_warps(&self) -> bool {
        self.uses_warps
    }

    /// Whether the kernel asks how many lanes a warp has.
    pub fn asks_size_of_warps(&self) -> bool {
        let asks = |expr: &Expr| {
            matches!(expr, Expr::Builtin(Builtin::WarpSize | Builtin::Device(DeviceProperty::WarpSize), _))
        };
        self.kernel.exprs.iter().any(asks)
    }

    /// The line of the first operation by which the lanes of a warp exchange values.
    pub fn exchanges_at(&self) -> Option<Site> {
        let at = self.code.iter().position(|instr| matches!(instr.op, Op::Warp { .. }))?;
        Some(self.site_at(at as u32))
    }

    /// Whether an instruction is the warp's barrier.
    pub fn is_warp_barrier(&self, at: u32) -> bool {
        self.code.get(at as usize).is_some_and(|instr| matches!(instr.op, Op::WarpBarrier(_)))
    }

    /// The widest scope that the kernel's fences and atomics use; block scope where it has none.
    pub fn widest_scope(&self) -> Scope {
        self.kernel.widest_scope()
    }

    /// Verifies and flattens a kernel.
    ///
    /// # Errors
    /// The errors of [`wattle_ir::verify`], or private arrays of more than [`MAX_LOCAL_ELEMENTS`] elements together.
    pub fn compile(kernel: Arc<Kernel>) -> Result<Program, VerifyError> {
        verify(&kernel)?;
        let own = kernel.locals.iter().filter(|local| local.constants.is_none());
        let elements = own.fold(0u64, |sum, local| sum.saturating_add(local.len as u64));
        if elements > MAX_LOCAL_ELEMENTS {
            let what = format!(
                "the arrays of one thread have {elements} elements together; an interpreted thread can have \
                 {MAX_LOCAL_ELEMENTS}"
            );
            return Err(VerifyError { kernel: kernel.name.clone(), at: kernel.site, what });
        }
        Ok(Lowering::new(&kernel).program(kernel.clone()))
    }

    /// The elements of an array of constants; `None` for a thread's own one.
    pub(crate) fn constants(&self, id: LocalId) -> Option<&[u64]> {
        self.kernel.locals.get(id.index())?.constants.as_deref()
    }

    /// The words that an array of the thread's own has.
    pub(crate) fn words_of(&self, id: LocalId) -> Range<usize> {
        match (self.locals.get(id.index()), self.constants(id)) {
            (Some(local), None) => local.first..local.first + local.len as usize,
            _ => 0..0,
        }
    }

    /// The kernel of the program.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The kernel of the program, as a shared pointer.
    pub fn shared_kernel(&self) -> Arc<Kernel> {
        self.kernel.clone()
    }

    /// The number of words of a thread's state: its slots, its private arrays, and its loops' counts.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The name of a view or a shared array, for reports.
    pub fn place_name(&self, place: Place) -> &'static str {
        match place {
            Place::Param(id) => self.kernel.params.get(id.index()).map(|param| param.name),
            Place::Shared(id) => self.kernel.shared.get(id.index()).map(|array| array.name),
            Place::Local(_) => None,
        }
        .unwrap_or(wattle_ir::LOCAL_ARRAY)
    }

    /// The extents of a shared array in elements; `at_launch` is the length of the one that is sized at launch.
    pub(crate) fn shared_extents(&self, index: usize, at_launch: u32) -> [u64; MAX_RANK] {
        self.kernel.shared.get(index).map_or([0; MAX_RANK], |array| array.len.extents(at_launch).map(u64::from))
    }

    /// The number of the element of a shared array at an index.
    pub fn shared_element(&self, id: SharedId, index: [u64; MAX_RANK]) -> u64 {
        self.kernel.shared.get(id.index()).map_or(0, |array| array.len.element(index))
    }
}
