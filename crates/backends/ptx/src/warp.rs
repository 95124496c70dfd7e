//! Operations of warps.
//!
//! A warp is 32 threads of a block with consecutive numbers (`WARP_SZ`; CUDA C++ Programming Guide, "SIMT
//! architecture": "each warp contains threads of consecutive, increasing thread IDs with the first warp containing
//! thread 0"). Launches have one dimension on the machine, so that the thread's number is `%tid.x`.
//!
//! The member mask names the lanes that have a thread: "the behavior of `shfl.sync` is undefined if the executing
//! thread is not in the membermask", and waits for "all non-exited threads corresponding to membermask" (PTX ISA 8.8,
//! 9.7.9.6 "shfl.sync"). Shuffles, votes and reductions order no memory; `bar.warp.sync` does: it "also guarantee\[s\]
//! memory ordering among threads participating in barrier" (9.7.13.2 "bar.warp.sync").

use wattle_ir::{ExprId, SlotId, Type, WarpOp, illegal};

use crate::assemble::{Class, Value, ins};
use crate::emit::Emitter;

/// The number of lanes of a warp.
pub const WARP_SIZE: u32 = 32;

/// The name of the instruction that reduces a type, if compute capability `sm` has one ("redux.sync requires sm_80").
pub fn reduction(op: WarpOp, ty: Type, sm: u32) -> Option<&'static str> {
    Some(match (op, ty) {
        _ if sm < 80 => return None,
        (WarpOp::ReduceSum, Type::U32) => "redux.sync.add.u32",
        (WarpOp::ReduceSum, Type::I32) => "redux.sync.add.s32",
        (WarpOp::ReduceMin, Type::U32) => "redux.sync.min.u32",
        (WarpOp::ReduceMin, Type::I32) => "redux.sync.min.s32",
        (WarpOp::ReduceMax, Type::U32) => "redux.sync.max.u32",
        (WarpOp::ReduceMax, Type::I32) => "redux.sync.max.s32",
        (WarpOp::ReduceAnd, Type::U32 | Type::I32) => "redux.sync.and.b32",
        (WarpOp::ReduceOr, Type::U32 | Type::I32) => "redux.sync.or.b32",
        (WarpOp::ReduceXor, Type::U32 | Type::I32) => "redux.sync.xor.b32",
        _ => return None,
    })
}

/// The lanes of a warp that have a thread: their mask, and the greatest of their numbers.
#[derive(Clone, Copy)]
pub struct Lanes {
    mask: Value,
    last: Value,
}

impl Emitter<'_> {
    /// The lanes that have a thread, which the prologue computes.
    fn warp_lanes(&mut self) -> Lanes {
        if let Some(lanes) = self.warp_lanes {
            return lanes;
        }
        let (thread, threads) = (self.special("%tid.x"), self.special("%ntid.x"));
        let lanes = self.in_prologue(|emitter| {
            let word = |emitter: &mut Self, name: &str, x: Value, y: Value| emitter.op(name, Class::Word, &[x, y]);
            let first = word(emitter, "and.b32", thread, Value::word(!(WARP_SIZE - 1)));
            let rest = word(emitter, "sub.u32", threads, first);
            let count = word(emitter, "min.u32", rest, Value::word(WARP_SIZE));
            let last = word(emitter, "sub.u32", count, Value::word(1));
            let none = word(emitter, "sub.u32", Value::word(WARP_SIZE), count);
            let mask = word(emitter, "shr.u32", Value::word(u32::MAX), none);
            Lanes { mask, last }
        });
        self.warp_lanes = Some(lanes);
        lanes
    }

    /// Emits an operation of the warp. `wattle_ir::legalize` has left those that PTX has.
    pub(crate) fn warp(&mut self, dst: SlotId, op: WarpOp, value: ExprId, operand: Option<ExprId>) {
        let ty = self.types[value.index()];
        let x = self.value(value);
        let x = self.in_register(ty, x);
        let operand = operand.map_or(Value::word(0), |operand| self.value(operand));
        let Lanes { mask, last } = self.warp_lanes();
        let class = Class::of(ty);
        let result = match op {
            WarpOp::Shuffle => self.op("shfl.sync.idx.b32", class, &[x, operand, last, mask]),
            // The least lane that can be the source; the others' clamp is the greatest.
            WarpOp::ShuffleUp => self.op("shfl.sync.up.b32", class, &[x, operand, Value::word(0), mask]),
            WarpOp::ShuffleDown => self.op("shfl.sync.down.b32", class, &[x, operand, last, mask]),
            WarpOp::ShuffleXor => self.op("shfl.sync.bfly.b32", class, &[x, operand, last, mask]),
            WarpOp::Ballot => {
                let bits = self.op("vote.sync.ballot.b32", Class::Word, &[x, mask]);
                // The mask's other words are empty; where the number is a constant, they are so by now.
                match operand {
                    Value::Constant(_, 0) => bits,
                    _ => {
                        let is_first = self.op("setp.eq.u32", Class::Predicate, &[operand, Value::word(0)]);
                        self.op("selp.b32", Class::Word, &[bits, Value::word(0), is_first])
                    }
                }
            }
            WarpOp::Any => self.op("vote.sync.any.pred", Class::Predicate, &[x, mask]),
            WarpOp::All => self.op("vote.sync.all.pred", Class::Predicate, &[x, mask]),
            WarpOp::ReduceSum
            | WarpOp::ReduceMin
            | WarpOp::ReduceMax
            | WarpOp::ReduceAnd
            | WarpOp::ReduceOr
            | WarpOp::ReduceXor => {
                let name = reduction(op, ty, self.sm).unwrap_or_else(|| illegal(&(op, ty)));
                self.op(name, class, &[x, mask])
            }
            // Made of shuffles.
            WarpOp::InclusiveSum | WarpOp::ExclusiveSum | WarpOp::InclusiveMin | WarpOp::InclusiveMax => illegal(&op),
        };
        self.set_slot(dst, result);
    }

    /// Emits the warp's barrier, which waits and orders memory among its lanes.
    pub(crate) fn warp_barrier(&mut self) {
        let mask = self.warp_lanes().mask;
        ins!(self, "bar.warp.sync {mask}");
    }
}
