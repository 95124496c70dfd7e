//! Warps while a kernel is built.

use wattle_operations::warps;

use super::value::Var;
use super::{Builder, IrValue, Val, Variable};
use crate::warp::{MASK_WORDS, MAX_LANES};
use crate::{Builtin, Expr, Int, KernelType, KernelValue, Number, Scalar, Site, Stmt, WarpMask, WarpOp};

/// The warp that a thread is in, in the kernel that is being built.
#[derive(Clone, Copy)]
pub struct Warp<'b> {
    builder: &'b Builder,
    threads_in_block: Val<'b, u32>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $class:ident $op:ident $method:ident(value $(, $operand:ident)?) -> $out:ident $how:ident
        {$($kind:ident)+})+) => {
        $(method!($class $op $method($($operand)?) -> $out);)+
    };
}

macro_rules! method {
    (word $($rest:tt)*) => {};
    (bool $op:ident $method:ident() -> $out:ident) => {
        impl<'b> Warp<'b> {
            #[doc = concat!("Builds `", stringify!($method), "`, see [`WarpOp`].")]
            #[track_caller]
            pub fn $method(&self, value: Val<'b, bool>) -> Val<'b, bool> {
                self.together(WarpOp::$op, value, None, Site::caller())
            }
        }
    };
    ($class:ident $op:ident $method:ident($($operand:ident)?) -> Self) => {
        impl<'b> Warp<'b> {
            #[doc = concat!("Builds `", stringify!($method), "`, see [`WarpOp`].")]
            #[track_caller]
            pub fn $method<T: $class>(&self, value: Val<'b, T> $(, $operand: Val<'b, u32>)?) -> Val<'b, T> {
                let operand: &[Val<'b, u32>] = &[$($operand)?];
                self.together(WarpOp::$op, value, operand.first().copied(), Site::caller())
            }
        }
    };
}
warps!(methods);

impl<'b> Warp<'b> {
    pub(super) fn new(builder: &'b Builder, threads_in_block: Val<'b, u32>) -> Self {
        Warp { builder, threads_in_block }
    }

    fn together<T: Scalar, U: Scalar>(
        &self,
        op: WarpOp,
        value: Val<'b, T>,
        operand: Option<Val<'b, u32>>,
        site: Site,
    ) -> Val<'b, U> {
        let dst = self.builder.temporary::<U>();
        let operand = operand.map(|operand| operand.id);
        self.builder.push(Stmt::Warp { dst, op, value: value.id, operand, site });
        self.builder.read_slot(dst)
    }

    /// The lanes of a whole warp.
    pub fn size(&self) -> Val<'b, u32> {
        self.builder.val(Expr::Builtin(Builtin::WarpSize, 0))
    }

    /// The number of the thread's lane in its warp.
    pub fn lane(&self) -> Val<'b, u32> {
        self.builder.val(Expr::Builtin(Builtin::Lane, 0))
    }

    /// The lanes of this warp that have a thread.
    pub fn lane_count(&self) -> Val<'b, u32> {
        let (builder, size) = (self.builder, self.size());
        let first = builder.mul(builder.val(Expr::Builtin(Builtin::WarpInBlock, 0)), size);
        builder.sub(self.threads_in_block, first).min(size)
    }

    /// Builds `ballot`: an operation for each word of the mask.
    #[track_caller]
    pub fn ballot(&self, value: Val<'b, bool>) -> Mask<'b> {
        // A closure has no caller.
        let (value, site) = (self.builder.hold(value, None), Site::caller());
        let word = |number| self.together(WarpOp::Ballot, value, Some(self.builder.lit(number as u32)), site);
        Mask { words: std::array::from_fn(word) }
    }

    /// Builds the warp's barrier.
    #[track_caller]
    pub fn sync(&self) {
        self.builder.push(Stmt::WarpBarrier { site: Site::caller() });
    }
}

/// A [`WarpMask`] in the kernel that is being built.
#[derive(Clone, Copy)]
pub struct Mask<'b> {
    words: [Val<'b, u32>; MASK_WORDS],
}

impl<'b> Mask<'b> {
    fn builder(&self) -> &'b Builder {
        self.words[0].builder
    }

    fn sum(&self, of: impl Fn(usize) -> Val<'b, u32>) -> Val<'b, u32> {
        (1..MASK_WORDS).fold(of(0), |sum, number| self.builder().add(sum, of(number)))
    }

    /// The bits of 32 lanes.
    pub fn word(&self, number: Val<'b, u32>) -> Val<'b, u32> {
        let builder = self.builder();
        (0..MASK_WORDS).fold(builder.lit(0), |other, at| {
            Val::select(builder.eq(number, builder.lit(at as u32)), self.words[at], other)
        })
    }

    /// The number of lanes in the mask.
    pub fn count(&self) -> Val<'b, u32> {
        self.sum(|number| self.words[number].count_ones())
    }

    /// Whether the lane is in the mask.
    pub fn contains(&self, lane: Val<'b, u32>) -> Val<'b, bool> {
        let builder = self.builder();
        let word = self.word(builder.shr(lane, builder.lit(5u32)));
        let bit = builder.shr(word, builder.bit_and(lane, builder.lit(31)));
        builder.ne(builder.bit_and(bit, builder.lit(1)), builder.lit(0))
    }

    /// The number of lanes in the mask that are below this one.
    pub fn count_below(&self, lane: Val<'b, u32>) -> Val<'b, u32> {
        let builder = self.builder();
        let below = Mask::below(builder, lane);
        self.sum(|number| builder.bit_and(self.words[number], below.words[number]).count_ones())
    }

    /// The mask of the lanes with numbers below `lane`.
    pub(crate) fn below(builder: &'b Builder, lane: Val<'b, u32>) -> Mask<'b> {
        let word = |number: usize| {
            let first = builder.lit(number as u32 * 32);
            let bits = builder.sub(lane.max(first), first);
            let (one, all) = (builder.lit(1), builder.lit(u32::MAX));
            let some = builder.sub(builder.shl(one, builder.bit_and(bits, builder.lit(31))), one);
            Val::select(builder.lt(bits, builder.lit(32)), some, all)
        };
        Mask { words: std::array::from_fn(word) }
    }

    /// The mask's words: bit `i` of word `w` is lane `32 w + i`.
    pub(crate) fn all_words(self) -> [Val<'b, u32>; MASK_WORDS] {
        self.words
    }

    /// What `f` makes of the words of both.
    pub(crate) fn zip_words(self, other: Self, f: impl Fn(Val<'b, u32>, Val<'b, u32>) -> Val<'b, u32>) -> Self {
        Mask { words: std::array::from_fn(|number| f(self.words[number], other.words[number])) }
    }

    /// The lowest lane in it.
    pub fn lowest(&self) -> Val<'b, u32> {
        let builder = self.builder();
        (0..MASK_WORDS).rev().fold(builder.lit(MAX_LANES), |other, number| {
            let word = self.words[number];
            let lane = builder.add(word.trailing_zeros(), builder.lit(number as u32 * 32));
            Val::select(builder.ne(word, builder.lit(0)), lane, other)
        })
    }
}

/// A mask in a variable: one for each of its words.
#[derive(Clone, Copy)]
pub struct MaskVar<'b> {
    words: [Var<'b, u32>; MASK_WORDS],
}

impl<'b> Variable<'b> for MaskVar<'b> {
    type Value = Mask<'b>;
    fn get(&self) -> Mask<'b> {
        Mask { words: self.words.map(|word| word.get()) }
    }
    fn snapshot(&self) -> Mask<'b> {
        Mask { words: self.words.map(|word| word.snapshot()) }
    }
    fn set(&self, value: Mask<'b>) {
        self.words.iter().zip(value.words).for_each(|(word, value)| word.set(value));
    }
}

impl<'b> IrValue<'b> for Mask<'b> {
    type Var = MaskVar<'b>;
    fn bind(self, builder: &'b Builder, name: Option<&'static str>) -> Self {
        Mask { words: self.words.map(|word| word.bind(builder, name)) }
    }
    fn apart(self, builder: &'b Builder, name: Option<&'static str>) -> Self {
        self.bind(builder, name)
    }
    fn variable(self, builder: &'b Builder, name: Option<&'static str>) -> MaskVar<'b> {
        MaskVar { words: self.words.map(|word| word.variable(builder, name)) }
    }
    fn unreachable(builder: &'b Builder) -> Self {
        Mask { words: [builder.lit(0); MASK_WORDS] }
    }
}

// SAFETY: a mask is numbers.
unsafe impl KernelType for WarpMask {
    type Built<'b> = Mask<'b>;
}

impl KernelValue for WarpMask {
    fn zero() -> WarpMask {
        WarpMask::default()
    }
}
