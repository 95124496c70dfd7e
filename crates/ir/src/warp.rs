//! Warps: the threads of a block that exchange values without memory.
//!
//! A warp is [`Builtin::WarpSize`](crate::Builtin::WarpSize) threads of a block whose row-major numbers are
//! consecutive, the first of them a multiple of that size, which is a power of two. Where the block's threads are no
//! multiple of it, the last warp has fewer lanes: no operation sees lanes that do not exist, and a shuffle from one
//! gives the lane's own value.
//!
//! The operations are a table, [`warps!`](crate::warps); [`evaluate`] is their meaning, which the host, the simulated
//! device and every interpreter use. The result of a sum of floats depends on the order of the additions, which is
//! fixed there.

use wattle_operations::warps;

use crate::{BinaryOp, Type, eval};

/// The most lanes of a warp on any device (Vulkan 1.3, "VkPhysicalDeviceSubgroupSizeControlProperties": subgroups have
/// at most 128 invocations).
pub const MAX_LANES: u32 = 128;

/// The number of words of a [`WarpMask`].
pub const MASK_WORDS: usize = MAX_LANES as usize / 32;

/// What kind of operation of a warp it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarpKind {
    /// Each lane gets another lane's value.
    Shuffle,
    /// Each lane gets a word of all lanes' truth values.
    Ballot,
    /// Each lane gets whether all lanes' truth values are set, or any.
    Vote,
    /// Each lane gets all lanes' values combined.
    Reduce,
    /// Each lane gets the values of the lanes up to it, its own included, combined.
    InclusiveScan,
    /// Each lane gets the values of the lanes below it, combined; the first gets 0.
    ExclusiveScan,
}

/// How the operand of a shuffle chooses the lane whose value a lane gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShuffleBy {
    /// The operand is the lane's number.
    Lane,
    /// The operand is the distance to a lane with a lower number.
    Up,
    /// The operand is the distance to a lane with a higher number.
    Down,
    /// The operand is the exclusive or of both lanes' numbers.
    Xor,
}

macro_rules! kind {
    (shuffle) => {
        WarpKind::Shuffle
    };
    (ballot) => {
        WarpKind::Ballot
    };
    (vote) => {
        WarpKind::Vote
    };
    (reduce) => {
        WarpKind::Reduce
    };
    (inclusive_scan) => {
        WarpKind::InclusiveScan
    };
    (exclusive_scan) => {
        WarpKind::ExclusiveScan
    };
}

macro_rules! applies {
    ($ty:ident any) => {
        true
    };
    ($ty:ident bool) => {
        $ty == Type::Bool
    };
    ($ty:ident int) => {
        $ty.is_int()
    };
    ($ty:ident float) => {
        $ty.is_float()
    };
}

macro_rules! result {
    ($ty:ident Self) => {
        $ty
    };
    ($ty:ident bool) => {
        Type::Bool
    };
    ($ty:ident u32) => {
        Type::U32
    };
}

macro_rules! enumeration {
    ($($(#[$doc:meta])* $class:ident $op:ident $method:ident(value $(, $operand:ident)?) -> $out:ident $how:ident
        {$($kind:ident)+})+) => {
        /// What an operation of a warp does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum WarpOp {
            $(#[doc = concat!("See `Warp::", stringify!($method), "`.")] $op,)+
        }

        impl WarpOp {
            /// All operations, in the order of the table.
            pub const ALL: &[WarpOp] = &[$(WarpOp::$op),+];

            /// The name, as the printer writes it.
            pub fn name(self) -> &'static str {
                match self {
                    $(WarpOp::$op => stringify!($method),)+
                }
            }

            /// What kind of operation it is.
            pub fn kind(self) -> WarpKind {
                match self {
                    $(WarpOp::$op => kind!($how),)+
                }
            }

            /// Whether the operation has a second operand, a `u32`.
            pub fn has_operand(self) -> bool {
                match self {
                    $(WarpOp::$op => ["value" $(, stringify!($operand))?].len() == 2,)+
                }
            }

            /// Whether the operation exists for values of type `ty`.
            pub fn applies_to(self, ty: Type) -> bool {
                match self {
                    $(WarpOp::$op => $(applies!(ty $kind))||+,)+
                }
            }

            /// The type of the result for values of type `ty`.
            pub fn result(self, ty: Type) -> Type {
                match self {
                    $(WarpOp::$op => result!(ty $out),)+
                }
            }
        }
    };
}
warps!(enumeration);

impl WarpOp {
    /// What a reduction or scan combines two values by; `None` for the others.
    pub fn combines(self) -> Option<BinaryOp> {
        match self {
            WarpOp::ReduceSum | WarpOp::InclusiveSum | WarpOp::ExclusiveSum => Some(BinaryOp::Add),
            WarpOp::ReduceMin | WarpOp::InclusiveMin => Some(BinaryOp::Min),
            WarpOp::ReduceMax | WarpOp::InclusiveMax => Some(BinaryOp::Max),
            WarpOp::ReduceAnd => Some(BinaryOp::And),
            WarpOp::ReduceOr => Some(BinaryOp::Or),
            WarpOp::ReduceXor => Some(BinaryOp::Xor),
            WarpOp::Shuffle
            | WarpOp::ShuffleUp
            | WarpOp::ShuffleDown
            | WarpOp::ShuffleXor
            | WarpOp::Ballot
            | WarpOp::Any
            | WarpOp::All => None,
        }
    }

    /// How a shuffle chooses the lane; `None` for the other operations.
    pub fn shuffle(self) -> Option<ShuffleBy> {
        match self {
            WarpOp::Shuffle => Some(ShuffleBy::Lane),
            WarpOp::ShuffleUp => Some(ShuffleBy::Up),
            WarpOp::ShuffleDown => Some(ShuffleBy::Down),
            WarpOp::ShuffleXor => Some(ShuffleBy::Xor),
            WarpOp::Ballot
            | WarpOp::Any
            | WarpOp::All
            | WarpOp::ReduceSum
            | WarpOp::ReduceMin
            | WarpOp::ReduceMax
            | WarpOp::ReduceAnd
            | WarpOp::ReduceOr
            | WarpOp::ReduceXor
            | WarpOp::InclusiveSum
            | WarpOp::ExclusiveSum
            | WarpOp::InclusiveMin
            | WarpOp::InclusiveMax => None,
        }
    }

    /// The lane whose value a shuffle gives lane `lane`; its own where that is not the number of a lane.
    pub fn source(self, lane: u32, operand: u32, lanes: u32) -> u32 {
        let source = self.shuffle().and_then(|by| match by {
            ShuffleBy::Lane => Some(operand),
            ShuffleBy::Up => lane.checked_sub(operand),
            ShuffleBy::Down => lane.checked_add(operand),
            ShuffleBy::Xor => Some(lane ^ operand),
        });
        source.filter(|&source| source < lanes).unwrap_or(lane)
    }
}

/// The results of an operation, given each lane's value, of type `ty`, and second operand; all as raw words, by lane.
pub fn evaluate(op: WarpOp, ty: Type, values: &[u64], operands: &[u32]) -> Vec<u64> {
    let lanes = values.len() as u32;
    let operand = |lane: u32| operands.get(lane as usize).copied().unwrap_or(0);
    let holds = |lane: u32| values[lane as usize] & 1 != 0;
    let each = |result: &dyn Fn(u32) -> u64| (0..lanes).map(result).collect();
    let combined = |x, y| op.combines().map_or(x, |by| eval::binary(by, ty, x, y));
    match op.kind() {
        WarpKind::Shuffle => each(&|lane| values[op.source(lane, operand(lane), lanes) as usize]),
        WarpKind::Ballot => each(&|lane| {
            let word = operand(lane);
            let bits =
                (0..32).filter(|bit| word < MASK_WORDS as u32 && word * 32 + bit < lanes && holds(word * 32 + bit));
            bits.map(|bit| 1 << bit).sum()
        }),
        WarpKind::Vote => {
            let is_so = if op == WarpOp::Any { (0..lanes).any(holds) } else { (0..lanes).all(holds) };
            vec![u64::from(is_so); values.len()]
        }
        WarpKind::Reduce => {
            let mut parts = values.to_vec();
            let mut distance = parts.len().next_power_of_two() / 2;
            while distance > 0 {
                for lane in 0..distance {
                    if let Some(&other) = parts.get(lane + distance) {
                        parts[lane] = combined(parts[lane], other);
                    }
                }
                distance /= 2;
            }
            vec![parts[0]; values.len()]
        }
        kind @ (WarpKind::InclusiveScan | WarpKind::ExclusiveScan) => {
            let (mut parts, mut distance) = (values.to_vec(), 1);
            while distance < parts.len() {
                let before = parts.clone();
                for lane in distance..parts.len() {
                    parts[lane] = combined(before[lane - distance], before[lane]);
                }
                distance *= 2;
            }
            if kind == WarpKind::ExclusiveScan {
                parts.rotate_right(1);
                parts[0] = 0;
            }
            parts
        }
    }
}

/// Lanes of a warp of any size, as bits: what `warp.ballot(x)` gives.
///
/// In kernels `x & y`, `x | y`, `x ^ y` and `!x` are of the lanes in both, in one of them, in one alone, and of the
/// lanes of a whole warp that are not in it (also of those that a block's last warp may lack, as of CUDA's `~mask`); `x
/// == y` and `x != y` compare all lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WarpMask([u32; MASK_WORDS]);

impl WarpMask {
    /// The mask of these words: the lanes 0 to 31 first.
    #[inline(always)]
    pub fn from_words(words: [u32; MASK_WORDS]) -> WarpMask {
        WarpMask(words)
    }

    /// The bits of the lanes from `32 * number` on; 0 beyond [`MAX_LANES`].
    #[inline(always)]
    pub fn word(&self, number: u32) -> u32 {
        self.0.get(number as usize).copied().unwrap_or(0)
    }

    /// The mask of all lanes of a warp of this size.
    #[inline(always)]
    pub(crate) fn all(size: u32) -> WarpMask {
        WarpMask(std::array::from_fn(|number| below(size, number as u32)))
    }

    /// What `f` makes of the words of both.
    #[inline(always)]
    pub(crate) fn zip_words(self, other: WarpMask, f: impl Fn(u32, u32) -> u32) -> WarpMask {
        WarpMask(std::array::from_fn(|number| f(self.0[number], other.0[number])))
    }

    /// How many lanes there are in it (`__popc`).
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the lane is in it.
    #[inline(always)]
    pub fn contains(&self, lane: u32) -> bool {
        self.word(lane / 32) >> (lane % 32) & 1 != 0
    }

    /// How many lanes below `lane` are in it: the lane's place among those that hold true.
    #[inline(always)]
    pub fn count_below(&self, lane: u32) -> u32 {
        (0..MASK_WORDS as u32).map(|number| (self.word(number) & below(lane, number)).count_ones()).sum()
    }

    /// The lowest lane in it (`__ffs` less 1); [`MAX_LANES`] where there is none.
    #[inline(always)]
    pub fn lowest(&self) -> u32 {
        let zeros = |number: usize| number as u32 * 32 + self.0[number].trailing_zeros();
        (0..MASK_WORDS).find(|&number| self.0[number] != 0).map_or(MAX_LANES, zeros)
    }
}

/// The bits of the lanes below `lane` in the word with this number.
#[inline(always)]
fn below(lane: u32, number: u32) -> u32 {
    let bits = lane.saturating_sub(number * 32).min(32);
    if bits == 32 { u32::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    #[test]
    fn shuffles_take_their_own_value_where_there_is_no_lane() {
        let values = [10, 11, 12];
        let of = |op, operand| evaluate(op, Type::U32, &values, &[operand; 3]);
        assert_eq!(of(WarpOp::Shuffle, 2), [12, 12, 12]);
        assert_eq!(of(WarpOp::Shuffle, 3), values);
        assert_eq!(of(WarpOp::ShuffleUp, 1), [10, 10, 11]);
        assert_eq!(of(WarpOp::ShuffleDown, 2), [12, 11, 12]);
        assert_eq!(of(WarpOp::ShuffleDown, u32::MAX), values);
        assert_eq!(of(WarpOp::ShuffleXor, 1), [11, 10, 12]);
    }

    #[test]
    fn votes_ask_the_lanes_that_there_are() {
        let of = |op, values: &[u64], word| evaluate(op, Type::Bool, values, &vec![word; values.len()])[0];
        assert_eq!(of(WarpOp::Ballot, &[1, 0, 1], 0), 5);
        assert_eq!(of(WarpOp::Ballot, &[1; 40], 1), 255);
        assert_eq!(of(WarpOp::Ballot, &[1; 40], 9), 0);
        assert_eq!((of(WarpOp::All, &[1, 1], 0), of(WarpOp::All, &[1, 0], 0), of(WarpOp::Any, &[1, 0], 0)), (1, 0, 1));
    }

    #[test]
    fn sums_and_scans_have_any_number_of_lanes() {
        for lanes in 1..=33u64 {
            let values: Vec<u64> = (1..=lanes).collect();
            let sum = lanes * (lanes + 1) / 2;
            assert_eq!(evaluate(WarpOp::ReduceSum, Type::U64, &values, &[]), vec![sum; lanes as usize]);
            let scan: Vec<u64> = values.iter().map(|n| n * (n + 1) / 2).collect();
            assert_eq!(evaluate(WarpOp::InclusiveSum, Type::U64, &values, &[]), scan);
            let below: Vec<u64> = values.iter().map(|n| n * (n - 1) / 2).collect();
            assert_eq!(evaluate(WarpOp::ExclusiveSum, Type::U64, &values, &[]), below);
        }
    }

    #[test]
    fn floats_are_added_in_one_order() {
        // (1e8 + 1) + (-1e8 + 1), lanes two apart first: 0 + 2.
        let values = [1e8f32, 1.0, -1e8, 1.0].map(f32::to_raw);
        assert_eq!(evaluate(WarpOp::ReduceSum, Type::F32, &values, &[])[0], 2.0f32.to_raw());
    }

    #[test]
    fn masks_count_across_their_words() {
        let mask = WarpMask::from_words([1 << 31, 3, 0, 1]);
        assert_eq!((mask.count(), mask.lowest(), WarpMask::default().lowest()), (4, 31, MAX_LANES));
        assert_eq!([0, 31, 32, 33, 34, 127, 128].map(|lane| mask.count_below(lane)), [0, 0, 1, 2, 3, 4, 4]);
        assert_eq!([31, 33, 34, 96, 128].map(|lane| mask.contains(lane)), [true, true, false, true, false]);
    }
}
