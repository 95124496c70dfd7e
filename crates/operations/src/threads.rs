//! The operations between threads: atomic read-modify-writes, and those of a warp's lanes.

/// The atomic read-modify-writes.
///
/// A row is
///
/// ```text
/// /// The documentation of the operation and of its methods.
/// Class Variant method method_with host(old, operand) law { kind: what it leaves, … }
/// ```
///
/// - `Class` is the trait of the numbers that have the method, which is relaxed; `method_with` takes scope and order.
/// - `host` is the method of the standard library's atomic integers that does it; `update` for a loop of
///   compare-exchanges. On floats everything but `swap` is such a loop.
/// - `law` says what follows from how the operation changes a value: it `replaces` the value by the operand, it
///   `combines` the two as the binary operation of the same name does, in whatever order several of it are made, or it
///   `counts_up` or `counts_down`, where only those of one operand can change places.
/// - The kinds are those of [`operations!`](crate::operations!).
#[macro_export]
macro_rules! atomics {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// Stores the operand.
        #[doc(alias = "atomicExch")]
        AtomicScalar Exchange exchange exchange_with swap(old, operand) replaces { int: operand, float: operand }
        /// Adds the operand; integers wrap.
        #[doc(alias = "atomicAdd")]
        AtomicScalar Add fetch_add fetch_add_with fetch_add(old, operand) combines {
            int: old.wrapping_add(operand), float: old + operand
        }
        /// Subtracts the operand; integers wrap.
        #[doc(alias = "atomicSub")]
        AtomicInt Sub fetch_sub fetch_sub_with fetch_sub(old, operand) combines { int: old.wrapping_sub(operand) }
        /// Leaves the lesser of the two (CUDA's `atomicMin`); of floats the one that is a number, and -0 is less than
        /// +0.
        #[doc(alias = "atomicMin")]
        AtomicScalar Min fetch_min fetch_min_with fetch_min(old, operand) combines {
            int: Ord::min(old, operand), float: lesser(old, operand)
        }
        /// Leaves the greater of the two (CUDA's `atomicMax`); of floats the one that is a number, and -0 is less than
        /// +0.
        #[doc(alias = "atomicMax")]
        AtomicScalar Max fetch_max fetch_max_with fetch_max(old, operand) combines {
            int: Ord::max(old, operand), float: greater(old, operand)
        }
        /// Bitwise and.
        #[doc(alias = "atomicAnd")]
        AtomicInt And fetch_and fetch_and_with fetch_and(old, operand) combines { int: old & operand }
        /// Bitwise or.
        #[doc(alias = "atomicOr")]
        AtomicInt Or fetch_or fetch_or_with fetch_or(old, operand) combines { int: old | operand }
        /// Bitwise exclusive or.
        #[doc(alias = "atomicXor")]
        AtomicInt Xor fetch_xor fetch_xor_with fetch_xor(old, operand) combines { int: old ^ operand }
        /// Adds 1, or leaves 0 once the old value has reached the operand (CUDA's `atomicInc`).
        #[doc(alias = "atomicInc")]
        AtomicInt Inc fetch_inc fetch_inc_with update(old, operand) counts_up { int: if old >= operand { 0 } else { old.wrapping_add(1) } }
        /// Subtracts 1, or leaves the operand where the old value is 0 or beyond it (CUDA's `atomicDec`).
        #[doc(alias = "atomicDec")]
        AtomicInt Dec fetch_dec fetch_dec_with update(old, operand) counts_down {
            int: if old == 0 || old > operand { operand } else { old.wrapping_sub(1) }
        }
    } };
}

/// The operations of a warp: each takes a value of every lane, and gives each lane a result.
///
/// A row is
///
/// ```text
/// /// The documentation of the operation and of its method.
/// Class Variant method(value[, operand]) -> Result how { kind … }
/// ```
///
/// - `Class` is the trait of the values that have the method, or `bool`; `word` has no method of its own.
/// - The second operand, where there is one, is a `u32`.
/// - `how` is what kind of operation it is: `shuffle` takes another lane's value, `ballot` gives a word of all lanes'
///   truth values, `vote` asks all lanes, `reduce` gives all lanes the same, `inclusive_scan` gives each what the lanes
///   up to it have, `exclusive_scan` what those below it have.
/// - The kinds are those of [`operations!`](crate::operations!).
#[macro_export]
macro_rules! warps {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// The value of the lane with this number; the lane's own where there is no such lane (CUDA's `__shfl_sync`,
        /// which takes the number modulo the warp's size).
        #[doc(alias = "__shfl_sync")]
        Scalar Shuffle shuffle(value, lane) -> Self shuffle { any }
        /// The value of the lane that is `delta` below this one; the lane's own where there is none (`__shfl_up_sync`).
        #[doc(alias = "__shfl_up_sync")]
        Scalar ShuffleUp shuffle_up(value, delta) -> Self shuffle { any }
        /// The value of the lane that is `delta` above this one; the lane's own where there is none
        /// (`__shfl_down_sync`).
        #[doc(alias = "__shfl_down_sync")]
        Scalar ShuffleDown shuffle_down(value, delta) -> Self shuffle { any }
        /// The value of the lane whose number is this one's, exclusive or `mask`; the lane's own where there is none
        /// (`__shfl_xor_sync`).
        #[doc(alias = "__shfl_xor_sync")]
        Scalar ShuffleXor shuffle_xor(value, mask) -> Self shuffle { any }
        /// The lanes for which `value` holds, as a word of the mask: bit `i` is lane `32 number + i`.
        word Ballot ballot_word(value, number) -> u32 ballot { bool }
        /// Whether some lane holds true (`__any_sync`).
        #[doc(alias = "__any_sync")]
        bool Any any(value) -> bool vote { bool }
        /// Whether all lanes hold true (`__all_sync`).
        #[doc(alias = "__all_sync")]
        bool All all(value) -> bool vote { bool }
        /// The sum of all lanes' values (`__reduce_add_sync`); integers wrap. Of floats it is the sum of a tree whose
        /// shape depends on the number of lanes alone: first lanes are added that are furthest apart, by powers of two.
        #[doc(alias = "__reduce_add_sync")]
        Number ReduceSum reduce_sum(value) -> Self reduce { int float }
        /// The least of all lanes' values (`__reduce_min_sync`); of floats the least that is a number.
        #[doc(alias = "__reduce_min_sync")]
        Number ReduceMin reduce_min(value) -> Self reduce { int float }
        /// The greatest of all lanes' values (`__reduce_max_sync`); of floats the greatest that is a number.
        #[doc(alias = "__reduce_max_sync")]
        Number ReduceMax reduce_max(value) -> Self reduce { int float }
        /// The bitwise and of all lanes' values (`__reduce_and_sync`).
        Int ReduceAnd reduce_and(value) -> Self reduce { int }
        /// The bitwise or of all lanes' values (`__reduce_or_sync`).
        Int ReduceOr reduce_or(value) -> Self reduce { int }
        /// The bitwise exclusive or of all lanes' values (`__reduce_xor_sync`).
        Int ReduceXor reduce_xor(value) -> Self reduce { int }
        /// The sum of the values of the lanes up to this one, with its own (an inclusive scan). Integers wrap; floats
        /// are added to those of the lanes 1, 2, 4 and so on below, in this order.
        #[doc(alias = "inclusive_scan")]
        Number InclusiveSum inclusive_sum(value) -> Self inclusive_scan { int float }
        /// The sum of the values of the lanes below this one (an exclusive scan): what [`inclusive_sum`] is one lane
        /// below, and 0 in lane 0.
        ///
        /// [`inclusive_sum`]: Self::inclusive_sum
        #[doc(alias = "exclusive_scan")]
        Number ExclusiveSum exclusive_sum(value) -> Self exclusive_scan { int float }
        /// The least of the values of the lanes up to this one.
        Number InclusiveMin inclusive_min(value) -> Self inclusive_scan { int float }
        /// The greatest of the values of the lanes up to this one.
        Number InclusiveMax inclusive_max(value) -> Self inclusive_scan { int float }
    } };
}
