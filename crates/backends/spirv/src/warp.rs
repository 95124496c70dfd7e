//! Operations of warps, which SPIR-V calls subgroups.
//!
//! Nothing in Vulkan says which invocations of a workgroup form a subgroup. So in a kernel that uses its warp the
//! thread's number in the block is *defined* by the subgroup: `SubgroupId * SubgroupSize + SubgroupLocalInvocationId`.
//! With full subgroups, which the pipeline requires (`VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT`:
//! "subgroup sizes must be launched with all invocations active in the compute stage"), that numbers the invocations
//! from 0 on without a gap. A block has a multiple of the subgroup's size of threads, since nothing promises how one
//! that has not is divided.
//!
//! All lanes come to an operation together where those that part within a construct are together again behind it: the
//! execution mode `MaximallyReconvergesKHR` (SPV_KHR_maximal_reconvergence) promises that, and a device without it and
//! not known to do so is refused.

use rspirv::dr::Operand;
use rspirv::spirv::{Capability, ExecutionMode, GroupOperation, Op, Scope as SpirvScope, Word};
use wattle_ir::warp::{MASK_WORDS, WarpKind};
use wattle_ir::{Expr, ExprId, Kernel, SlotId, Stmt, Type, TypeKind, WarpOp, illegal};
use wattle_memory::Level;

use crate::assemble::Assembler;
use crate::emit::Emitter;
use crate::features::{Features, Lacking, Subgroups};

/// The instruction that reduces integers; of floats the order of the additions would be the device's.
pub fn reduction(op: WarpOp, ty: Type, features: &Features) -> Option<Op> {
    let word = matches!(ty, Type::U32 | Type::I32) && features.subgroups.arithmetic;
    let signed = ty.kind() == TypeKind::Signed;
    Some(match op {
        _ if !word => return None,
        WarpOp::ReduceSum | WarpOp::InclusiveSum | WarpOp::ExclusiveSum => Op::GroupNonUniformIAdd,
        WarpOp::ReduceMin | WarpOp::InclusiveMin if signed => Op::GroupNonUniformSMin,
        WarpOp::ReduceMin | WarpOp::InclusiveMin => Op::GroupNonUniformUMin,
        WarpOp::ReduceMax | WarpOp::InclusiveMax if signed => Op::GroupNonUniformSMax,
        WarpOp::ReduceMax | WarpOp::InclusiveMax => Op::GroupNonUniformUMax,
        WarpOp::ReduceAnd => Op::GroupNonUniformBitwiseAnd,
        WarpOp::ReduceOr => Op::GroupNonUniformBitwiseOr,
        WarpOp::ReduceXor => Op::GroupNonUniformBitwiseXor,
        WarpOp::Shuffle
        | WarpOp::ShuffleUp
        | WarpOp::ShuffleDown
        | WarpOp::ShuffleXor
        | WarpOp::Ballot
        | WarpOp::Any
        | WarpOp::All => return None,
    })
}

/// The first thing that a kernel's warps need and the device lacks.
pub fn check(kernel: &Kernel, features: &Features) -> Result<(), Lacking> {
    let Some(site) = kernel.first_use_of_warps() else { return Ok(()) };
    let Subgroups { votes, full, reconverges, in_lock_step, .. } = features.subgroups;
    let feature = if !full {
        "computeFullSubgroups (VK_EXT_subgroup_size_control): its warps may have gaps"
    } else if !votes {
        "subgroup votes and ballots in compute shaders"
    } else if !reconverges && !in_lock_step {
        "VK_KHR_shader_maximal_reconvergence: lanes of a warp that part may never come together again"
    } else {
        return Ok(());
    };
    Err(Lacking::Warps { kernel: kernel.name.clone(), site, feature, device: features.device.clone() })
}

/// Declares what operations of warps need.
pub fn capabilities(asm: &mut Assembler, kernel: &Kernel, features: &Features) {
    if kernel.first_use_of_warps().is_none() {
        return;
    }
    asm.capability(Capability::GroupNonUniform);
    kernel.walk(&mut |stmt| {
        let Stmt::Warp { op, .. } = stmt else { return };
        asm.capability(match op.kind() {
            WarpKind::Shuffle if features.subgroups.shuffles => Capability::GroupNonUniformShuffle,
            WarpKind::Shuffle => Capability::GroupNonUniformBallot,
            WarpKind::Ballot => Capability::GroupNonUniformBallot,
            WarpKind::Vote => Capability::GroupNonUniformVote,
            WarpKind::Reduce | WarpKind::InclusiveScan | WarpKind::ExclusiveScan => {
                Capability::GroupNonUniformArithmetic
            }
        });
    });
    if features.subgroups.reconverges {
        asm.extension("SPV_KHR_maximal_reconvergence");
    }
}

/// Sets the execution mode under which lanes that part come together again.
pub fn execution_mode(asm: &mut Assembler, main: Word, kernel: &Kernel, features: &Features) {
    if kernel.first_use_of_warps().is_some() && features.subgroups.reconverges {
        asm.execution_mode(main, ExecutionMode::MaximallyReconvergesKHR, &[]);
    }
}

impl Emitter<'_> {
    /// Emits an operation of the warp. `wattle_ir::legalize` has left those that the device has.
    pub(crate) fn warp(&mut self, dst: SlotId, op: WarpOp, value: ExprId, operand: Option<ExprId>) {
        let ty = self.types[value.index()];
        let x = self.value(value);
        let known = operand.map_or(Some(0), |operand| match self.kernel.exprs[operand.index()] {
            Expr::Const(constant) => Some(constant.raw),
            _ => None,
        });
        let operand = operand.map(|operand| self.value(operand));
        let of = self.asm.ty(op.result(ty));
        let result = match op {
            WarpOp::Any => self.together(Op::GroupNonUniformAny, of, vec![Operand::IdRef(x)]),
            WarpOp::All => self.together(Op::GroupNonUniformAll, of, vec![Operand::IdRef(x)]),
            WarpOp::Ballot => {
                let four = self.asm.vector(of, 4);
                let words = self.together(Op::GroupNonUniformBallot, four, vec![Operand::IdRef(x)]);
                let number = operand.unwrap_or_else(|| self.asm.word(0));
                if known.is_some_and(|number| number < MASK_WORDS as u64) {
                    self.asm.of(Op::VectorExtractDynamic, of, &[words, number])
                } else {
                    self.word_of_mask(words, number)
                }
            }
            WarpOp::Shuffle | WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor => {
                let lane = operand.unwrap_or_else(|| self.asm.word(0));
                if self.features.subgroups.shuffles {
                    self.together(Op::GroupNonUniformShuffle, of, [x, lane].map(Operand::IdRef).to_vec())
                } else {
                    self.broadcasts(of, x, lane)
                }
            }
            WarpOp::ReduceSum
            | WarpOp::ReduceMin
            | WarpOp::ReduceMax
            | WarpOp::ReduceAnd
            | WarpOp::ReduceOr
            | WarpOp::ReduceXor => self.grouped(op, ty, x, GroupOperation::Reduce),
            WarpOp::InclusiveSum | WarpOp::InclusiveMin | WarpOp::InclusiveMax => {
                self.grouped(op, ty, x, GroupOperation::InclusiveScan)
            }
            WarpOp::ExclusiveSum => self.grouped(op, ty, x, GroupOperation::ExclusiveScan),
        };
        self.set_slot(dst, result);
    }

    /// A word of a mask, whose number may be beyond the last one: `OpVectorExtractDynamic` of none is undefined.
    fn word_of_mask(&mut self, words: Word, number: Word) -> Word {
        let (bool, word) = (self.asm.ty(Type::Bool), self.asm.ty(Type::U32));
        let [count, last, none] = [MASK_WORDS as u32, MASK_WORDS as u32 - 1, 0].map(|value| self.asm.word(value));
        let exists = self.asm.of(Op::ULessThan, bool, &[number, count]);
        let within = self.asm.of(Op::BitwiseAnd, word, &[number, last]);
        let found = self.asm.of(Op::VectorExtractDynamic, word, &[words, within]);
        self.asm.of(Op::Select, word, &[exists, found, none])
    }

    /// Emits a sum or a scan over the lanes, which the device has.
    fn grouped(&mut self, op: WarpOp, ty: Type, x: Word, how: GroupOperation) -> Word {
        let of = self.asm.ty(op.result(ty));
        let name = reduction(op, ty, self.features).unwrap_or_else(|| illegal(&(op, ty)));
        self.together(name, of, vec![Operand::GroupOperation(how), Operand::IdRef(x)])
    }

    /// Emits an instruction of all lanes.
    fn together(&mut self, op: Op, of: Word, operands: Vec<Operand>) -> Word {
        let scope = Operand::IdScope(self.asm.word(SpirvScope::Subgroup as u32));
        self.asm.op(op, of, [vec![scope], operands].concat())
    }

    /// A shuffle on a device without: the value of each lane in turn, of which each keeps one.
    fn broadcasts(&mut self, of: Word, x: Word, lane: Word) -> Word {
        let bool = self.asm.ty(Type::Bool);
        let mut result = x;
        for number in 0..self.features.subgroups.most_lanes {
            let number = self.asm.word(number);
            let value = self.together(Op::GroupNonUniformBroadcast, of, [x, number].map(Operand::IdRef).to_vec());
            let is_it = self.asm.of(Op::IEqual, bool, &[lane, number]);
            result = self.asm.of(Op::Select, of, &[is_it, value, result]);
        }
        result
    }

    /// Emits the warp's barrier: what the block's orders, among the lanes of a subgroup. Its scope of memory is the
    /// block's, since operations of narrower scopes do not compose with those of wider ones.
    pub(crate) fn warp_barrier(&mut self) {
        let label = self.lowering.barrier();
        let threads = self.scope_word(Level::Subgroup);
        let (memory, semantics) = (self.scope_word(label.level), self.semantics_word(&[label]));
        self.asm.act(
            Op::ControlBarrier,
            vec![Operand::IdScope(threads), Operand::IdScope(memory), Operand::IdMemorySemantics(semantics)],
        );
    }
}
