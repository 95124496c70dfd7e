//! The domain of a thread's values: words, or words some of which are not known yet.

use std::fmt::Debug;
use std::hash::Hash;

use wattle_ir::MAX_RANK;

/// A domain of values that a [`Thread`](crate::Thread) can run in. The default value is the word 0.
///
/// In the domain of words, `u64`, every value is known, and the code that asks whether one is compiles to nothing. In
/// that of [`Deferred`] values a thread runs past a load whose value has not been chosen, until control needs it.
pub trait Value: Copy + Eq + Hash + Debug + Default {
    /// Whether a value can be unknown. Only then does a thread report the heads of loops, and clear there the words
    /// that it no longer needs.
    const DEFERS: bool;

    /// An unknown value, if there is one.
    const UNKNOWN: Option<Self>;

    /// The index of an access: all its dimensions; where a dimension may be unknown, an option.
    type Index: Copy + Eq + Hash + Debug;

    /// The value of a word.
    fn from_raw(raw: u64) -> Self;

    /// The word, if it is known.
    fn known(self) -> Option<u64>;

    /// An index from its dimensions; `None` stands for an unknown one, and occurs only where the domain defers.
    fn index(known: Option<[u64; MAX_RANK]>) -> Self::Index;

    /// The result of an operator with one operand; it is known if the operand is.
    fn unary(self, op: impl FnOnce(u64) -> u64) -> Self;

    /// The result of an operator with two operands; it is known if both are.
    fn binary(self, other: Self, op: impl FnOnce(u64, u64) -> u64) -> Self;

    /// The result of an operator with three operands; it is known if all are.
    fn ternary(self, second: Self, third: Self, op: impl FnOnce(u64, u64, u64) -> u64) -> Self;

    /// The first operand where the condition `self` holds, else the second. The result depends on both, as in the
    /// source: it is known where all three are.
    fn select(self, first: impl FnOnce() -> Self, second: impl FnOnce() -> Self) -> Self;
}

impl Value for u64 {
    const DEFERS: bool = false;

    const UNKNOWN: Option<Self> = None;

    type Index = [u64; MAX_RANK];

    #[inline(always)]
    fn from_raw(raw: u64) -> u64 {
        raw
    }

    #[inline(always)]
    fn known(self) -> Option<u64> {
        Some(self)
    }

    #[inline(always)]
    fn index(known: Option<[u64; MAX_RANK]>) -> [u64; MAX_RANK] {
        known.unwrap_or_default()
    }

    #[inline(always)]
    fn unary(self, op: impl FnOnce(u64) -> u64) -> u64 {
        op(self)
    }

    #[inline(always)]
    fn binary(self, other: u64, op: impl FnOnce(u64, u64) -> u64) -> u64 {
        op(self, other)
    }

    #[inline(always)]
    fn ternary(self, second: u64, third: u64, op: impl FnOnce(u64, u64, u64) -> u64) -> u64 {
        op(self, second, third)
    }

    #[inline(always)]
    fn select(self, first: impl FnOnce() -> u64, second: impl FnOnce() -> u64) -> u64 {
        if self & 1 != 0 { first() } else { second() }
    }
}

/// A word that may not be known yet.
///
/// A pending value does not identify the load it comes from: the owner that leaves a load open keeps a copy of the
/// thread at the load, and runs it again from there once the value is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deferred {
    /// A known word.
    Known(u64),
    /// The value of a load that is not chosen yet, or anything computed from one.
    Pending,
    /// A pending value that was given a mark when a thread came to the head of a loop: it has only been kept or copied
    /// since, so that two words with one mark have one value.
    Marked(u32),
}

impl Default for Deferred {
    fn default() -> Deferred {
        Deferred::Known(0)
    }
}

impl Value for Deferred {
    const DEFERS: bool = true;

    const UNKNOWN: Option<Deferred> = Some(Deferred::Pending);

    type Index = Option<[u64; MAX_RANK]>;

    fn from_raw(raw: u64) -> Deferred {
        Deferred::Known(raw)
    }

    fn known(self) -> Option<u64> {
        match self {
            Deferred::Known(raw) => Some(raw),
            Deferred::Pending | Deferred::Marked(_) => None,
        }
    }

    fn index(known: Option<[u64; MAX_RANK]>) -> Option<[u64; MAX_RANK]> {
        known
    }

    fn unary(self, op: impl FnOnce(u64) -> u64) -> Deferred {
        match self {
            Deferred::Known(raw) => Deferred::Known(op(raw)),
            Deferred::Pending | Deferred::Marked(_) => Deferred::Pending,
        }
    }

    fn binary(self, other: Deferred, op: impl FnOnce(u64, u64) -> u64) -> Deferred {
        match (self, other) {
            (Deferred::Known(first), Deferred::Known(second)) => Deferred::Known(op(first, second)),
            _ => Deferred::Pending,
        }
    }

    fn ternary(self, second: Deferred, third: Deferred, op: impl FnOnce(u64, u64, u64) -> u64) -> Deferred {
        match (self, second, third) {
            (Deferred::Known(first), Deferred::Known(second), Deferred::Known(third)) => {
                Deferred::Known(op(first, second, third))
            }
            _ => Deferred::Pending,
        }
    }

    fn select(self, first: impl FnOnce() -> Deferred, second: impl FnOnce() -> Deferred) -> Deferred {
        self.ternary(first(), second(), |condition, first, second| if condition & 1 != 0 { first } else { second })
    }
}
