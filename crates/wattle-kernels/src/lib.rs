//! The scenarios: small kernels whose threads talk to each other, each with what it shows and what must come out.
//!
//! One module per scenario or family; its documentation is the scenario's page. The kernels are public, so that
//! benchmarks and tests use the very same ones, and so are the functions that run them over a caller's own data.
//! What never will live here: a device, or anything that a user could not have written over the `wattle` crate alone.

use wattle::Scenario;

pub mod block_fence;
pub mod block_scan;
pub mod chained_scan;
pub mod cumulativity;
mod data;
pub mod grid_barrier;
pub mod histogram;
pub mod last_block_sum;
pub mod locks;
pub mod orderings;
pub mod publication;
pub mod reduce;
pub mod stencil;
pub mod stream;
pub mod swap;
pub mod transpose;
pub mod two_queues;

/// All scenarios, in the order of a tour: from one fence to kernels that need several.
pub fn all() -> &'static [Scenario] {
    const ALL: &[Scenario] = &[
        block_fence::BLOCK_FENCE,
        block_fence::TEXTBOOK,
        publication::PUBLICATION,
        publication::ROUNDS,
        publication::BROKEN_BLOCK_SCOPE,
        two_queues::TWO_QUEUES,
        swap::SWAP,
        swap::BROKEN_FENCE_ONLY,
        orderings::NO_FENCE,
        orderings::WRITER_FENCE,
        orderings::READER_FENCE,
        orderings::ORDERINGS,
        cumulativity::RELEASE_ACQUIRE,
        cumulativity::SEQ_CST,
        last_block_sum::LAST_BLOCK_SUM,
        last_block_sum::TEXTBOOK,
        locks::TEST_AND_SET,
        locks::TICKET,
        grid_barrier::GRID_BARRIER,
        block_scan::BLOCK_SCAN,
        chained_scan::CHAINED_SCAN,
        histogram::HISTOGRAM,
        transpose::MATRIX_TRANSPOSE,
        stencil::STENCIL_2D,
        stream::STREAM,
    ];
    ALL
}

/// The scenario of that name.
pub fn find(name: &str) -> Option<&'static Scenario> {
    all().iter().find(|scenario| scenario.name == name)
}
