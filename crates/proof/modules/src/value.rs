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

    /// The value that an instruction gives whose specification leaves it open: a device's own where values are words.
    #[inline(always)]
    #[must_use]
    fn left_open(self) -> Self {
        self
    }

    /// The result of an instruction with three operands; it is known if all are.
    fn zip3(self, second: Self, third: Self, f: impl FnOnce(u64, u64, u64) -> u64) -> Self;

    /// The result of an instruction with four operands; it is known if all are.
    #[inline(always)]
    fn zip4(self, second: Self, third: Self, fourth: Self, f: impl FnOnce(u64, u64, u64, u64) -> u64) -> Self {
        // Whether two operands are known, and where they come from if not, is that of any result computed from both.
        let both = third.zip(fourth, |_, _| 0);
        match (third.known(), fourth.known()) {
            (Some(c), Some(d)) => self.zip3(second, both, |a, b, _| f(a, b, c, d)),
            _ => self.zip3(second, both, |_, _, _| 0),
        }
    }

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

    /// The result of an instruction with three operands, of which the first ones go into it bit by bit.
    #[inline(always)]
    fn bitwise(self, second: Self, third: Self, _: Bitwise, f: impl Fn(u64, u64, u64) -> u64) -> Self {
        self.zip3(second, third, f)
    }

    /// The result of an instruction with four operands, of which the first ones go into it bit by bit.
    #[inline(always)]
    fn bitwise4(
        self,
        second: Self,
        third: Self,
        fourth: Self,
        _: Bitwise,
        f: impl Fn(u64, u64, u64, u64) -> u64,
    ) -> Self {
        self.zip4(second, third, fourth, f)
    }

    /// The bits of this value from a bit on: those of a part of it.
    #[inline(always)]
    fn part(self, from: u32, bits: u32) -> Self {
        self.map(|whole| whole >> from & (u64::MAX >> (64 - bits)))
    }

    /// The bits of this value above the `bits` bits of another one.
    #[inline(always)]
    fn above(self, bits: u32, low: Self) -> Self {
        self.zip(low, |high, low| high.checked_shl(bits).unwrap_or(0) | low)
    }

    /// The first of two values where this one is not 0, else the second one.
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        self.zip3(yes, no, |condition, yes, no| if condition != 0 { yes } else { no })
    }
}

/// How many of the first operands of an instruction go into its result bit by bit: a bit of the result is a bit of
/// theirs, or what `and`, `or` and `xor` make of some, and which ones depends on the other operands alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitwise(pub u8);

impl Bitwise {
    /// No operand goes into the result so.
    pub const NOT: Bitwise = Bitwise(0);
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
/// A pending value does not identify the load it comes from, unless its owner marks it: the owner that leaves a load
/// open keeps a copy of the thread at the load, and runs it again from there once the value is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deferred {
    /// A known word.
    Known(u64),
    /// A value that nothing fixes, such as that of memory that nobody has written, or anything computed from one; the
    /// word stands for it.
    Any(u64),
    /// The value of a register or of a byte of local memory that the thread has not written, or anything computed from
    /// one; the number says of which, as the thread's owner counts them.
    Unwritten(u32),
    /// A value some bytes of which come from what the thread has not written; the bits of the others are known.
    Partly {
        /// The known bits; those of the other bytes are 0.
        bits: u64,
        /// What the other bytes come from, as in [`Deferred::Unwritten`].
        number: u32,
        /// The bytes that come from it: the lowest bit is the lowest byte's.
        unwritten: u8,
    },
    /// The value of a load that is not chosen yet, or anything computed from one: 0, or what its owner has marked it
    /// with, so that whatever bears the same mark is the same value.
    Pending(u32),
}

/// The number by which a result goes that is computed from these, where the thread has not written some.
fn computed(operands: [Deferred; 3]) -> Option<u32> {
    operands.into_iter().filter_map(Deferred::unwritten).map(|number| number & !Deferred::AS_READ).min()
}

/// The bits of these bytes.
fn mask_of(bytes: u8) -> u64 {
    (0..8).filter(|&byte| bytes >> byte & 1 == 1).fold(0, |mask, byte| mask | 0xff << (8 * byte))
}

impl Deferred {
    /// Set in the number of what the thread has not written: the value is as it was read, and not computed from it. The
    /// thread's owner sets it, and a computation takes it away.
    pub const AS_READ: u32 = 1 << 31;

    /// The value of a load that is not chosen yet, or anything computed from one, which nobody has marked.
    pub const PENDING: Deferred = Deferred::Pending(0);

    /// Whether the value is not chosen yet.
    #[inline]
    pub fn is_pending(self) -> bool {
        matches!(self, Deferred::Pending(_))
    }

    /// Whether nothing fixes the value.
    #[inline]
    pub fn is_any(self) -> bool {
        matches!(self, Deferred::Any(_))
    }

    /// The number of the register or the byte that the value comes from, if the thread has not written it.
    #[inline]
    pub fn unwritten(self) -> Option<u32> {
        match self {
            Deferred::Unwritten(number) | Deferred::Partly { number, .. } => Some(number),
            Deferred::Known(_) | Deferred::Any(_) | Deferred::Pending(_) => None,
        }
    }

    /// The known bits, and the bytes that the thread has not written; `None` where nothing fixes the others, or they
    /// are not chosen yet.
    fn bytes(self) -> Option<(u64, u8)> {
        match self {
            Deferred::Known(bits) => Some((bits, 0)),
            Deferred::Unwritten(_) => Some((0, u8::MAX)),
            Deferred::Partly { bits, unwritten, .. } => Some((bits, unwritten)),
            Deferred::Any(_) | Deferred::Pending(_) => None,
        }
    }

    /// A value with these bits, and with these bytes, the lowest bit for the lowest byte, that come from what the
    /// thread has not written.
    pub fn with_bytes(bits: u64, unwritten: u8, number: u32) -> Deferred {
        match unwritten {
            0 => Deferred::Known(bits),
            u8::MAX => Deferred::Unwritten(number),
            _ => Deferred::Partly { bits: bits & !mask_of(unwritten), number, unwritten },
        }
    }

    /// Turns a known value into one that nothing fixes, if `any` is set; other values stay as they are.
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
            Deferred::Partly { bits, .. } => Some(bits),
            Deferred::Pending(_) => None,
        }
    }

    fn left_open(self) -> Deferred {
        self.any_if(true)
    }

    fn zip3(self, second: Deferred, third: Deferred, f: impl FnOnce(u64, u64, u64) -> u64) -> Deferred {
        if let (Deferred::Known(a), Deferred::Known(b), Deferred::Known(c)) = (self, second, third) {
            return Deferred::Known(f(a, b, c));
        }
        let unwritten = computed([self, second, third]);
        match (self.known(), second.known(), third.known()) {
            (Some(a), Some(b), Some(c)) => unwritten.map_or_else(|| Deferred::Any(f(a, b, c)), Deferred::Unwritten),
            _ => Deferred::PENDING,
        }
    }

    fn bitwise(
        self,
        second: Deferred,
        third: Deferred,
        Bitwise(count): Bitwise,
        f: impl Fn(u64, u64, u64) -> u64,
    ) -> Deferred {
        let operands = [self, second, third];
        let number = computed(operands);
        let bytes = operands.map(Deferred::bytes);
        let others_are_known =
            operands[usize::from(count)..].iter().all(|operand| matches!(operand, Deferred::Known(_)));
        let (Some(number), [Some(a), Some(b), Some(c)], true) = (number, bytes, others_are_known) else {
            return self.zip3(second, third, f);
        };
        // A bit that comes from what is written is the same for all values of what is not; it is enough to look at
        // those of which all bits are 0 or all are 1, since bits do not meet others of their own operand.
        let with = |(bits, unwritten): (u64, u8), ones: bool| bits | if ones { mask_of(unwritten) } else { 0 };
        let results = (0..8).map(|case| f(with(a, case & 1 != 0), with(b, case & 2 != 0), with(c, case & 4 != 0)));
        let (all, any) = results.fold((u64::MAX, 0), |(all, any), result| (all & result, any | result));
        let differs = all ^ any;
        let unwritten =
            (0..8).filter(|byte| differs >> (8 * byte) & 0xff != 0).fold(0, |bytes, byte| bytes | 1 << byte);
        Deferred::with_bytes(all, unwritten, number)
    }

    fn bitwise4(
        self,
        second: Deferred,
        third: Deferred,
        fourth: Deferred,
        bitwise: Bitwise,
        f: impl Fn(u64, u64, u64, u64) -> u64,
    ) -> Deferred {
        match fourth {
            Deferred::Known(d) => self.bitwise(second, third, bitwise, |a, b, c| f(a, b, c, d)),
            Deferred::Any(_) | Deferred::Unwritten(_) | Deferred::Partly { .. } | Deferred::Pending(_) => {
                self.zip4(second, third, fourth, f)
            }
        }
    }

    fn part(self, from: u32, bits: u32) -> Deferred {
        let mask = u64::MAX >> (64 - bits);
        match (self.unwritten(), self.bytes()) {
            (Some(number), Some((known, unwritten))) if from.is_multiple_of(8) && bits.is_multiple_of(8) => {
                let kept = u8::MAX >> (8 - bits / 8);
                let unwritten = unwritten >> (from / 8) & kept;
                // What lies above a part is no part of it, and is unwritten where all of the part is.
                let unwritten = if unwritten == kept { u8::MAX } else { unwritten };
                Deferred::with_bytes(known >> from & mask, unwritten, number)
            }
            _ => self.map(|whole| whole >> from & mask),
        }
    }

    fn above(self, bits: u32, low: Deferred) -> Deferred {
        let number = [self, low].into_iter().filter_map(Deferred::unwritten).min();
        match (number, self.bytes(), low.bytes()) {
            (Some(number), Some((high, above)), Some((low, below))) if bits.is_multiple_of(8) => {
                let above = above.checked_shl(bits / 8).unwrap_or(0);
                let unwritten = above | below & (u8::MAX >> (8 - bits / 8));
                Deferred::with_bytes(high.checked_shl(bits).unwrap_or(0) | low, unwritten, number)
            }
            _ => self.zip(low, |high, low| high.checked_shl(bits).unwrap_or(0) | low),
        }
    }

    /// Compilers let a selection between a value and an undefined one stand, and only what is chosen counts.
    fn choose(self, yes: Deferred, no: Deferred) -> Deferred {
        match self {
            Deferred::Known(condition) if !yes.is_pending() && !no.is_pending() => {
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
