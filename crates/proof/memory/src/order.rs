//! The memory orders, and the operations that can have each.
//!
//! An order is written as a constant of [`Order`], and each constant has a type of its own. The traits [`ForFence`],
//! [`ForLoad`], [`ForStore`] and [`ForRmw`] say where it is valid, so a relaxed fence or a release load does not
//! compile. Behind them stand plain enumerations of the valid orders, which data (the intermediate representation, the
//! models) holds.

use std::fmt;

/// The orders as they are written in a kernel: `Order::Release`.
///
/// Each is a constant of its own type, so that the compiler refuses invalid combinations.
pub struct Order;

/// The types of the constants of [`Order`].
pub mod marker {
    /// No ordering beyond the operation's own atomicity.
    #[derive(Clone, Copy, Debug)]
    pub struct Relaxed;
    /// Later operations stay after this one.
    #[derive(Clone, Copy, Debug)]
    pub struct Acquire;
    /// Earlier operations stay before this one.
    #[derive(Clone, Copy, Debug)]
    pub struct Release;
    /// Earlier operations stay before this one, and later ones after it.
    #[derive(Clone, Copy, Debug)]
    pub struct AcqRel;
    /// Acquires and releases, and all such operations are in one order.
    #[derive(Clone, Copy, Debug)]
    pub struct SeqCst;
}

#[allow(non_upper_case_globals, reason = "they read as the members of an enumeration")]
impl Order {
    /// No ordering beyond the operation's own atomicity. Atomic operations only.
    pub const Relaxed: marker::Relaxed = marker::Relaxed;
    /// What follows in program order stays after. Fences, loads, read-modify-writes.
    pub const Acquire: marker::Acquire = marker::Acquire;
    /// What precedes in program order stays before. Fences, stores, read-modify-writes.
    pub const Release: marker::Release = marker::Release;
    /// Acquires and releases. Fences and read-modify-writes.
    pub const AcqRel: marker::AcqRel = marker::AcqRel;
    /// Acquires and releases, with one total order of all such operations whose scopes include each other.
    pub const SeqCst: marker::SeqCst = marker::SeqCst;
}

/// The order of a fence. A relaxed fence would order nothing, so there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FenceOrder {
    /// Later accesses stay after the fence's earlier reads.
    Acquire,
    /// Earlier accesses stay before the fence's later writes.
    Release,
    /// Acquires and releases.
    AcqRel,
    /// Acquires and releases, and has a place in the order of sequentially consistent fences.
    SeqCst,
}

/// The order of an atomic load. A load writes nothing, so it cannot release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadOrder {
    /// An atomic load without ordering.
    Relaxed,
    /// An acquire read.
    Acquire,
    /// A sequentially consistent fence, then an acquire read.
    SeqCst,
}

/// The order of an atomic store. A store reads nothing, so it cannot acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreOrder {
    /// An atomic store without ordering.
    Relaxed,
    /// A release write.
    Release,
    /// A sequentially consistent fence, then a relaxed write.
    SeqCst,
}

/// The order of an atomic read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwOrder {
    /// An atomic read-modify-write without ordering.
    Relaxed,
    /// The read acquires.
    Acquire,
    /// The write releases.
    Release,
    /// The read acquires and the write releases.
    AcqRel,
    /// A sequentially consistent fence, then an acquire read-modify-write.
    SeqCst,
}

/// The order of the read that is left once a sequentially consistent load is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReadOrder {
    /// An atomic read without ordering.
    Relaxed,
    /// An acquire read.
    Acquire,
}

/// The order of the write that is left once a sequentially consistent store is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WriteOrder {
    /// An atomic write without ordering.
    Relaxed,
    /// A release write.
    Release,
}

/// The order of the read-modify-write that is left once a sequentially consistent one is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum UpdateOrder {
    /// An atomic read-modify-write without ordering.
    Relaxed,
    /// The read acquires.
    Acquire,
    /// The write releases.
    Release,
    /// The read acquires and the write releases.
    AcqRel,
}

impl ReadOrder {
    /// Whether the read is an acquire read.
    pub fn acquires(self) -> bool {
        self == ReadOrder::Acquire
    }
}

impl WriteOrder {
    /// Whether the write is a release write.
    pub fn releases(self) -> bool {
        self == WriteOrder::Release
    }
}

impl UpdateOrder {
    /// Whether the read half is an acquire read.
    pub fn acquires(self) -> bool {
        matches!(self, UpdateOrder::Acquire | UpdateOrder::AcqRel)
    }

    /// Whether the write half is a release write.
    pub fn releases(self) -> bool {
        matches!(self, UpdateOrder::Release | UpdateOrder::AcqRel)
    }
}

impl FenceOrder {
    /// Whether this fence orders nothing that the other does not order too.
    pub fn is_within(self, other: FenceOrder) -> bool {
        self == other || other == FenceOrder::SeqCst || (other == FenceOrder::AcqRel && self != FenceOrder::SeqCst)
    }

    /// Whether it is an acquire fence; a sequentially consistent fence is one too.
    pub fn acquires(self) -> bool {
        self != FenceOrder::Release
    }

    /// Whether it is a release fence; a sequentially consistent fence is one too.
    pub fn releases(self) -> bool {
        self != FenceOrder::Acquire
    }
}

/// An atomic operation split into an optional fence and an operation that is not sequentially consistent.
///
/// A `SeqCst` atomic **is** `mem_fence(scope, SeqCst)` followed by the acquire load, relaxed store or acquire
/// read-modify-write, on every device. This is what libcu++ emits for PTX, and it is defined in this place alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion<O> {
    /// Whether a sequentially consistent fence of the operation's scope comes first.
    pub fence_first: bool,
    /// The order of the operation itself.
    pub order: O,
}

impl LoadOrder {
    /// Splits a load into an optional fence and a read; see [`Expansion`].
    pub fn expand(self) -> Expansion<ReadOrder> {
        let order = if self == LoadOrder::Relaxed { ReadOrder::Relaxed } else { ReadOrder::Acquire };
        Expansion { fence_first: self == LoadOrder::SeqCst, order }
    }
}

impl StoreOrder {
    /// Splits a store into an optional fence and a write; see [`Expansion`].
    pub fn expand(self) -> Expansion<WriteOrder> {
        let order = if self == StoreOrder::Release { WriteOrder::Release } else { WriteOrder::Relaxed };
        Expansion { fence_first: self == StoreOrder::SeqCst, order }
    }
}

impl RmwOrder {
    /// Splits a read-modify-write into an optional fence and a weaker one; see [`Expansion`].
    pub fn expand(self) -> Expansion<UpdateOrder> {
        let order = match self {
            RmwOrder::Relaxed => UpdateOrder::Relaxed,
            RmwOrder::Acquire | RmwOrder::SeqCst => UpdateOrder::Acquire,
            RmwOrder::Release => UpdateOrder::Release,
            RmwOrder::AcqRel => UpdateOrder::AcqRel,
        };
        Expansion { fence_first: self == RmwOrder::SeqCst, order }
    }
}

/// Defines a trait whose implementors are the orders that one kind of operation can have.
macro_rules! order_for {
    ($(#[$meta:meta])* $name:ident -> $data:ident { $($order:ident),+ }) => {
        $(#[$meta])*
        pub trait $name: Copy + sealed::Sealed {
            /// The order as a value.
            const ORDER: $data;
        }
        $(#[diagnostic::do_not_recommend]
        impl $name for marker::$order {
            const ORDER: $data = $data::$order;
        })+
    };
}

order_for! {
    /// The orders that a fence can have.
    #[diagnostic::on_unimplemented(
        message = "a fence cannot be `{Self}`",
        label = "a relaxed fence orders nothing",
        note = "write `Order::Acquire`, `Order::Release`, `Order::AcqRel` or `Order::SeqCst`, or leave the fence out"
    )]
    ForFence -> FenceOrder { Acquire, Release, AcqRel, SeqCst }
}
order_for! {
    /// The orders that an atomic load can have.
    #[diagnostic::on_unimplemented(
        message = "an atomic load cannot be `{Self}`",
        label = "a load writes nothing, so it has nothing to release",
        note = "write `Order::Relaxed`, `Order::Acquire` or `Order::SeqCst`"
    )]
    ForLoad -> LoadOrder { Relaxed, Acquire, SeqCst }
}
order_for! {
    /// The orders that an atomic store can have.
    #[diagnostic::on_unimplemented(
        message = "an atomic store cannot be `{Self}`",
        label = "a store reads nothing, so it has nothing to acquire",
        note = "write `Order::Relaxed`, `Order::Release` or `Order::SeqCst`"
    )]
    ForStore -> StoreOrder { Relaxed, Release, SeqCst }
}
order_for! {
    /// The orders that an atomic read-modify-write can have, which are all of them.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not an order",
        note = "write `Order::Relaxed`, `Order::Acquire`, `Order::Release`, `Order::AcqRel` or `Order::SeqCst`"
    )]
    ForRmw -> RmwOrder { Relaxed, Acquire, Release, AcqRel, SeqCst }
}

mod sealed {
    use super::marker;

    pub trait Sealed {}
    impl Sealed for marker::Relaxed {}
    impl Sealed for marker::Acquire {}
    impl Sealed for marker::Release {}
    impl Sealed for marker::AcqRel {}
    impl Sealed for marker::SeqCst {}
}

macro_rules! display {
    ($($name:ident { $($order:ident => $word:literal),+ })+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($name::$order => $word),+ })
            }
        }
    )+};
}

display! {
    FenceOrder { Acquire => "acquire", Release => "release", AcqRel => "acq_rel", SeqCst => "seq_cst" }
    LoadOrder { Relaxed => "relaxed", Acquire => "acquire", SeqCst => "seq_cst" }
    StoreOrder { Relaxed => "relaxed", Release => "release", SeqCst => "seq_cst" }
    RmwOrder {
        Relaxed => "relaxed", Acquire => "acquire", Release => "release", AcqRel => "acq_rel", SeqCst => "seq_cst"
    }
    ReadOrder { Relaxed => "relaxed", Acquire => "acquire" }
    WriteOrder { Relaxed => "relaxed", Release => "release" }
    UpdateOrder { Relaxed => "relaxed", Acquire => "acquire", Release => "release", AcqRel => "acq_rel" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seq_cst_atomic_is_a_fence_and_a_weaker_atomic() {
        assert_eq!(LoadOrder::SeqCst.expand(), Expansion { fence_first: true, order: ReadOrder::Acquire });
        assert_eq!(StoreOrder::SeqCst.expand(), Expansion { fence_first: true, order: WriteOrder::Relaxed });
        assert_eq!(RmwOrder::SeqCst.expand(), Expansion { fence_first: true, order: UpdateOrder::Acquire });
        assert_eq!(RmwOrder::AcqRel.expand(), Expansion { fence_first: false, order: UpdateOrder::AcqRel });
        assert_eq!(StoreOrder::Release.expand(), Expansion { fence_first: false, order: WriteOrder::Release });
    }

    #[test]
    fn a_seq_cst_fence_is_also_a_release_and_an_acquire_fence() {
        assert!(FenceOrder::SeqCst.acquires() && FenceOrder::SeqCst.releases());
        assert!(!FenceOrder::Release.acquires() && !FenceOrder::Acquire.releases());
    }
}
