//! The instructions of a program that order memory, or that could.

use wattle_ir::{Place, Site};
use wattle_memory::FenceOrder;

use crate::Program;
use crate::action::Action;
use crate::code::Op;

/// An instruction that touches or orders memory that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The number of the instruction ([`Thread::at`](crate::Thread::at)).
    pub at: u32,
    /// The number of the sequentially consistent fence that it begins with, if the source says `SeqCst` of the access.
    pub seq_cst: Option<u32>,
    /// The source line of the instruction.
    pub site: Site,
    /// The action of the instruction.
    pub action: Action,
}

impl Instruction {
    /// The numbers of all that stands for it in the code: of an access its own, with what it does, and before that the
    /// number of the fence that a sequentially consistent access begins with.
    pub fn parts(&self) -> impl Iterator<Item = (u32, Option<Action>)> {
        self.seq_cst.map(|first| (first, None)).into_iter().chain([(self.at, Some(self.action))])
    }
}

impl Program {
    /// The instructions that touch or order memory that threads share, in the order of the code. A sequentially
    /// consistent access is one of them, although a fence and an access stand for it in the code.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction> + '_ {
        self.code.iter().enumerate().filter_map(|(number, instr)| {
            let at = number as u32;
            if self.begins_seq_cst_access(at) {
                return None;
            }
            let action = match instr.op {
                Op::Access(number) => {
                    let access = self.accesses.get(number as usize)?;
                    match access.place {
                        Place::Local(_) => return None,
                        Place::Param(_) | Place::Shared(_) => access.parts().action,
                    }
                }
                op => op.parts().ordering?,
            };
            let seq_cst = at.checked_sub(1).filter(|&before| self.begins_seq_cst_access(before));
            Some(Instruction { at, seq_cst, site: self.site_at(at), action })
        })
    }

    /// Whether an instruction is the fence that a sequentially consistent access begins with: both have one place in
    /// the source, to the column, which no fence of the user's shares with an access.
    fn begins_seq_cst_access(&self, at: u32) -> bool {
        let op = |at: u32| self.code.get(at as usize).map(|instr| instr.op);
        let Some(Op::Fence { order: FenceOrder::SeqCst, scope: of_fence }) = op(at) else { return false };
        let Some(Op::Access(access)) = op(at + 1) else { return false };
        let scope = self.accesses.get(access as usize).and_then(|access| access.parts().action.scope());
        scope == Some(of_fence) && self.site_at(at) == self.site_at(at + 1)
    }
}
