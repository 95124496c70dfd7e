//! The boundaries of launches, where threads begin that wait for the end of others.

use wattle_memory::{Placement, ThreadId};

use super::Setup;

/// The lists of threads after whose end others begin, each once, and the number of each thread's list. The threads that
/// begin at once have the empty list.
pub(super) fn lists<'s>(setup: &'s Setup<'_>) -> (Vec<&'s [ThreadId]>, Vec<usize>) {
    let mut lists: Vec<&[ThreadId]> = Vec::new();
    let number = |after: &'s [ThreadId]| {
        // Most lists are shared by the threads of a launch, which stand together.
        let known = lists.iter().rposition(|list| std::ptr::eq(*list, after) || *list == after);
        known.unwrap_or_else(|| {
            lists.push(after);
            lists.len() - 1
        })
    };
    let of = setup.threads.iter().map(|spawn| &*spawn.after).map(number).collect();
    (lists, of)
}

/// The placements of all threads: of the program's, and behind them of one for each list of [`lists`], whose operations
/// are the system's own. What the system does at one boundary comes neither before nor after what it does at another,
/// unless launches between them say so.
pub(super) fn placements(setup: &Setup<'_>) -> Vec<Placement> {
    let own = setup.threads.iter().map(|thread| thread.placement);
    let system = Placement { device: Placement::HOST - 1, ..Placement::new(0, 0) };
    own.chain(std::iter::repeat_n(system, lists(setup).0.len())).collect()
}

/// The system's thread at the boundary behind which a thread begins.
pub(super) fn system_before(setup: &Setup<'_>, begins: ThreadId) -> ThreadId {
    setup.threads.len() + lists(setup).1[begins]
}
