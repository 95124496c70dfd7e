//! The clauses on threads that meet different barriers, quoted word for word.

use wattle_memory::Clause;

/// The barrier at which the threads of a warp must be.
pub(super) const ALIGNED: Clause = Clause {
    document: "PTX ISA 8.5,",
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
