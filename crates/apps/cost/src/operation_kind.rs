//! The kinds of operation whose cost is measured.

use wattle::Properties;

/// The kinds of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// `acc.mem_fence`
    Fence,
    /// An atomic load.
    Load,
    /// An atomic store.
    Store,
    /// An atomic exchange.
    Exchange,
    /// An atomic compare-exchange that succeeds.
    CompareExchange,
    /// An atomic addition.
    Add,
    /// `acc.sync_block`
    SyncBlock,
    /// `acc.warp().sync`
    SyncWarp,
}

impl OperationKind {
    /// The name in tables and reports.
    pub fn name(self) -> &'static str {
        match self {
            OperationKind::Fence => "fence",
            OperationKind::Load => "load",
            OperationKind::Store => "store",
            OperationKind::Exchange => "exchange",
            OperationKind::CompareExchange => "compare_exchange",
            OperationKind::Add => "fetch_add",
            OperationKind::SyncBlock => "sync_block",
            OperationKind::SyncWarp => "warp.sync",
        }
    }

    /// Whether the operation returns what the next one's address is made of.
    pub(crate) fn is_chain(self) -> bool {
        match self {
            OperationKind::Load | OperationKind::Exchange | OperationKind::CompareExchange | OperationKind::Add => true,
            OperationKind::Fence | OperationKind::Store | OperationKind::SyncBlock | OperationKind::SyncWarp => false,
        }
    }

    /// The threads that a block has in its loop. A barrier needs several; others are measured by one warp.
    pub(crate) fn threads(self, properties: &Properties) -> u32 {
        let warp = properties.warp_width;
        let threads = match self {
            OperationKind::SyncBlock if warp == 1 => 8,
            OperationKind::SyncBlock => 2 * warp,
            OperationKind::Fence
            | OperationKind::Load
            | OperationKind::Store
            | OperationKind::Exchange
            | OperationKind::CompareExchange
            | OperationKind::Add
            | OperationKind::SyncWarp => warp,
        };
        threads.min(properties.max_threads_per_block)
    }
}
