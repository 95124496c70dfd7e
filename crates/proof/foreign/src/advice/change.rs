//! A change of a module, in the words of its source.

use wattle_modules::spirv::Edit as InstructionEdit;

use super::ptx::text::{self, LineEdit};
use super::spirv::edits;

/// A change of a place in the source, which may stand more than once in the module: in unrolled loops, and in functions
/// that are inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Change {
    /// The place in the source: the line that the module names, else that of the module.
    pub at: String,
    /// What to write there, in the words of the source's language.
    #[cfg_attr(feature = "serde", serde(rename = "change"))]
    pub text: String,
    /// The first instruction at which the module was changed.
    pub instruction: String,
    /// The name of the kernel.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) kernel: String,
    /// The number of the module among those that are changed.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) module: usize,
    /// The edits that make the change.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) edits: Edits,
}

/// The edits of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edits {
    /// By the lines of a PTX module's text.
    Lines(Vec<(u32, LineEdit)>),
    /// By the numbers of a SPIR-V module's instructions.
    Instructions(Vec<(usize, InstructionEdit)>),
}

impl Change {
    /// The change with relaxed accesses in place of those that acquire or release; `None` if it does anything else, or
    /// is relaxed already.
    pub(super) fn relaxed(&self) -> Option<Change> {
        let mut weaker = self.clone();
        weaker.text = match &mut weaker.edits {
            Edits::Lines(lines) => text::relax(lines)?,
            Edits::Instructions(all) => edits::relax(all, &self.text)?,
        };
        (weaker != *self).then_some(weaker)
    }

    /// Whether both change a place of the module in the same way, so that one of them would be lost.
    pub(super) fn clashes(&self, other: &Change) -> bool {
        if self.module != other.module {
            return false;
        }
        match (&self.edits, &other.edits) {
            (Edits::Lines(own), Edits::Lines(others)) => text::clash(own, others),
            (Edits::Instructions(own), Edits::Instructions(others)) => edits::clash(own, others),
            (Edits::Lines(_), Edits::Instructions(_)) | (Edits::Instructions(_), Edits::Lines(_)) => false,
        }
    }

    /// Adds what another change of the same place does, which is said in the same words.
    pub(super) fn absorb(&mut self, other: Change) {
        fn merge<E: PartialEq>(own: &mut Vec<E>, others: Vec<E>) {
            for edit in others {
                if !own.contains(&edit) {
                    own.push(edit);
                }
            }
        }
        match (&mut self.edits, other.edits) {
            (Edits::Lines(own), Edits::Lines(others)) => merge(own, others),
            (Edits::Instructions(own), Edits::Instructions(others)) => merge(own, others),
            (Edits::Lines(_), Edits::Instructions(_)) | (Edits::Instructions(_), Edits::Lines(_)) => {}
        }
    }

    /// The edits of a change of a PTX module's text.
    pub(super) fn lines(&self) -> &[(u32, LineEdit)] {
        match &self.edits {
            Edits::Lines(lines) => lines,
            Edits::Instructions(_) => &[],
        }
    }

    /// The edits of a change of a SPIR-V module.
    pub(super) fn instructions(&self) -> &[(usize, InstructionEdit)] {
        match &self.edits {
            Edits::Instructions(all) => all,
            Edits::Lines(_) => &[],
        }
    }
}

/// Changes by kind, each in the order of the module.
#[derive(Default)]
pub(super) struct Candidates {
    /// Fences and accesses of a block's scope with the device's.
    pub scopes: Vec<Change>,
    /// Fences and atomic accesses with an order that they do not have.
    pub orders: Vec<Change>,
    /// Fences before and behind strong accesses.
    pub fences: Vec<Change>,
    /// Sequentially consistent fences at the same places.
    pub sc_fences: Vec<Change>,
    /// Variables whose accesses other threads see.
    pub visible: Vec<Change>,
    /// Sums of shared words as atomic ones.
    pub increments: Vec<Change>,
    /// The block's barrier, around accesses of memory that threads share and before branches.
    pub block: Vec<Change>,
    /// The warp's barrier at the same places.
    pub warp: Vec<Change>,
}

impl Candidates {
    /// The kinds, in one order.
    pub fn kinds_mut(&mut self) -> [&mut Vec<Change>; 8] {
        let Candidates { scopes, orders, fences, sc_fences, visible, increments, block, warp } = self;
        [scopes, orders, fences, sc_fences, visible, increments, block, warp]
    }
}
