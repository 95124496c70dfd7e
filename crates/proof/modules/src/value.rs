//! The domain of a thread's values: words, or words some of which are not known yet.

use std::fmt::Debug;

/// A domain of values that a thread can run in.
///
/// In the domain of words, `u64`, every value is known, and the code that asks whether one is compiles to nothing. In
/// that of [`Deferred`] values a thread runs past a load whose value has not been chosen, until control needs it.
pub trait Value: Copy + Debug {
    /// The value of a word.
    fn of(bits: u64) -> Self;

    /// The word, if it is known.
    fn known(self) -> Option<u64>;

    /// The result of an instruction with three operands; it is known if all are.
    fn zip3(self, second: Self, third: Self, f: impl FnOnce(u64, u64, u64) -> u64) -> Self;

    /// The result of an instruction with one operand; it is known if the operand is.
    #[inline(always)]
    fn map(self, f: impl FnOnce(u64) -> u64) -> Self {
        self.zip3(Self::of(0), Self::of(0), |a, _, _| f(a))
    }

    /// The result of an instruction with two operands; it is known if both are.
    #[inline(always)]
    fn zip(self, second: Self, f: impl FnOnce(u64, u64) -> u64) -> Self {
        self.zip3(second, Self::of(0), |a, b, _| f(a, b))
    }

    /// The first of two values where this one is not 0, else the second one.
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        self.zip3(yes, no, |condition, yes, no| if condition != 0 { yes } else { no })
    }
}

impl Value for u64 {
    #[inline(always)]
    fn of(bits: u64) -> u64 {
        bits
    }

    #[inline(always)]
    fn known(self) -> Option<u64> {
        Some(self)
    }

    #[inline(always)]
    fn zip3(self, second: u64, third: u64, f: impl FnOnce(u64, u64, u64) -> u64) -> u64 {
        f(self, second, third)
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
    /// A value that nothing fixes, such as that of memory that nobody has written, or anything computed from one; the word
    /// stands for it.
    Any(u64),
    /// The value of a register or of a byte of local memory that the thread has not written, or anything computed from one;
    /// the number says of which, as the thread's owner counts them.
    Unwritten(u32),
    /// The value of a load that is not chosen yet, or anything computed from one.
    Pending,
}

impl Deferred {
    /// Whether nothing fixes the value.
    #[inline]
    pub fn is_any(self) -> bool {
        matches!(self, Deferred::Any(_))
    }

    /// The number of the register or the byte that the value comes from, if the thread has not written it.
    #[inline]
    pub fn unwritten(self) -> Option<u32> {
        match self {
            Deferred::Unwritten(number) => Some(number),
            Deferred::Known(_) | Deferred::Any(_) | Deferred::Pending => None,
        }
    }

    /// The same value, or one that nothing fixes.
    #[inline]
    #[must_use]
    pub fn any_if(self, any: bool) -> Deferred {
        match self {
            Deferred::Known(bits) if any => Deferred::Any(bits),
            same => same,
        }
    }
}

impl Value for Deferred {
    fn of(bits: u64) -> Deferred {
        Deferred::Known(bits)
    }

    fn known(self) -> Option<u64> {
        match self {
            Deferred::Known(bits) | Deferred::Any(bits) => Some(bits),
            // A thread that lets it matter has gone wrong, so any word will do.
            Deferred::Unwritten(_) => Some(0),
            Deferred::Pending => None,
        }
    }

    fn zip3(self, second: Deferred, third: Deferred, f: impl FnOnce(u64, u64, u64) -> u64) -> Deferred {
        if let (Deferred::Known(a), Deferred::Known(b), Deferred::Known(c)) = (self, second, third) {
            return Deferred::Known(f(a, b, c));
        }
        let unwritten = [self, second, third].into_iter().filter_map(Deferred::unwritten).min();
        match (self.known(), second.known(), third.known()) {
            (Some(a), Some(b), Some(c)) => unwritten.map_or_else(|| Deferred::Any(f(a, b, c)), Deferred::Unwritten),
            _ => Deferred::Pending,
        }
    }

    /// Compilers let a selection between a value and an undefined one stand, and only what is chosen counts.
    fn choose(self, yes: Deferred, no: Deferred) -> Deferred {
        match self {
            Deferred::Known(condition) if yes != Deferred::Pending && no != Deferred::Pending => {
                if condition != 0 {
                    yes
                } else {
                    no
                }
            }
            _ => self.zip3(yes, no, |condition, yes, no| if condition != 0 { yes } else { no }),
        }
    }
}
