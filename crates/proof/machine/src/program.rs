//! A kernel as flat code.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use wattle_ir::visit::Meeting;
use wattle_ir::{
    Builtin, DeviceProperty, Expr, Kernel, Label, LocalId, MAX_RANK, Place, SharedId, Site, VerifyError, verify,
};
use wattle_memory::Scope;

use crate::code::{Access, Calc, Instr, Local, Message, Op, Operand};
use crate::lower::Lowering;

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
    /// The loops without a bound that end all the same; see [`crate::endings`].
    pub(crate) ending_loops: HashSet<Label>,
    /// Whether the kernel uses its warp.
    pub(crate) uses_warps: bool,
    /// The number of temporaries that the largest statement needs.
    pub(crate) temps: usize,
    /// The first of the words that count iterations, which are a thread's last.
    pub(crate) first_counter: u32,
    /// The number of words of a thread: its slots, its private arrays, and a count for each loop with a barrier in it.
    pub(crate) words: usize,
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

    /// All operands that an instruction reads: those of its expressions, of its operation, and of its access or
    /// message.
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

    /// Whether a loop without a bound ends all the same, whatever memory holds.
    pub fn ends(&self, label: Label) -> bool {
        self.ending_loops.contains(&label)
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

    /// Whether it matters how many lanes a warp has: the kernel has operations of warps, or numbers that depend on
    /// their size.
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
