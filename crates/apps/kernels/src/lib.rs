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
pub mod store_buffering;
pub mod stream;
pub mod swap;
pub mod transpose;
pub mod two_queues;
mod weak;

/// All scenarios, in the order of a tour: from one fence to kernels that need several.
pub fn all() -> &'static [Scenario] {
    const ALL: &[Scenario] = &[
        block_fence::BLOCK_FENCE,
        block_fence::TEXTBOOK,
        block_fence::BROKEN_NO_RELEASE,
        block_fence::BROKEN_NO_ACQUIRE,
        publication::PUBLICATION,
        publication::ROUNDS,
        publication::SC_WRITER,
        publication::BROKEN_NO_RELEASE,
        publication::BROKEN_NO_ACQUIRE,
        publication::BROKEN_BLOCK_SCOPE,
        publication::BROKEN_BLOCK_FLAG,
        publication::BROKEN_PLAIN_FLAG,
        two_queues::TWO_QUEUES,
        two_queues::BROKEN_NO_RELEASE,
        two_queues::BROKEN_NO_ACQUIRE,
        two_queues::BROKEN_BLOCK_SCOPE,
        two_queues::BROKEN_PLAIN_FLAG,
        swap::SWAP,
        swap::BROKEN_FENCE_ONLY,
        orderings::NO_FENCE,
        orderings::WRITER_FENCE,
        orderings::READER_FENCE,
        orderings::ORDERINGS,
        orderings::BROKEN_NO_RELEASE,
        orderings::BROKEN_NO_ACQUIRE,
        orderings::BROKEN_BLOCK_SCOPE,
        orderings::BROKEN_PLAIN,
        store_buffering::STORE_BUFFERING,
        store_buffering::BLOCK,
        store_buffering::MIXED,
        store_buffering::SHARED,
        store_buffering::BROKEN_ONE_FENCE,
        store_buffering::BROKEN_ACQ_REL,
        store_buffering::BROKEN_BLOCK_SCOPE,
        cumulativity::RELEASE_ACQUIRE,
        cumulativity::SEQ_CST,
        cumulativity::BROKEN_DEVICE_SCOPE,
        cumulativity::BROKEN_RELAXED,
        last_block_sum::LAST_BLOCK_SUM,
        last_block_sum::TEXTBOOK,
        last_block_sum::BROKEN_NO_RELEASE,
        last_block_sum::BROKEN_BLOCK_SCOPE,
        last_block_sum::BROKEN_NO_BARRIER,
        locks::TEST_AND_SET,
        locks::TEST_AND_SET_NO_ACQUIRE,
        locks::TEST_AND_SET_NO_RELEASE,
        locks::TEST_AND_SET_BLOCK_SCOPE,
        locks::TEST_AND_SET_PLAIN,
        locks::TICKET,
        locks::TICKET_NO_ACQUIRE,
        locks::TICKET_NO_RELEASE,
        locks::TICKET_RELAXED,
        locks::TICKET_BLOCK_SCOPE,
        grid_barrier::GRID_BARRIER,
        grid_barrier::BROKEN_NO_RELEASE,
        grid_barrier::BROKEN_NO_ACQUIRE,
        grid_barrier::BROKEN_BLOCK_SCOPE,
        grid_barrier::BROKEN_NO_BARRIER,
        block_scan::BLOCK_SCAN,
        chained_scan::CHAINED,
        chained_scan::BROKEN_NO_ACQUIRE,
        chained_scan::BROKEN_NO_RELEASE,
        chained_scan::BROKEN_BLOCK_SCOPE,
        chained_scan::BROKEN_PLAIN_STATUS,
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
