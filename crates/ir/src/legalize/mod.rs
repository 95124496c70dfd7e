//! Legalization: replaces what a target lacks by what it has, once for all targets.
//!
//! A code generator describes its target by a [`Native`]: what the target does by itself as the IR defines it. The new
//! kernel means the same as the old one, and has these properties besides, on which the generator relies:
//! - The index of every access is within its bounds, for all lanes of one that has several. This is where the bounds
//!   checks of generated code come from (the host's are in `core`'s `view.rs`, and in `rows.rs` once for a row; the
//!   interpreter's in `machine`): an index that may be beyond gets a bounds check, behind which is a [`Stmt::Fault`]. The fault ends nothing: a load then
//!   gives 0, and the thread goes on. What was tested on the way to the access is not checked again, nor what cannot be
//!   beyond ([`facts`], [`ranges`]).
//! - No divisor is zero, and none is -1 where the target leaves the quotient of the least value open.
//! - The count of a shift is less than the number of bits.
//! - A float that is converted to an integer fits, where the target leaves open what happens else.
//! - Atomic updates are those that the target has. Others are loops of compare-exchanges.
//! - Operations of warps are those that the target has, as [`Warps`] says.
//! - Memory whose floats take atomic operations that the target lacks holds their bits, as integers.
//! - Floats of 16 bits, and operations on them, are those that the target has. Others are integers of 16 bits, and
//!   operations on `F32`.
//! - Arrays in shared memory have one dimension.
//! - There are no assertions: each is a branch with a fault. Nothing is printed: each line is a record in the launch's
//!   log ([`crate::printing`]).
//!
//! The host, the simulated device and the checker see kernels as they are written, before this.

mod division;
mod facts;
mod ranges;
mod statements;
mod values;
mod warps;

use std::fmt::Debug;
use std::ops::Deref;

use rustc_hash::FxHashMap;

use crate::expand::{Exact, Halves, expand, lower_halves};
use crate::rename::drop_unused;
use crate::{AtomicOp, DivOp, ExprId, Kernel, Place, Stmt, Type, printing};
use statements::Legalizer;
pub use warps::{NO_WARPS, Warps};

/// Ends with what a code generator has met in a kernel although legalization leaves none of it: to go on would give
/// code that does something else than the kernel.
///
/// # Panics
/// Always.
#[doc(hidden)]
#[track_caller]
pub fn illegal(what: &dyn Debug) -> ! {
    unreachable!("legalization leaves none of it: {what:?}")
}

/// What a target does by itself.
pub struct Native<'t> {
    /// The operations on a float type that the target rounds as the IR defines them.
    pub exact: &'t dyn Fn(Type) -> Exact,
    /// What the target has of a floating-point type of 16 bits.
    pub halves: &'t dyn Fn(Type) -> Halves,
    /// Whether the target has an instruction for an integer division of any operands but a divisor of zero.
    pub divides: &'t dyn Fn(DivOp, Type) -> Divides,
    /// Whether the target's compiler makes shifts and products of divisions by constants.
    pub divides_by_constants: bool,
    /// What the target's conversion of the first type, a float's, to the second, an integer's, does.
    pub converts: &'t dyn Fn(Type, Type) -> Converts,
    /// Whether the target has an instruction for an atomic update of a place with elements of the type.
    pub updates: &'t dyn Fn(AtomicOp, Place, Type) -> bool,
    /// Whether the target has atomic operations on the floats of a type in a place.
    pub floats: &'t dyn Fn(Place, Type) -> bool,
    /// Whether the target loads and stores several elements at once.
    pub loads_lanes: bool,
    /// The most threads that a block of any launch of the code has, where that is known.
    pub most_threads: Option<u32>,
    /// What its warps do.
    pub warps: Warps<'t>,
}

/// The divisions of integers, by a divisor that is not zero, that a target's instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divides {
    /// Every division is as in the IR: the least value by -1 wraps.
    Always,
    /// Every division is as in the IR, but that of the least value by -1.
    ButLeast,
    /// No instruction divides: a remainder is computed from the quotient.
    Never,
}

/// What a target's conversion of a float to an integer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Converts {
    /// The conversion is that of Rust's `as`: a value beyond the type becomes the type's bound, and NaN becomes 0.
    All,
    /// Every number is converted as Rust's `as` does; NaN becomes anything.
    Numbers,
    /// A value that fits the type is converted; any other becomes anything.
    Fitting,
}

/// A kernel with the properties that [`legalize`] gives it, which alone makes one.
#[derive(Clone, Debug)]
pub struct Legal {
    kernel: Kernel,
    aligned: FxHashMap<ExprId, u32>,
}

impl Deref for Legal {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.kernel
    }
}

impl Legal {
    /// A power of two, as its exponent, that surely divides the index of each access to several elements that has this
    /// index.
    pub fn alignment(&self, index: ExprId) -> u32 {
        self.aligned.get(&index).copied().unwrap_or(0)
    }
}

/// Makes a verified kernel one for a target.
pub fn legalize(kernel: &Kernel, native: &Native<'_>) -> Legal {
    let with_log = printing::with_log(kernel);
    let by_words = warps::warps(with_log.as_ref().map_or(kernel, |(kernel, _)| kernel), native);
    let lowered = lower_halves(&by_words, native.halves);
    let expanded = expand(&lowered, native.exact);
    let (mut kernel, aligned) = Legalizer::new(&expanded, native).kernel();
    let names = drop_unused(&mut kernel);
    debug_assert_eq!(crate::verify::verify_legal(&kernel), Ok(()));
    let aligned = aligned.into_iter().filter_map(|(index, zeros)| Some((names[index.index()]?, zeros))).collect();
    Legal { kernel, aligned }
}

/// A check: a branch of which one side is a fault, and so hardly ever runs.
#[derive(Clone, Copy, Debug)]
pub struct Check<'s> {
    /// The condition of the branch.
    pub condition: ExprId,
    /// The value of the condition with which the check fails.
    pub fails_if: bool,
    /// What is done where the check does not fail.
    pub within: &'s [Stmt],
    /// What is done where it fails, the fault first.
    pub beyond: &'s [Stmt],
}

impl Stmt {
    /// The check that the statement is, if it is one.
    pub fn check(&self) -> Option<Check<'_>> {
        let Stmt::If { condition, then, otherwise } = self else { return None };
        let faults = |block: &[Stmt]| matches!(block.first(), Some(Stmt::Fault { .. }));
        let (fails_if, within, beyond) = match (faults(then), faults(otherwise)) {
            (true, _) => (true, otherwise, then),
            (_, true) => (false, then, otherwise),
            (false, false) => return None,
        };
        Some(Check { condition: *condition, fails_if, within, beyond })
    }
}
