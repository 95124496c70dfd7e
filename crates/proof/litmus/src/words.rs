//! The keywords of litmus files, in tables that the parser and the printer share.

use wattle_ir::{AtomicLaw, AtomicOp};
use wattle_memory::{Classes, Level};

use crate::condition::{Comparison, Quantifier};
use crate::program::{Dialect, Operator};

/// A table of words and meanings. Of several words with one meaning the first is printed.
pub(crate) struct Words<T: 'static>(&'static [(&'static str, T)]);

impl<T: Copy + PartialEq> Words<T> {
    /// The meaning of a word, if it is in the table.
    pub fn meaning(&self, word: &str) -> Option<T> {
        self.0.iter().find(|(name, _)| *name == word).map(|(_, meaning)| *meaning)
    }

    /// The word for a meaning; empty if there is none.
    pub fn word(&self, meaning: T) -> &'static str {
        self.0.iter().find(|(_, it)| *it == meaning).map_or("", |(name, _)| name)
    }

    /// The words as a list that follows "expected".
    pub fn list(&self) -> String {
        listed(&self.0.iter().map(|(name, _)| *name).collect::<Vec<_>>())
    }
}

/// Words as a list that follows "expected".
fn listed(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

impl Words<Level> {
    /// The narrowest level that includes the given one; the widest one if none does.
    pub fn including(&self, level: Level) -> &'static str {
        self.0.iter().find(|(_, it)| *it >= level).or(self.0.last()).map_or("", |(name, _)| name)
    }

    /// The words up to one level, narrowest first.
    pub fn up_to(&self, level: Level) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter(move |(_, it)| *it <= level).map(|(name, _)| *name)
    }
}

/// The dialect in the first line of a file; case does not matter.
pub(crate) const DIALECTS: Words<Dialect> = Words(&[("PTX", Dialect::Ptx), ("VULKAN", Dialect::Vulkan)]);

/// The part of a memory instruction's mnemonic before the first dot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    Load,
    Store,
    /// A read-modify-write whose old value may be kept.
    Update,
    /// A read-modify-write whose old value is not kept.
    Reduce,
    Fence,
    /// PTX's older fence, which is sequentially consistent.
    OldFence,
    Barrier,
    MakeAvailable,
    MakeVisible,
}

#[rustfmt::skip]
pub(crate) const PTX_HEADS: Words<Head> = {
    use Head::*;
    Words(&[
        ("ld", Load), ("st", Store), ("atom", Update), ("red", Reduce), ("fence", Fence), ("membar", OldFence),
        ("bar", Barrier), ("barrier", Barrier),
    ])
};

#[rustfmt::skip]
pub(crate) const VULKAN_HEADS: Words<Head> = {
    use Head::*;
    Words(&[
        ("ld", Load), ("st", Store), ("rmw", Update), ("membar", Fence), ("cbar", Barrier),
        ("avdevice", MakeAvailable), ("visdevice", MakeVisible),
    ])
};

/// Instructions of both dialects that touch no memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plain {
    Branch(Comparison),
    Compute(Operator),
    Goto,
    Move,
}

#[rustfmt::skip]
pub(crate) const PLAIN: Words<Plain> = {
    use {Comparison::*, Operator::*, Plain::*};
    Words(&[
        ("beq", Branch(Equal)), ("bne", Branch(NotEqual)), ("blt", Branch(Less)), ("ble", Branch(LessOrEqual)),
        ("bgt", Branch(Greater)), ("bge", Branch(GreaterOrEqual)), ("goto", Goto), ("bra", Goto), ("mov", Move),
        ("add", Compute(Add)), ("sub", Compute(Sub)), ("mul", Compute(Mul)), ("div", Compute(Div)),
        ("rem", Compute(Rem)), ("and", Compute(And)), ("or", Compute(Or)), ("xor", Compute(Xor)),
        ("shl", Compute(Shl)), ("shr", Compute(Shr)),
    ])
};

/// The operation of an atomic instruction, before its operands are known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    Apply(AtomicOp),
    CompareExchange,
}

impl AtomicKind {
    /// All operations, in the order of the table of atomic operations, with the compare-exchange behind the exchange.
    fn all() -> impl Iterator<Item = AtomicKind> {
        AtomicOp::ALL.iter().flat_map(|&op| {
            let exchanges = matches!(op.law(), AtomicLaw::Replaces);
            [Some(AtomicKind::Apply(op)), exchanges.then_some(AtomicKind::CompareExchange)].into_iter().flatten()
        })
    }

    /// The word for the operation: PTX's modifier, which Vulkan's files have too.
    pub fn word(self) -> &'static str {
        match self {
            AtomicKind::CompareExchange => "cas",
            AtomicKind::Apply(op) => match op.name() {
                "exchange" => "exch",
                name => name.trim_start_matches("fetch_"),
            },
        }
    }

    /// The operation of a word, if there is one.
    pub fn of(word: &str) -> Option<AtomicKind> {
        AtomicKind::all().find(|kind| kind.word() == word)
    }

    /// All words as a list that follows "expected".
    pub fn list() -> String {
        listed(&AtomicKind::all().map(AtomicKind::word).collect::<Vec<_>>())
    }
}

/// The memory orders of PTX.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Weak,
    Volatile,
    Sc,
    /// A strong order: relaxed, or with acquire or release.
    Strong {
        acquires: bool,
        releases: bool,
    },
}

impl Order {
    /// A strong operation without ordering.
    pub const RELAXED: Order = Order::Strong { acquires: false, releases: false };
    /// An acquire operation.
    pub const ACQUIRE: Order = Order::Strong { acquires: true, releases: false };
    /// A release operation.
    pub const RELEASE: Order = Order::Strong { acquires: false, releases: true };
    /// An acquire and release operation.
    pub const ACQ_REL: Order = Order::Strong { acquires: true, releases: true };

    pub fn acquires(self) -> bool {
        matches!(self, Order::Strong { acquires: true, .. })
    }

    pub fn releases(self) -> bool {
        matches!(self, Order::Strong { releases: true, .. })
    }
}

pub(crate) const PTX_ORDERS: Words<Order> = Words(&[
    ("weak", Order::Weak),
    ("relaxed", Order::RELAXED),
    ("acquire", Order::ACQUIRE),
    ("release", Order::RELEASE),
    ("acq_rel", Order::ACQ_REL),
    ("volatile", Order::Volatile),
    ("sc", Order::Sc),
]);

pub(crate) const PTX_SCOPES: Words<Level> =
    Words(&[("cta", Level::Block), ("gpu", Level::Device), ("sys", Level::System)]);

/// The PTX barrier mnemonics, with whether the thread waits.
pub(crate) const PTX_BARRIERS: Words<bool> = Words(&[("sync", true), ("arrive", false)]);

pub(crate) const VULKAN_SCOPES: Words<Level> =
    Words(&[("sg", Level::Subgroup), ("wg", Level::Block), ("qf", Level::QueueFamily), ("dv", Level::Device)]);

/// The Vulkan orders, with whether they acquire and release.
pub(crate) const VULKAN_ORDERS: Words<(bool, bool)> =
    Words(&[("acq", (true, false)), ("rel", (false, true)), ("acq_rel", (true, true))]);

/// Storage classes; after `sem` they are those of semantics.
pub(crate) const CLASSES: Words<Classes> =
    Words(&[("sc0", Classes(1)), ("sc1", Classes(2)), ("sc2", Classes(4)), ("sc3", Classes(8))]);

/// The comparison operators of conditions.
pub(crate) const COMPARISONS: Words<Comparison> = Words(&[
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
    ("=", Comparison::Equal),
]);

/// The quantifiers of claims; `~exists` is also written `not exists`.
pub(crate) const QUANTIFIERS: Words<Quantifier> =
    Words(&[("exists", Quantifier::Exists), ("~exists", Quantifier::NotExists), ("forall", Quantifier::Forall)]);
