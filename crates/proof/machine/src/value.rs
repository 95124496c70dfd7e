//! What a thread computes with: words, or words some of which are not known yet.

use std::fmt::Debug;
use std::hash::Hash;

use wattle_ir::MAX_RANK;

/// A domain of values that a [`Thread`](crate::Thread) can run in. The default value is the word 0.
///
/// In the domain of words, `u64`, every value is known, and the code that asks whether one is compiles to nothing. In
/// that of [`Deferred`] values a thread runs past a load whose value has not been chosen, until control needs it.
pub trait Value: Copy + Eq + Hash + Debug + Default {
    /// Whether a value can be one that is not known. Only then does a thread tell of the heads of loops, and forget
    /// what it no longer needs there.
    const DEFERS: bool;

    /// The index of an access: all its dimensions, or, in a domain where one of them may not be known, perhaps none.
    type Index: Copy + Eq + Hash + Debug;

    /// A word.
    fn from_raw(raw: u64) -> Self;

    /// The word, where it is known.
    fn known(self) -> Option<u64>;

    /// An index from that of which every dimension is known; none only where the domain defers.
    fn index(known: Option<[u32; MAX_RANK]>) -> Self::Index;

    /// An operator's result; it is known where all the operands are.
    fn unary(self, op: impl FnOnce(u64) -> u64) -> Self;

    /// The same for two operands.
    fn binary(self, other: Self, op: impl FnOnce(u64, u64) -> u64) -> Self;

    /// The same for three operands.
    fn ternary(self, second: Self, third: Self, op: impl FnOnce(u64, u64, u64) -> u64) -> Self;

    /// The first operand where the condition `self` holds, else the second. The result depends on both, as in the
    /// source: it is known where all three are.
    fn select(self, first: impl FnOnce() -> Self, second: impl FnOnce() -> Self) -> Self;
}

impl Value for u64 {
    const DEFERS: bool = false;

    type Index = [u32; MAX_RANK];

    #[inline(always)]
    fn from_raw(raw: u64) -> u64 {
        raw
    }

    #[inline(always)]
    fn known(self) -> Option<u64> {
        Some(self)
    }

    #[inline(always)]
    fn index(known: Option<[u32; MAX_RANK]>) -> [u32; MAX_RANK] {
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

/// A word, or one that is not known yet.
///
/// A pending value does not say which load it comes from: whoever left that load open keeps the thread as it was
/// there, and runs it again from there once the value is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deferred {
    /// A word.
    Known(u64),
    /// The value of a load that is not chosen yet, or anything computed from one.
    Pending,
}

impl Default for Deferred {
    fn default() -> Deferred {
        Deferred::Known(0)
    }
}

impl Value for Deferred {
    const DEFERS: bool = true;

    type Index = Option<[u32; MAX_RANK]>;

    fn from_raw(raw: u64) -> Deferred {
        Deferred::Known(raw)
    }

    fn known(self) -> Option<u64> {
        match self {
            Deferred::Known(raw) => Some(raw),
            Deferred::Pending => None,
        }
    }

    fn index(known: Option<[u32; MAX_RANK]>) -> Option<[u32; MAX_RANK]> {
        known
    }

    fn unary(self, op: impl FnOnce(u64) -> u64) -> Deferred {
        match self {
            Deferred::Known(raw) => Deferred::Known(op(raw)),
            Deferred::Pending => Deferred::Pending,
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
