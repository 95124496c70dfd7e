//! The parts that a campaign is divided into, each run on its own machine or at its own time.

/// A part of a campaign, which is divided into `count` such parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The part's number, below `count`.
    pub index: u64,
    /// The number of parts.
    pub count: u64,
}

impl Shard {
    /// The whole campaign.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };
}
