//! A kernel's function: the emitter's state while statements become instructions.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, ExecutionMode, Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wattle_ir::fault::Sites;
use wattle_ir::visit::{Meeting, StmtOrder};
use wattle_ir::{AtomicOp, ExprId, FloatFormat, Kernel, Legal, ParamId, Place, SlotId, Stmt, Type};
use wattle_memory::{Lowering, Target};

use crate::assemble::Assembler;
use crate::control;
use crate::features::{Features, Lacking, needs};
use crate::flow::Flow;
use crate::interface::{Entry, Interface, layout};
use crate::layout::{ArgumentWord, LaunchLayout, Module, SpecConstant};
use crate::report::Reports;

/// The emitter's state while a kernel's statements become instructions.
pub struct Emitter<'k> {
    pub(crate) asm: Assembler,
    pub(crate) kernel: &'k Kernel,
    pub(crate) features: &'k Features,
    pub(crate) lowering: Lowering,
    /// The types of the kernel's expressions.
    pub(crate) types: Vec<Type>,
    pub(crate) layout: LaunchLayout,
    pub(crate) interface: Interface,
    pub(crate) entry: Entry,
    /// The numbers of slots, and the variables of the thread's own arrays.
    pub(crate) slots: Vec<Word>,
    pub(crate) locals: Vec<Word>,
    /// The expressions that have been computed within the statement, and their results.
    pub(crate) known: FxHashMap<ExprId, Word>,
    pub(crate) flow: Flow,
    pub(crate) sites: Sites,
    pub(crate) reports: Reports,
}

/// Makes a module of a kernel that the device can do.
pub fn emit(kernel: &Legal, features: &Features, same: &[[ParamId; 2]]) -> Result<Module, Lacking> {
    let mut asm = Assembler::new();
    let added = sums(kernel, features);
    capabilities(&mut asm, kernel, features, &added);
    let layout = layout(kernel, features, same);
    let interface = Interface::declare(&mut asm, kernel, &features.workarounds, &layout, same);
    let main = asm.id();
    asm.begin_as(main, &[], &kernel.name);
    asm.line(kernel.site.file, kernel.site.line, kernel.site.column);
    let entry = interface.enter(&mut asm, kernel, &layout);
    let mut emitter = Emitter {
        asm,
        kernel,
        features,
        lowering: Lowering::new(Target::Vulkan, kernel.widest_scope()),
        types: kernel.expr_types(),
        layout,
        interface,
        entry,
        slots: Vec::new(),
        locals: Vec::new(),
        known: FxHashMap::default(),
        flow: Flow::default(),
        sites: Sites::default(),
        reports: Reports::default(),
    };
    emitter.declare();
    let runs = emitter.runs();
    let mut done = Ok(());
    emitter.when(runs, |emitter| {
        done = emitter.body();
        emitter.report();
    });
    done?;
    emitter.asm.terminate(Op::Return, vec![]);
    emitter.asm.end();
    emitter.define_reports();
    let Emitter { mut asm, layout, sites, .. } = emitter;
    crate::warp::execution_mode(&mut asm, main, kernel, features);
    asm.execution_mode(main, ExecutionMode::LocalSize, &[1, 1, 1]);
    float_controls(&mut asm, main, kernel, features);
    let (waits, orders_in_loops) = (waits(&kernel.body, false), orders_in_loops(&kernel.body, false));
    let uses_warps = kernel.first_use_of_warps().is_some();
    Ok(Module { words: asm.finish(main), layout, sites: sites.finish(), waits, orders_in_loops, uses_warps })
}

/// Asks for IEEE 754's arithmetic of the floats that the kernel has, as far as the device can be asked (SPIR-V
/// specification, 3.6 "Execution Mode").
fn float_controls(asm: &mut Assembler, main: Word, kernel: &Kernel, features: &Features) {
    use {Capability as C, ExecutionMode as M};
    let types = crate::check::types_of(kernel);
    let (half, double) = (types.contains(&Type::F16), types.contains(&Type::F64));
    for (wanted, capability, mode, width) in [
        (features.preserve32, C::SignedZeroInfNanPreserve, M::SignedZeroInfNanPreserve, 32),
        (features.nearest32, C::RoundingModeRTE, M::RoundingModeRTE, 32),
        (features.preserve64 && double, C::SignedZeroInfNanPreserve, M::SignedZeroInfNanPreserve, 64),
        (features.nearest64 && double, C::RoundingModeRTE, M::RoundingModeRTE, 64),
        (half, C::SignedZeroInfNanPreserve, M::SignedZeroInfNanPreserve, 16),
        (half, C::RoundingModeRTE, M::RoundingModeRTE, 16),
        (half, C::DenormPreserve, M::DenormPreserve, 16),
    ] {
        if wanted {
            asm.capability(capability);
            asm.execution_mode(main, mode, &[width]);
        }
    }
}

/// Whether a loop without a bound reads what another block may write.
fn waits(block: &[Stmt], looped: bool) -> bool {
    block.iter().any(|stmt| {
        let plain_store = matches!(stmt, Stmt::Store { .. });
        let reads = !plain_store && matches!(stmt.place(), Some(Place::Param(_)));
        let looped = looped || matches!(stmt, Stmt::Loop { bounded: false, .. });
        (reads && looped) || stmt.blocks().any(|block| waits(block, looped))
    })
}

/// Whether an order stands in a loop.
fn orders_in_loops(block: &[Stmt], looped: bool) -> bool {
    block.iter().any(|stmt| {
        let ordered = stmt.parts().order.is_some_and(|order| !order.is_relaxed());
        // The warp's barrier orders, and other warps may not come to it.
        let ordered = ordered || is_warp_barrier(stmt);
        let looped = looped || matches!(stmt, Stmt::Loop { .. });
        if !looped && matches!(stmt, Stmt::If { .. }) && holds_warp_barrier(stmt) {
            return true;
        }
        (ordered && looped) || stmt.blocks().any(|block| orders_in_loops(block, looped))
    })
}

fn holds_warp_barrier(stmt: &Stmt) -> bool {
    is_warp_barrier(stmt) || stmt.blocks().flatten().any(holds_warp_barrier)
}

/// Whether the lanes of a warp meet at the statement for the order alone: what gives them a value orders nothing.
fn is_warp_barrier(stmt: &Stmt) -> bool {
    let parts = stmt.parts();
    match parts.meeting {
        Some(Meeting::Warp) => parts.slot.is_none(),
        Some(Meeting::Block) | None => false,
    }
}

/// The places of floats that the device has an instruction to add to, where the kernel adds something, and does nothing
/// for which they have to be bits.
pub fn sums(kernel: &Kernel, features: &Features) -> FxHashSet<Place> {
    let (mut places, mut bits) = (FxHashSet::default(), FxHashSet::default());
    kernel.walk(&mut |stmt| {
        let parts = stmt.parts();
        let (Some(&place), Some(StmtOrder::Update(_))) = (parts.place, parts.order) else { return };
        let does = |wanted| matches!(stmt, Stmt::AtomicUpdate { op, .. } if *op == wanted);
        if does(AtomicOp::Add) && features.adds(place, kernel.element_of(place)) {
            places.insert(place);
        } else if !does(AtomicOp::Exchange) {
            // An exchange moves numbers as they are; any other update than these two is a loop over the bits.
            bits.insert(place);
        }
    });
    places.retain(|place| !bits.contains(place));
    places
}

fn capabilities(asm: &mut Assembler, kernel: &Kernel, features: &Features, added: &FxHashSet<Place>) {
    for capability in [Capability::Shader, Capability::VulkanMemoryModel, Capability::VulkanMemoryModelDeviceScope] {
        asm.capability(capability);
    }
    let used = crate::check::types_of(kernel);
    for ty in used {
        // Floats are hidden as integers.
        let hidden = (ty.is_float() && features.workarounds.hides()).then(|| ty.bits_type());
        for needs in [Some(ty), hidden].into_iter().flatten().filter_map(needs) {
            needs.capabilities.iter().for_each(|&capability| asm.capability(capability));
        }
    }
    kernel.walk(&mut |stmt| {
        if let Some(place) = stmt.atomic_place()
            && kernel.element_of(place).size() == 8
            && !added.contains(&place)
        {
            asm.capability(Capability::Int64);
            asm.capability(Capability::Int64Atomics);
        }
    });
    crate::warp::capabilities(asm, kernel, features);
    let mut reads_clock = false;
    kernel.walk(&mut |stmt| reads_clock |= matches!(stmt, Stmt::Clock { .. }));
    if reads_clock {
        asm.extension("SPV_KHR_shader_clock");
        asm.capability(Capability::ShaderClockKHR);
    }
    for place in added {
        asm.extension("SPV_EXT_shader_atomic_float_add");
        asm.capability(match kernel.element_of(*place).float_format() {
            Some(FloatFormat::F64) => Capability::AtomicFloat64AddEXT,
            Some(FloatFormat::F32) => Capability::AtomicFloat32AddEXT,
            Some(FloatFormat::Half(_)) | None => continue,
        });
    }
}

impl Emitter<'_> {
    fn declare(&mut self) {
        for (number, slot) in self.kernel.slots.iter().enumerate() {
            let of = self.asm.ty(slot.ty);
            let id = self.asm.local(of, slot.name.map(|name| format!("{name}_{number}")));
            self.slots.push(id);
        }
        for (number, array) in self.kernel.locals.iter().enumerate() {
            let (of, len) = (self.asm.ty(array.element), self.asm.word(array.len.max(1)));
            let of = self.asm.array(of, len);
            let name = format!("a{number}");
            let id = match &array.constants {
                // Nothing writes to it, which drivers see: they keep it as constant data.
                Some(constants) if constants.iter().any(|&raw| raw != 0) => {
                    let parts: Vec<_> = constants.iter().map(|&raw| self.asm.constant(array.element, raw)).collect();
                    let first = self.asm.composite(of, &parts);
                    self.asm.local_variable(of, &name, first)
                }
                _ => {
                    let zero = self.asm.null(of);
                    self.asm.local_variable(of, &name, zero)
                }
            };
            self.locals.push(id);
        }
    }

    /// Whether the thread has something to do: its block is one of the launch's, and no earlier launch has failed.
    fn runs(&mut self) -> Word {
        let bool = self.asm.ty(Type::Bool);
        let mut runs = self.asm.of(Op::ULessThan, bool, &[self.entry.block, self.entry.word(ArgumentWord::Blocks)]);
        if self.features.watched {
            let gate = self.interface.gate(&mut self.asm);
            let gate = self.relaxed(Op::AtomicLoad, gate, &[]);
            let open = self.asm.of(Op::UGreaterThanEqual, bool, &[gate, self.entry.word(ArgumentWord::Number)]);
            runs = self.asm.of(Op::LogicalAnd, bool, &[runs, open]);
        }
        if self.features.workarounds.pads_blocks {
            let is_thread =
                self.asm.of(Op::ULessThan, bool, &[self.entry.thread, self.interface.spec(SpecConstant::Threads)]);
            runs = self.asm.of(Op::LogicalAnd, bool, &[runs, is_thread]);
        }
        if self.features.watched && self.kernel.has_unbounded_loop() {
            // Parts of a launch that come after it was stopped need not begin.
            let (at, zero) = (self.asm.word(control::STOP), self.asm.word(0));
            let at = self.interface.control(&mut self.asm, at);
            let said = self.relaxed(Op::AtomicLoad, at, &[]);
            let goes_on = self.asm.of(Op::IEqual, bool, &[said, zero]);
            runs = self.asm.of(Op::LogicalAnd, bool, &[runs, goes_on]);
        }
        runs
    }

    pub(crate) fn slot(&mut self, slot: SlotId) -> Word {
        let of = self.asm.ty(self.kernel.slots[slot.index()].ty);
        self.asm.of(Op::Load, of, &[self.slots[slot.index()]])
    }

    pub(crate) fn set_slot(&mut self, slot: SlotId, value: Word) {
        let variable = self.slots[slot.index()];
        // Where two ways meet, a compiler may make a choice of what they store.
        let value = self.hidden(self.kernel.slots[slot.index()].ty, value);
        self.asm.act(Op::Store, [variable, value].map(Operand::IdRef).to_vec());
    }
}
