//! The writes that code may still make from a place on, whatever it reads.
//!
//! [`Thread::writes_ahead`] runs the code, taking both branches wherever a branch depends on the values read;
//! [`Program::may_write`] only checks which instructions can follow, and is used where running takes too long.

use wattle_ir::{Builtin, Place};

use std::collections::HashSet;

use wattle_ir::MAX_RANK;

use crate::code::{AccessParts, Instr, Next, Op, Operand};
use crate::{Deferred, Environment, Location, Program, Request, Thread, Value};

/// The maximum number of requests of a look ahead.
const FAR: usize = 512;

/// An element that may be written; the index is `None` if it depends on the values read.
pub type Ahead = (Place, Option<[u64; MAX_RANK]>);

impl Thread<Deferred> {
    /// Gives each pending word a mark of its own: those behind `marks`, which counts them.
    pub fn mark_pending(&mut self, marks: &mut u32) {
        for word in self.words.iter_mut().filter(|word| **word == Deferred::Pending) {
            *marks += 1;
            *word = Deferred::Marked(*marks);
        }
    }

    /// The elements that the thread may still write, whatever it reads from here on; `None` where that takes too long
    /// to find.
    pub fn writes_ahead(&self, program: &Program, environment: &Environment) -> Option<Vec<Ahead>> {
        let mut writes = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![self.clone()];
        let mut left = FAR;
        while let Some(mut thread) = open.pop() {
            loop {
                left = left.checked_sub(1)?;
                let mut fuel = FAR as u64 * 8;
                let mut write = |location: &Location<Deferred>| {
                    let write = (location.place, location.index);
                    if !writes.contains(&write) {
                        writes.push(write);
                    }
                };
                match thread.run(program, environment, &mut fuel) {
                    Request::Load(_) | Request::AtomicLoad { .. } => thread.answer(Deferred::Pending),
                    Request::LoadLanes { lanes, .. } => thread.answer_lanes(&vec![Deferred::Pending; lanes as usize]),
                    Request::StoreLanes { location, values } => {
                        for lane in 0..values.len() as u32 {
                            write(&location.behind(lane));
                        }
                    }
                    Request::Store { location, .. } | Request::AtomicStore { location, .. } => write(&location),
                    Request::AtomicUpdate { location, .. } | Request::CompareExchange { location, .. } => {
                        write(&location);
                        thread.answer(Deferred::Pending);
                    }
                    // The same state takes the same ways again.
                    Request::LoopHead { .. } | Request::BackEdge { .. } => {
                        if !seen.insert(thread.clone()) {
                            break;
                        }
                    }
                    Request::NeedsValue => {
                        if seen.insert(thread.clone()) {
                            open.extend(thread.ways_on(program)?);
                        }
                        break;
                    }
                    Request::Clock { .. } => thread.answer(Deferred::Pending),
                    Request::OutOfFuel => return None,
                    Request::Warp { .. } => thread.answer(Deferred::Pending),
                    Request::Fence { .. }
                    | Request::Barrier { .. }
                    | Request::WarpBarrier { .. }
                    | Request::Fault(_) => {}
                    Request::Done => break,
                }
            }
        }
        Some(writes)
    }

    /// The ways in which a thread that needs a value can continue, whatever the value is; `None` where they are too
    /// many.
    pub fn ways_on(&self, program: &Program) -> Option<Vec<Thread<Deferred>>> {
        let at = self.pc();
        let to = |pc: u32| self.standing_at(pc);
        match program.code.get(at as usize)?.op {
            Op::JumpUnless { target, .. } => Some(vec![to(target), to(at + 1)]),
            Op::Assert { .. } => Some(vec![to(at + 1)]),
            Op::Assign { .. }
            | Op::Divide { .. }
            | Op::Access(_)
            | Op::Fence { .. }
            | Op::Barrier(_)
            | Op::Warp { .. }
            | Op::WarpBarrier(_)
            | Op::Enter { .. }
            | Op::Count { .. }
            | Op::Jump(_)
            | Op::LoopHead { .. }
            | Op::BackEdge { .. }
            | Op::Clock { .. }
            | Op::Return => None,
        }
    }
}

impl Program {
    /// Whether a thread at this position in the code may still write to the element of the place, by any path. In a
    /// place of several dimensions any element counts.
    pub fn may_write<V: Value>(&self, thread: &Thread<V>, place: Place, element: u64) -> bool {
        let Some(&ahead) = self.ahead.get(thread.pc() as usize) else { return false };
        let hits = |access: &crate::code::Access| {
            let known = match access.index.first() {
                Some(Operand::Const(index)) if access.rank == 1 => Some(*index),
                _ => None,
            };
            let may_be_there = |AccessParts { action, lanes, .. }: AccessParts| {
                action.writes() && known.is_none_or(|index| (index..index + u64::from(lanes)).contains(&element))
            };
            access.place == place && may_be_there(access.parts())
        };
        self.accesses.iter().enumerate().any(|(number, access)| ahead >> number.min(63) & 1 != 0 && hits(access))
    }

    /// Whether an instruction reads the thread's position in its launch.
    fn reads_position(&self, instr: &Instr) -> bool {
        let is_position = |operand: &Operand| match operand {
            Operand::Builtin(builtin, _) => match builtin {
                Builtin::ThreadInBlock | Builtin::BlockInGrid | Builtin::Lane | Builtin::WarpInBlock => true,
                Builtin::BlockExtent
                | Builtin::GridExtent
                | Builtin::FrameCount
                | Builtin::FrameExtent
                | Builtin::Device(_)
                | Builtin::WarpSize => false,
            },
            Operand::Const(_)
            | Operand::Slot(_)
            | Operand::Temp(_)
            | Operand::Param(_)
            | Operand::Extent(..)
            | Operand::SharedLen => false,
        };
        self.operands_of(instr).iter().any(is_position)
    }
}

/// For each instruction whether it, or any that can come after it, reads the thread's position in its launch.
pub(crate) fn reads_position_ahead(program: &Program) -> Vec<bool> {
    let own: Vec<bool> = program.code.iter().map(|instr| program.reads_position(instr)).collect();
    let mut ahead = vec![false; program.code.len() + 1];
    loop {
        let mut changed = false;
        for (number, instr) in program.code.iter().enumerate().rev() {
            let at = |number: u32| ahead.get(number as usize).copied().unwrap_or(false);
            let next = number as u32 + 1;
            let behind = match instr.op.parts().next {
                Next::Following => at(next),
                Next::Target(target) => at(target),
                Next::Either(target) => at(target) || at(next),
                Next::End => false,
            };
            if (own[number] || behind) && !ahead[number] {
                ahead[number] = true;
                changed = true;
            }
        }
        if !changed {
            return ahead;
        }
    }
}

/// For each instruction the accesses that it, or any that can come after it, may make: a bit each, the last one for
/// all beyond the first 63.
pub(crate) fn writes_ahead(program: &Program) -> Vec<u64> {
    let mut ahead = vec![0u64; program.code.len() + 1];
    loop {
        let mut changed = false;
        for (number, instr) in program.code.iter().enumerate().rev() {
            let at = |number: u32| ahead.get(number as usize).copied().unwrap_or(0);
            let next = number as u32 + 1;
            let mut accesses = match instr.op.parts().next {
                Next::Following => at(next),
                Next::Target(target) => at(target),
                Next::Either(target) => at(target) | at(next),
                Next::End => 0,
            };
            if let Op::Access(access) = instr.op {
                accesses |= 1 << access.min(63);
            }
            if let Some(known) = ahead.get_mut(number)
                && *known != accesses
            {
                *known = accesses;
                changed = true;
            }
        }
        if !changed {
            return ahead;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wattle_ir::{
        Access, Const, Expr, ExprId, Kernel, Label, Param, ParamId, ParamKind, Site, Slot, SlotId, Stmt, Type,
    };
    use wattle_memory::{ReadOrder, Scope, WriteOrder};

    use super::*;
    use crate::{Deferred, Environment, LaunchShape, Position};

    #[test]
    fn what_lies_behind_is_not_ahead() {
        let site = Site::caller();
        let view = |name| Param {
            name,
            kind: ParamKind::View { access: Access::Atomic, element: Type::U32, rank: 1 },
            field: None,
        };
        let (order, scope) = (WriteOrder::Relaxed, Scope::Device);
        let store = |param| Stmt::AtomicStore {
            place: Place::Param(ParamId(param)),
            index: vec![ExprId(0)],
            value: ExprId(0),
            order,
            scope,
            site,
        };
        let load = Stmt::AtomicLoad {
            dst: SlotId(0),
            place: Place::Param(ParamId(0)),
            index: vec![ExprId(0)],
            order: ReadOrder::Relaxed,
            scope,
            site,
        };
        let kernel = Kernel {
            params: vec![view("a"), view("b")],
            slots: vec![Slot { ty: Type::U32, name: None }],
            exprs: vec![Expr::Const(Const::of(0u32))],
            body: vec![
                store(0),
                Stmt::Loop {
                    label: Label(0),
                    body: vec![store(1), load, Stmt::Break(Label(0))],
                    continuing: vec![],
                    bounded: false,
                    site,
                },
            ],
            ..Kernel::new("ahead", site, 1)
        };
        let program = Program::compile(Arc::new(kernel)).unwrap();
        let environment = Environment {
            shape: LaunchShape::linear(1, 1),
            arguments: vec![crate::Argument::whole(0u64, [1; 4]); 2],
            shared_len: 0,
        };
        let mut thread = Thread::<Deferred>::start(&program, Position { block: [0; 4], thread: [0; 4] });
        let may =
            |thread: &Thread<Deferred>| [0, 1].map(|param| program.may_write(thread, Place::Param(ParamId(param)), 0));
        let ahead = |thread: &Thread<Deferred>| thread.writes_ahead(&program, &environment).unwrap();
        let (a, b) = (Place::Param(ParamId(0)), Place::Param(ParamId(1)));
        assert_eq!(may(&thread), [true, true]);
        assert_eq!(ahead(&thread), [(a, Some([0; 4])), (b, Some([0; 4]))]);
        let mut fuel = u64::MAX;
        thread.run(&program, &environment, &mut fuel);
        assert_eq!(may(&thread), [false, true], "past the first store");
        assert_eq!(ahead(&thread), [(b, Some([0; 4]))]);
        thread.run(&program, &environment, &mut fuel);
        thread.run(&program, &environment, &mut fuel);
        thread.run(&program, &environment, &mut fuel);
        assert_eq!(may(&thread), [false, false], "past the loop's store, and nothing goes back to it");
        assert_eq!(ahead(&thread), []);
        assert!(!reads_position_ahead(&program).contains(&true));
    }
}
