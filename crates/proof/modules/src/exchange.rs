//! What the lanes of a warp, or of a subgroup, do together: shuffles, votes, matches, reductions and scans.

/// What the lanes of a warp do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// `bar.warp.sync`
    Barrier,
    /// `shfl.sync.up`
    Up,
    /// `shfl.sync.down`
    Down,
    /// `shfl.sync.bfly`
    Butterfly,
    /// `shfl.sync.idx`
    Index,
    /// `vote.sync`
    Vote(Vote),
    /// `elect.sync`
    Elect,
    /// `match.sync`
    Match(Match),
    /// `redux.sync`, and the reductions and scans of SPIR-V
    Combine(Combine),
}

/// A reduction, or a scan, of the values of a warp's lanes (PTX ISA 8.8, 9.7.13.12 "redux.sync"; SPIR-V 1.6,
/// "OpGroupNonUniformIAdd" and those after it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Combine {
    /// The operation that combines two values.
    pub by: Combiner,
    /// The width of the values in bits.
    pub bits: u8,
    /// The lanes whose values are combined for a lane.
    pub of: CombinedLanes,
}

/// The operation that combines two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are the names of operations")]
pub enum Combiner {
    Add,
    Multiply,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
    /// The sum of floats of 32 bits, whose order is left to the device.
    AddFloat,
    MinFloat,
    MaxFloat,
}

/// The lanes whose values are combined for a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CombinedLanes {
    /// All lanes that take part.
    All,
    /// The lanes up to the lane itself, which is among them.
    UpTo,
    /// The lanes before the lane itself; where there are none, the result is the identity.
    Before,
    /// The lanes of its cluster, where each cluster has this many.
    Cluster(u32),
}

/// The question that a vote asks of the lanes' predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vote {
    /// `.any`
    Any,
    /// `.all`
    All,
    /// `.uni`: whether all have the same
    Same,
    /// `.ballot`
    Ballot,
}

/// The lanes that a lane looks for: those with its own value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Match {
    /// `.any`: the lanes that have it
    Any,
    /// `.all`: all lanes of the mask if they all have it, else none; and a predicate that says which
    All,
}
