//! Clauses of the specifications, quoted word for word.

use wattle_memory::Clause;

const PTX: &str = "PTX ISA 8.5,";

/// The clause on scopes: which operations are morally strong.
pub(super) const MORALLY_STRONG: Clause = Clause {
    document: PTX,
    section: "8.7",
    quote: "Two operations are said to be morally strong relative to each other if … each operation is strong and \
            specifies a scope that includes the thread executing the other operation.",
};

/// The definition of a release pattern.
pub(super) const RELEASE_PATTERN: Clause = Clause {
    document: PTX,
    section: "8.8",
    quote: "A release pattern on a location M consists of … a release operation on M … Or a release or \
            acquire-release memory fence followed by a strong write on M in program order",
};

/// The definition of an acquire pattern.
pub(super) const ACQUIRE_PATTERN: Clause = Clause {
    document: PTX,
    section: "8.8",
    quote: "An acquire pattern on a location M consists of … an acquire operation on M … Or a strong read on M \
            followed by an acquire memory fence in program order",
};

/// The clause by which two threads synchronize.
pub(super) const SYNCHRONIZES: Clause = Clause {
    document: PTX,
    section: "8.9.4",
    quote: "A release pattern X synchronizes with an acquire pattern Y, if a write operation in X precedes a read \
            operation in Y in observation order, and the first operation in X and the last operation in Y are \
            morally strong.",
};

/// The clause by which sequentially consistent fences synchronize.
pub(super) const FENCE_SC: Clause = Clause {
    document: PTX,
    section: "8.9.4",
    quote: "A fence.sc operation X synchronizes with a fence.sc operation Y if X precedes Y in the Fence-SC order.",
};

/// The clause by which barriers synchronize.
pub(super) const BARRIER: Clause = Clause {
    document: PTX,
    section: "8.9.4",
    quote: "A bar{.cta}.sync or bar{.cta}.red or bar{.cta}.arrive operation synchronizes with a bar{.cta}.sync or \
            bar{.cta}.red operation executed on the same barrier.",
};

/// The barrier at which the threads of a warp must be.
pub(super) const ALIGNED: Clause = Clause {
    document: PTX,
    section: "9.7.12.1 (bar.sync is barrier.cta.sync.aligned)",
    quote: "… all threads in the warp must execute the same barrier{.cta} instruction. In conditionally executed code, \
            an aligned barrier{.cta} instruction should only be used if it is known that all threads in the warp \
            evaluate the condition identically, otherwise behavior is undefined.",
};

/// The barrier at which the threads of a workgroup must be.
pub(super) const SAME_INSTANCE: Clause = Clause {
    document: "SPIR-V 1.6,",
    section: "OpControlBarrier",
    quote: "When Execution is Workgroup or larger, behavior is undefined unless all invocations within Execution \
            execute the same dynamic instance of this instruction.",
};
